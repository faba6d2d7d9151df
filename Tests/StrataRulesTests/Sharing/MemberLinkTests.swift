import StrataModel
import StrataViews
import Testing

@testable import StrataRules

/// Tests that references of members hold nothing that they may not change (docs/rules.md §5.12).
@Suite("References of members")
struct MemberLinkTests {
    private let store: ShareFixture

    /// The record `list` is shared with ben, who may write; `victim` and its child are not shared.
    init() throws {
        store = try ShareFixture()
        try store.shareList(
            ShareChange(root: "list", participants: [.user("ben", .readWrite), .user("cleo", .readOnly)]))
        try store.save([.init("in", parent: "list"), .init("victim")])
        for user in ["ben", "cleo"] { try store.join([store.state().urlToken], as: user) }
        store.rules.limits.owningReferences = 2
    }

    private func owner(_ name: String) -> [(key: String, value: FieldValue?)] {
        var names = RequestNames()
        return [
            (
                "owner",
                .reference(
                    .init(RecordKey(zone: names.ordinal(of: ZoneID("Notes")), name: name), action: .deleteSelf))
            )
        ]
    }

    private func save(_ items: ShareFixture.Item..., as user: String? = "ben") throws -> [Refusal.Code?] {
        try store.save(items, isAtomic: false, scope: user == nil ? .private : .shared, as: user ?? "anna").saves
            .map(\.code)
    }

    /// Saves a record of ben's in the share, with a reference that would delete it, and its child.
    private func saveReferring(to name: String) throws -> [Refusal.Code?] {
        try save(.init("held", parent: "list", fields: owner(name)), .init("child", parent: "held"))
    }

    private func delete(_ names: String..., as user: String? = nil) throws -> [Refusal.Code?] {
        try store.save(
            [], deleting: names, isAtomic: false, scope: user == nil ? .private : .shared, as: user ?? "anna"
        ).deletes.map { $0?.code }
    }

    private func erase(_ name: String) throws {
        var table = RequestNames()
        let record = RecordKey(zone: table.ordinal(of: ZoneID("Notes")), name: name)
        let request = AdministerRequest.eraseRecords(
            [RecordToErase(record, type: table.ordinal(ofType: "Note"))], reason: "asked for")
        try store.modify(
            Request(database: DatabaseID(.private, owner: "anna"), names: table, .administer(request)), as: "")
    }

    @Test("B474 A member keeps the owner neither from deleting nor from erasing a record outside the share")
    func outside() throws {
        #expect(try saveReferring(to: "victim") == [nil, nil])
        #expect(try delete("victim") == [nil])
        // Its own child would lose its parent, so it stays.
        #expect(try store.version(of: "victim") == nil && store.version(of: "held") != nil)
        try store.save([.init("victim")])
        try erase("victim")
        #expect(try store.version(of: "victim") == nil && store.version(of: "held") != nil)
        try store.save([.init("victim")])
        #expect(try delete("child") == [nil] && delete("victim") == [nil])
        #expect(try store.version(of: "victim") == nil && store.version(of: "held") == nil)
    }

    @Test("B474 References of members to hidden records count for no limit; the owner's do")
    func limit() throws {
        for number in 0..<4 {
            #expect(try save(.init("m\(number)", parent: "list", fields: owner("victim"))) == [nil])
        }
        let own = (0..<3).map { ShareFixture.Item("o\($0)", fields: owner("victim")) }
        #expect(try store.save(own, isAtomic: false).saves.map(\.code) == [nil, nil, .limitExceeded])
    }

    @Test("B95 A reference of a member within the share holds, and goes with its target")
    func within() throws {
        #expect(try saveReferring(to: "in") == [nil, nil])
        #expect(try delete("in") == [.referenceViolation])
        #expect(try delete("child") == [nil] && delete("in", as: "ben") == [nil])
        #expect(try store.version(of: "held") == nil)
        let made = [ShareFixture.Item("new", parent: "list"), .init("of", parent: "list", fields: owner("new"))]
        #expect(try store.save(made, scope: .shared, as: "ben").saves.allSatisfy { $0.code == nil })
        #expect(try save(.init("under", parent: "of")) == [nil] && delete("new") == [.referenceViolation])
    }

    @Test("B474 A reference from a share that another member may only read keeps nobody from deleting its target")
    func twoShares() throws {
        let share = ShareChange(root: "other", participants: [.user("cleo", .readWrite)])
        try store.save([.init("other", share: "Share-2"), .share("Share-2", share)])
        try store.join([store.state("Share-2").urlToken], as: "cleo")
        #expect(try save(.init("from", parent: "other", fields: owner("in")), as: "cleo") == [nil])
        #expect(try delete("in", as: "ben") == [nil])
        #expect(try store.version(of: "in") == nil && store.version(of: "from") != nil)
    }

    @Test("B304, B474 A share's record has no deleteSelf reference and no parent")
    func shareRecord() throws {
        func item(_ base: Version?, parent: String? = nil, owner name: String? = nil) -> ShareFixture.Item {
            var item = ShareFixture.Item.share("Share-1", nil, base: base, fields: name.map { owner($0) } ?? [])
            item.parent = parent
            return item
        }
        let base = try store.version(of: "Share-1")
        #expect(try save(item(base, owner: "in")) == [.invalidArguments])
        #expect(try save(item(base, owner: "in"), as: nil) == [.invalidArguments])
        for parent in ["victim", "absent", "list"] {
            for user in ["ben", nil] { #expect(try save(item(base, parent: parent), as: user) == [.invalidArguments]) }
        }
        // A reference to the share's record does not keep the owner from ending the share.
        #expect(try saveReferring(to: "Share-1") == [nil, nil])
        #expect(try delete("Share-1") == [nil])
        #expect(try store.view.fold.fork.share(1)?.isEnded == true && store.version(of: "held") != nil)
    }

    @Test("B374 A member does not remove the parent that an earlier release gave a share's record")
    func sharesParent() throws {
        let (share, type) = (
            try store.key("Share-1"), try #require(try store.view.ordinal(of: .recordType("cloudkit.share")))
        )
        var event = RecordSavedEvent(.update, share, type: type, fields: [])
        (event.previous, event.parent) = (try store.version(of: "Share-1"), .set(try store.key("list")))
        try store.commit(as: "anna") { try $0.append(event) }
        var item = ShareFixture.Item.share("Share-1", nil, base: try store.version(of: "Share-1"))
        item.removesParent = true
        #expect(try save(item) == [.permissionFailure])
        #expect(try save(item, as: nil) == [nil])
        item.base = try store.version(of: "Share-1")
        #expect(try save(item) == [nil])
    }

    /// Writes what an earlier release wrote: a reference of ben's that holds.
    private func saveHeld(_ name: String, _ target: String) throws {
        let (record, type) = (try store.key(name), try #require(try store.view.ordinal(of: .recordType("Note"))))
        let field = UInt32(try #require(try store.view.ordinal(of: .field("owner"))))
        let reference = FieldValue.reference(.init(try store.key(target), action: .deleteSelf))
        var event = RecordSavedEvent(.create, record, type: type, fields: [FieldChange(field, reference)])
        event.parent = .set(try store.key("list"))
        try store.commit(as: "ben") { commit in
            try commit.append(event)
            try commit.append(SharedRecordEvent(record, type: type, share: 1))
        }
    }

    @Test("B474 What members of earlier releases wrote holds nothing across the edge of its share")
    func earlier() throws {
        #expect(try save(.init("seed", parent: "list", fields: owner("in"))) == [nil])
        for number in 0..<3 { try saveHeld("h\(number)", "victim") }
        try saveHeld("within", "in")
        #expect(try save(.init("child", parent: "h0"), .init("below", parent: "within")) == [nil, nil])
        let own = (0..<3).map { ShareFixture.Item("o\($0)", fields: owner("victim")) }
        #expect(try store.save(own, isAtomic: false).saves.map(\.code) == [nil, nil, .limitExceeded])
        #expect(try delete("victim", "in") == [nil, .referenceViolation])
        let left = try ["h0", "h1", "h2", "o0", "o1", "within"].filter { try store.version(of: $0) != nil }
        // One delete visits two records by loose references, of which the first stays.
        #expect(left == ["h0", "h2", "within"])
    }
}
