import StrataModel
import StrataViews
import Testing

@testable import StrataRules

@Suite("What members cannot find out")
struct HiddenRecordTests {
    private let store: ShareFixture

    /// The record `list`, below the record `top`, is shared with ben, who may write, and cleo, who may read. The record
    /// `hidden` is not, and there is no record `absent`.
    init() throws {
        store = try ShareFixture()
        try store.save([.init("top"), .init("hidden", fields: [("text", .string("secret"))])])
        let share = ShareChange(root: "list", participants: [.user("ben", .readWrite), .user("cleo", .readOnly)])
        let result = try store.save([.init("list", parent: "top", share: "Share-1"), .share("Share-1", share)])
        try #require(result.saves.allSatisfy { $0.code == nil }, "\(result)")
        try store.save([.init("a", parent: "list")])
        for user in ["ben", "cleo"] { try store.join(.accept, [store.state().urlToken], as: user) }
    }

    /// Returns the refusal for a save of a record, with its name replaced.
    private func refusal(_ item: ShareFixture.Item, _ policy: SavePolicy, as user: String) throws -> String {
        let result = try store.save([item], policy: policy, isAtomic: false, scope: .shared, as: user)
        guard case .failure(let refusal) = result.saves[0] else { return "saved" }
        let message = refusal.message.replacing(item.name, with: "…")
        return "\(refusal.code) \(refusal.rule?.number ?? "-") \(message)"
    }

    @Test(
        "B372 A save of a hidden record fails like that of a missing one, with the same words, whatever else is wrong",
        arguments: [SavePolicy.ifServerRecordUnchanged, .changedKeys, .allKeys], ["ben", "cleo"])
    func sameRefusal(policy: SavePolicy, user: String) throws {
        try store.administer(.setQuota(bytes: 10_000, user: "anna"))
        let base = try store.version(of: "hidden")
        let edits: [(String, (inout ShareFixture.Item) -> Void)] = [
            ("nothing else", { _ in }),
            ("a tag", { $0.base = base }),
            ("a type", { $0.type = "Other" }),
            ("no type", { $0.type = "_" }),
            ("a share", { ($0.type, $0.sharing) = (ShareState.recordType, ShareChange(root: "a")) }),
            ("a key", { $0.fields = [("_", .int64(1))] }),
            ("a kind", { $0.fields = [("text", .int64(1))] }),
            ("a size", { $0.fields = [("text", .string(String(repeating: "x", count: 1_000_001)))] }),
            ("a quota", { $0.fields = [("text", .string(String(repeating: "x", count: 20_000)))] }),
            ("a hidden parent", { $0.parent = "top" }),
            ("a missing parent", { $0.parent = "nobody" }),
        ]
        for (name, edit) in edits {
            var (hidden, absent) = (ShareFixture.Item("hidden"), ShareFixture.Item("absent"))
            edit(&hidden)
            edit(&absent)
            let expected = try refusal(absent, policy, as: user)
            #expect(try refusal(hidden, policy, as: user) == expected, "\(name)")
            #expect(expected != "saved", "\(name)")
        }
        #expect(try store.version(of: "hidden") == base && store.version(of: "absent") == nil)
    }

    @Test("B372 A member cannot choose a parent of the root outside the share, so none shows whether it exists")
    func parentOfRoot() throws {
        for parent in ["hidden", "absent"] {
            let item = ShareFixture.Item("list", base: try store.version(of: "list"), parent: parent)
            #expect(try store.save([item], scope: .shared, as: "ben").saves[0].code == .permissionFailure)
        }
        let same = ShareFixture.Item("list", base: try store.version(of: "list"), parent: "top")
        #expect(try store.save([same], scope: .shared, as: "ben").saves[0].code == nil)
    }

    @Test("B371 The refusal for the owner's quota does not tell how much the owner has")
    func quota() throws {
        try store.administer(.setQuota(bytes: 100, user: "anna"))
        let item = ShareFixture.Item(
            "large", parent: "a", fields: [("text", .string(String(repeating: "x", count: 200)))])
        let text = try refusal(item, .changedKeys, as: "ben")
        #expect(text.hasSuffix("Record '…' needs more bytes than the zone's owner has left."), "\(text)")
        guard case .failure(let own) = try store.save([item]).saves[0] else {
            Issue.record("saved")
            return
        }
        #expect(own.code == .quotaExceeded && own.message.contains("of 100 bytes are in use"))
    }

    @Test("B98 The limit of owning references tells a member nothing of hidden records that refer to a visible one")
    func referrers() throws {
        var names = RequestNames()
        let target = RecordKey(zone: names.ordinal(of: ZoneID("Notes")), name: "a")
        let fields = [("owner", FieldValue.reference(.init(target, action: .deleteSelf)))]
        for half in 0..<2 {
            let items = (0..<375).map { ShareFixture.Item("h\(half)-\($0)", fields: fields) }
            #expect(try store.save(items).saves.allSatisfy { $0.code == nil })
        }
        #expect(try store.save([.init("own", fields: fields)]).saves[0].code == .limitExceeded)
        let child = ShareFixture.Item("child", parent: "a", fields: fields)
        #expect(try store.save([child], scope: .shared, as: "ben").saves[0].code == nil)
        // Those that the member sees count.
        for part in 0..<2 {
            let items = (0..<(part == 0 ? 375 : 374)).map {
                ShareFixture.Item("v\(part)-\($0)", parent: "a", fields: fields)
            }
            #expect(try store.save(items, scope: .shared, as: "ben").saves.allSatisfy { $0.code == nil })
        }
        let last = ShareFixture.Item("last", parent: "a", fields: fields)
        #expect(try store.save([last], scope: .shared, as: "ben").saves[0].code == .limitExceeded)
    }

    @Test("B313, B325 A root whose delete fails keeps its place, and nothing above it comes under another share")
    func failedDelete() throws {
        let other = try store.save([.init("other", share: "Share-2"), .share("Share-2", ShareChange(root: "other"))])
        #expect(other.saves.allSatisfy { $0.code == nil })
        let top = ShareFixture.Item("top", base: try store.version(of: "top"), parent: "other")
        let result = try store.save([top], deleting: ["list"], isAtomic: false)
        #expect(result.saves[0].code == .alreadyShared)
        #expect(result.deletes[0]?.code == .referenceViolation)
        #expect(try store.view.fold.fork.hierarchicalShare(of: store.key("top")) == nil)
        #expect(try store.view.fold.fork.hierarchicalShare(of: store.key("a")) == 1)
    }

    @Test("B322 The limit of records that come under another share includes the moved record")
    func limitOfMoves() throws {
        let zone = try store.key("list").zone
        var hierarchy = Hierarchy(store.view, zone: zone, maximumMoves: 2)
        #expect(try hierarchy.subtree(of: "list").names == ["list", "a"])
        hierarchy = Hierarchy(store.view, zone: zone, maximumMoves: 1)
        #expect(throws: Refusal.self) { try hierarchy.subtree(of: "list") }
    }

    @Test("B322 A request moves a limited number of records, whether they are shared, moved, or lose their share")
    func limitOfRequests() throws {
        try store.save([.init("b", parent: "a"), .init("c", parent: "b"), .init("e"), .init("f", parent: "e")])
        func share(of name: String) throws -> UInt64? {
            try store.view.fold.fork.hierarchicalShare(of: store.key(name))
        }
        func code(_ items: [ShareFixture.Item], deleting: [String] = [], limit: Int) -> Refusal.Code? {
            store.rules.limits.movedRecords = limit
            do {
                let result = try store.save(items, deleting: deleting)
                let codes = result.saves.compactMap(\.code) + result.deletes.compactMap { $0?.code }
                return codes.first { $0 != .batchRequestFailed }
            } catch { return (error as? Refusal)?.code }
        }
        var away = ShareFixture.Item("a", base: try store.version(of: "a"))
        away.removesParent = true
        let near = ShareFixture.Item("e", base: try store.version(of: "e"), parent: "list")
        #expect(code([away], limit: 2) == .limitExceeded)
        #expect(code([near], limit: 1) == .limitExceeded)
        #expect(code([away, near], limit: 4) == .limitExceeded)
        #expect(code([], deleting: ["Share-1"], limit: 3) == .limitExceeded)
        #expect(
            try share(of: "c") == 1 && share(of: "f") == nil && store.memberships(of: "ben").allSatisfy { !$0.isGone })
        #expect(code([away, near], limit: 5) == nil)
        #expect(try share(of: "c") == nil && share(of: "f") == 1)
        let again: [ShareFixture.Item] = [
            .init("a", base: try store.version(of: "a"), share: "Share-2"), .share("Share-2", ShareChange(root: "a")),
        ]
        #expect(code(again, limit: 2) == .limitExceeded)
        #expect(code(again, limit: 3) == nil)
        #expect(try share(of: "c") == 2)
    }

    @Test(
        "B101 B325 What refers to a share goes with it if its root is deleted; a child of a share's record keeps both")
    func linksToShare() throws {
        var names = RequestNames()
        let share = RecordKey(zone: names.ordinal(of: ZoneID("Notes")), name: "Share-1")
        let fields = [("to", FieldValue.reference(.init(share, action: .deleteSelf)))]
        try store.save([.init("note", fields: fields), .init("child", parent: "Share-1")])
        #expect(try store.save([], deleting: ["a"]).deletes[0] == nil)
        #expect(try store.save([], deleting: ["list"]).deletes[0]?.code == .referenceViolation)
        #expect(try store.save([], deleting: ["Share-1"]).deletes[0]?.code == .referenceViolation)
        #expect(try store.version(of: "list") != nil && store.version(of: "Share-1") != nil)
        #expect(try store.memberships(of: "ben").map(\.isGone) == [false])
        #expect(try store.save([], deleting: ["child"]).deletes[0] == nil)
        #expect(try store.save([], deleting: ["list"]).deletes[0] == nil)
        for name in ["list", "Share-1", "note"] { #expect(try store.version(of: name) == nil, "\(name)") }
        #expect(try store.memberships(of: "ben").map(\.isGone) == [true])
    }

    @Test("B325 Erasing a share's record ends it; erasing the root needs the records below it to go first")
    func erasing() throws {
        func erase(_ names: String...) throws -> Refusal.Code? {
            var table = RequestNames()
            let zone = table.ordinal(of: ZoneID("Notes"))
            let records = names.map {
                RecordToErase(RecordKey(zone: zone, name: $0), type: table.ordinal(ofType: "Note"))
            }
            let request = Request(
                database: DatabaseID(.private, owner: "anna"), names: table,
                .administer(.eraseRecords(records, reason: "asked for")))
            do { try store.modify(request, as: "") } catch let refusal as Refusal { return refusal.code }
            return nil
        }
        func share(of name: String) throws -> UInt64? {
            try store.view.fold.fork.hierarchicalShare(of: store.key(name))
        }
        #expect(try erase("list") == .referenceViolation)
        #expect(try erase("a") == nil)
        #expect(try share(of: "a") == nil && share(of: "list") == 1)
        try store.save([.init("b", parent: "list")])
        #expect(try erase("Share-1") == nil)
        #expect(try share(of: "list") == nil && share(of: "b") == nil)
        #expect(try store.record("list").share == nil)
        #expect(try store.view.fold.fork.share(1)?.isEnded == true)
        #expect(try store.memberships(of: "ben").map(\.isGone) == [true])

        let again = try store.save([
            .init("list", base: store.version(of: "list"), share: "Share-2"),
            .share("Share-2", ShareChange(root: "list", participants: [.user("ben")])),
        ])
        #expect(again.saves.allSatisfy { $0.code == nil })
        #expect(try erase("list", "b") == nil)
        #expect(try store.version(of: "Share-2") == nil && store.view.fold.fork.share(2)?.isEnded == true)
        #expect(try share(of: "list") == nil && share(of: "b") == nil)
    }
}
