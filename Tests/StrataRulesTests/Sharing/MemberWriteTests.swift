import StrataModel
import StrataViews
import Testing

@testable import StrataRules

@Suite("What members of shares write")
struct MemberWriteTests {
    private let store: ShareFixture

    init() throws {
        store = try ShareFixture()
        try store.shareList(
            ShareChange(root: "list", participants: [.user("ben", .readWrite), .user("cleo", .readOnly)]))
        try store.save([.init("a", parent: "list"), .init("hidden")])
        for user in ["ben", "cleo"] { try store.join([store.state().urlToken], as: user) }
    }

    private func save(_ items: ShareFixture.Item..., as user: String = "ben") throws -> [Refusal.Code?] {
        try store.save(items, isAtomic: false, scope: .shared, as: user).saves.map(\.code)
    }

    private func delete(_ names: String..., as user: String = "ben") throws -> [Refusal.Code?] {
        try store.save([], deleting: names, isAtomic: false, scope: .shared, as: user).deletes.map { $0?.code }
    }

    @Test("B369 A member who may only read neither saves nor deletes")
    func readOnly() throws {
        let base = try store.version(of: "a")
        #expect(
            try save(.init("a", base: base), .init("new", parent: "a"), as: "cleo") == [
                .permissionFailure, .permissionFailure,
            ])
        #expect(try delete("a", "list", as: "cleo") == [.permissionFailure, .permissionFailure])
        try store.edit(
            ShareChange(participants: [.user("ben", .readWrite), .user("cleo", .readWrite)]))
        #expect(try save(.init("a", base: base), as: "cleo") == [nil])
    }

    @Test("B370, B371 A member who may write changes and deletes all but the root, in the owner's zone")
    func readWrite() throws {
        #expect(try save(.init("list", base: store.version(of: "list")), .init("b", parent: "a")) == [nil, nil])
        #expect(try store.record("b").header.createdBy == store.view.ordinal(of: .user("ben")))
        #expect(try delete("list") == [.permissionFailure])
        #expect(try delete("b", "a") == [nil, nil])
        #expect(try store.version(of: "a") == nil)
    }

    @Test("B371 What a member saves counts for the owner's quota")
    func quota() throws {
        try store.administer(.setQuota(bytes: 1, user: "anna"))
        #expect(try save(.init("b", parent: "a", fields: [("text", .string("abc"))])) == [.quotaExceeded])
        try store.administer(.setQuota(bytes: 0, user: "anna"))
        try store.administer(.setQuota(bytes: 1, user: "ben"))
        #expect(try save(.init("b", parent: "a", fields: [("text", .string("abc"))])) == [nil])
    }

    @Test("B372 A new record needs a parent in the share; a hidden and a missing parent get the same answer")
    func outside() throws {
        let codes = try save(.init("x"), .init("y", parent: "hidden"), .init("z", parent: "missing"))
        #expect(codes == [.permissionFailure, .permissionFailure, .permissionFailure])
        #expect(try save(.init("child", parent: "new"), .init("new", parent: "list")) == [nil, nil])
    }

    @Test("B372 All records outside the shares fail as such, in any order, atomic or not", arguments: [false, true])
    func outsideTogether(isAtomic: Bool) throws {
        let root = try ShareFixture.Item("list", base: store.version(of: "list"), parent: "x")
        let stale = try ShareFixture.Item("y", base: store.version(of: "a"), parent: "list")
        let items = [ShareFixture.Item("x"), root, stale, ShareFixture.Item("z", parent: "y")]
        func codes(_ items: [ShareFixture.Item]) throws -> [Refusal.Code?] {
            try store.save(items, isAtomic: isAtomic, scope: .shared, as: "ben").saves.map(\.code)
        }
        let expected: [Refusal.Code?] = [.permissionFailure, .permissionFailure, .unknownItem, .permissionFailure]
        #expect(try codes(items) == expected)
        #expect(try codes(items.reversed()) == expected.reversed())
    }

    @Test("B356, B372 A hidden record is like a missing one, and is never written")
    func hidden() throws {
        let base = try store.version(of: "hidden")
        #expect(try save(.init("hidden", base: base), .init("missing", base: base)) == [.unknownItem, .unknownItem])
        #expect(try save(.init("hidden", parent: "list")) == [.permissionFailure])
        for policy in [SavePolicy.changedKeys, .allKeys] {
            let result = try store.save(
                [.init("hidden", parent: "list")], policy: policy, scope: .shared, as: "ben")
            #expect(result.saves[0].code == .permissionFailure)
        }
        #expect(try delete("hidden", "missing") == [nil, nil])
        #expect(try store.version(of: "hidden") == base)
    }

    @Test("B373 In a zone that is shared as a whole, no parent is needed")
    func zoneWide() throws {
        try store.modify(.zones(saving: [ZoneID("All")]))
        let share = ShareFixture.Item.share(
            ShareState.zoneWideName, ShareChange(participants: [.user("ben", .readWrite)]))
        try store.save([share], zone: "All")
        let key = try store.key(ShareState.zoneWideName, zone: "All")
        let state = try store.view.shareState(of: #require(try store.view.record(key)))
        try store.join([state.urlToken], as: "ben")
        let result = try store.save([.init("free")], zone: "All", scope: .shared, as: "ben")
        #expect(result.saves[0].code == nil)
        #expect(try store.events(ofKind: .sharedRecord) == 0)
        let deleted = try store.save([], deleting: ["free"], zone: "All", scope: .shared, as: "ben")
        #expect(deleted.deletes[0] == nil)
    }

    @Test("B374 A save after which the record would be outside the shares fails")
    func movedOut() throws {
        var item = ShareFixture.Item("a", base: try store.version(of: "a"))
        item.removesParent = true
        #expect(try save(item) == [.permissionFailure])
        #expect(try save(.init("a", base: store.version(of: "a"), parent: "hidden")) == [.permissionFailure])
    }

    @Test("B374 A record that keeps its parent is saved although the record above it may not go")
    func belowMovedOut() throws {
        try store.save([.init("b", parent: "a")])
        var above = ShareFixture.Item("a", base: try store.version(of: "a"))
        above.removesParent = true
        #expect(try save(above, .init("b", base: store.version(of: "b"))) == [.permissionFailure, nil])
    }

    @Test("B374 Two forms of one letter name two records, of which one may move while the other keeps its parent")
    func formsOfNames() throws {
        let (composed, decomposed) = ("\u{E9}", "e\u{301}")
        try store.save([.init(composed, parent: "a"), .init(decomposed, parent: "a")])
        var above = ShareFixture.Item("a", base: try store.version(of: "a"))
        above.removesParent = true
        let kept = ShareFixture.Item(composed, base: try store.version(of: composed))
        let moved = ShareFixture.Item(decomposed, base: try store.version(of: decomposed), parent: "list")
        #expect(try save(above, kept, moved) == [.permissionFailure, nil, nil])
    }

    @Test("B376, B377 Deleting the share leaves it; records of it cannot be deleted in the same request")
    func leaving() throws {
        #expect(try delete("Share-1", "a") == [nil, .permissionFailure])
        #expect(try store.state().participant(ofUser: "ben") == nil)
        #expect(try store.memberships(of: "ben").map(\.isGone) == [true])
        #expect(try store.state().participant(ofUser: "cleo") != nil)
        #expect(try save(.init("b", parent: "a")) == [.zoneNotFound])
    }

    @Test("B378 A cascade that reaches a record outside the share fails")
    func cascades() throws {
        try store.save([.init("b", parent: "list")])
        var names = RequestNames()
        let zone = names.ordinal(of: ZoneID("Notes"))
        let reference = FieldValue.reference(.init(RecordKey(zone: zone, name: "b"), action: .deleteSelf))
        let base = try store.version(of: "hidden")
        #expect(try store.save([.init("hidden", base: base, fields: [("owner", reference)])]).saves[0].code == nil)
        #expect(try delete("b") == [.permissionFailure])
        #expect(try delete("a") == [nil])
    }

    @Test("B30, B358 One's own, a foreign, a left and the default zone in the shared database")
    func zones() throws {
        func code(_ zone: ZoneID, as user: String) throws -> Refusal.Code? {
            var builder = RequestBuilder(DatabaseID(.shared))
            builder.save(RecordID("x", zone: zone), type: "Note")
            return try store.modify(builder.request, as: user).saves[0].code
        }
        let anna = UserRecord.earlierName(of: "anna")
        #expect(try code(ZoneID("Notes"), as: "anna") == .invalidArguments)
        #expect(try code(ZoneID("Notes", owner: anna), as: "dora") == .invalidArguments)
        #expect(try code(ZoneID("Nothing", owner: anna), as: "ben") == .invalidArguments)
        #expect(try code(.default, as: "ben") == .zoneNotFound)
        try store.save([], deleting: ["Share-1"], scope: .shared, as: "ben")
        #expect(try code(ZoneID("Notes", owner: anna), as: "ben") == .zoneNotFound)
    }

    @Test("B367, B368 Zones of the shared database: a save writes nothing, a delete leaves all shares")
    func zoneRequests() throws {
        let zone = ZoneID("Notes", owner: UserRecord.earlierName(of: "anna"))
        let offset = store.offset
        let saved = try store.modify(.zones(saving: [zone, ZoneID("New")], in: DatabaseID(.shared)), as: "ben")
        #expect(saved.saves.map(\.code) == [nil, .badDatabase])
        #expect(store.offset == offset)
        let deleted = try store.modify(.zones(deleting: [zone, ZoneID("New")], in: DatabaseID(.shared)), as: "ben")
        #expect(deleted.deletes.map { $0?.code } == [nil, .invalidArguments])
        #expect(try store.memberships(of: "ben").map(\.isGone) == [true])
        #expect(try store.state().participants.map(\.user) == ["anna", "cleo"])
        #expect(try store.version(of: "a") != nil)
    }
}
