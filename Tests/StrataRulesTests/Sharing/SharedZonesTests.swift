import StrataModel
import StrataViews
import Testing

@testable import StrataRules

@Suite("Several shared zones and shares of one member")
struct SharedZonesTests {
    private let store: ShareFixture

    /// anna and dora share the record `list` of their zones `Notes` with ben, who may write; anna also shares the
    /// record `other`, which ben may only read, and the record `third`.
    init() throws {
        store = try ShareFixture(users: ["anna", "ben", "dora"])
        try store.modify(.zones(saving: [ZoneID("Notes")]), as: "dora")
        for owner in ["anna", "dora"] { try share("list", .readWrite, as: owner) }
        try share("other", .readOnly, as: "anna")
        try share("third", .readWrite, as: "anna")
        let fork = store.view.fold.fork
        for number in 1...(try fork.shareCount()) {
            try store.join(.accept, [try #require(try fork.share(number)).urlToken], as: "ben")
        }
    }

    private func share(_ root: String, _ permission: SharePermission, as owner: String) throws {
        let change = ShareChange(root: root, participants: [.user("ben", permission)])
        let result = try store.save([.init(root, share: "of-\(root)"), .share("of-\(root)", change)], as: owner)
        try #require(result.saves.allSatisfy { $0.code == nil }, "\(result)")
    }

    private func zone(of owner: String) -> ZoneID { ZoneID("Notes", owner: UserRecord.earlierName(of: owner)) }

    private func ordinal(ofZoneOf owner: String) throws -> UInt64 {
        let user = try #require(try store.view.ordinal(of: .user(owner)))
        let database = try #require(try store.view.ordinal(of: .database(.private, owner: user)))
        return try #require(try store.view.ordinal(of: .zone(database: database, owner: user, "Notes")))
    }

    private func exists(_ name: String, ofZoneOf owner: String) throws -> Bool {
        try store.view.exists(RecordKey(zone: ordinal(ofZoneOf: owner), name: name))
    }

    /// Saves a child of `list` in the zone of each owner.
    private func saveChildren(
        _ children: [(owner: String, name: String)], token: [UInt8]? = nil, text: String = ""
    ) throws -> [Result<Version, Refusal>] {
        var builder = RequestBuilder(DatabaseID(.shared), policy: .changedKeys, clientToken: token)
        for child in children {
            builder.save(
                RecordID(child.name, zone: zone(of: child.owner)), type: "Note", parent: .set("list"),
                fields: ["text": .string(text)])
        }
        return try store.modify(builder.request, as: "ben").saves
    }

    @Test("B355, B371 One request saves in zones of the same name, each the data of its owner")
    func owners() throws {
        #expect(try saveChildren([("anna", "a"), ("dora", "d")]).map(\.code) == [nil, nil])
        #expect(try exists("a", ofZoneOf: "anna") && exists("d", ofZoneOf: "dora"))
        #expect(try !exists("d", ofZoneOf: "anna") && !exists("a", ofZoneOf: "dora"))
        // The same name in both zones is no duplicate.
        #expect(try saveChildren([("anna", "b"), ("dora", "b")]).map(\.code) == [nil, nil])
    }

    @Test("B371 Each owner's own quota counts")
    func quotas() throws {
        try store.administer(.setQuota(bytes: 1, user: "ben"))
        try store.administer(.setQuota(bytes: 5_000, user: "dora"))
        let text = String(repeating: "x", count: 3_000)
        #expect(try saveChildren([("anna", "a"), ("dora", "d")], text: text).map(\.code) == [nil, nil])
        #expect(
            try saveChildren([("anna", "a2"), ("dora", "d2")], text: text).map(\.code) == [nil, .quotaExceeded])
        #expect(try exists("a2", ofZoneOf: "anna") && !exists("d2", ofZoneOf: "dora"))
        // The usage is still right after a request in the other database.
        try store.administer(.setQuota(bytes: 50_000, user: "anna"))
        #expect(try saveChildren([("anna", "a3")], text: text).map(\.code) == [nil])
        #expect(try saveChildren([("dora", "d3")], text: text).map(\.code) == [.quotaExceeded])
    }

    @Test("B65 A client token is known in shared zones, and not mistaken for that of a zone of the same name")
    func tokens() throws {
        let first = try saveChildren([("anna", "a"), ("dora", "b")], token: [1])
        #expect(first.map(\.code) == [nil, nil])
        let offset = store.offset
        _ = try saveChildren([("anna", "a"), ("dora", "b")], token: [1])
        #expect(store.offset == offset)
        _ = try saveChildren([("dora", "a"), ("anna", "b")], token: [1])
        #expect(try store.offset == offset + 1 && exists("a", ofZoneOf: "dora"))
    }

    @Test("B369, B374 Every share has its own permission, also for a record that goes from one to another")
    func permissions() throws {
        func save(_ name: String, parent: String) throws -> Refusal.Code? {
            let item = ShareFixture.Item(name, base: try store.version(of: name), parent: parent)
            return try store.save([item], scope: .shared, as: "ben").saves[0].code
        }
        #expect(try save("a", parent: "list") == nil)
        #expect(try save("b", parent: "other") == .permissionFailure)
        #expect(try save("a", parent: "other") == .permissionFailure)
        #expect(try save("a", parent: "third") == nil)
        let number = try store.state("of-third").number
        #expect(try store.view.fold.fork.hierarchicalShare(of: store.key("a")) == number)
        #expect(
            try store.save([], deleting: ["other"], scope: .shared, as: "ben").deletes[0]?.code == .permissionFailure)
    }

    @Test("B362, B376 Leaving one share of a zone leaves the others")
    func leavingOne() throws {
        try store.save([], deleting: ["of-list"], scope: .shared, as: "ben")
        #expect(try store.memberships(of: "ben").count { !$0.isGone } == 3)
        let item = ShareFixture.Item("a", parent: "list")
        #expect(try store.save([item], scope: .shared, as: "ben").saves[0].code == .permissionFailure)
        let other = ShareFixture.Item("a", parent: "third")
        #expect(try store.save([other], scope: .shared, as: "ben").saves[0].code == nil)
    }

    @Test("B368 Deleting a shared zone leaves the shares of this zone alone")
    func leavingZone() throws {
        let result = try store.modify(.zones(deleting: [zone(of: "anna")], in: DatabaseID(.shared)), as: "ben")
        #expect(result.deletes == [nil])
        let current = try store.memberships(of: "ben").filter { !$0.isGone }
        #expect(try current.map(\.zone) == [ordinal(ofZoneOf: "dora")])
        for share in ["of-list", "of-other", "of-third"] {
            #expect(try store.state(share).participant(ofUser: "ben") == nil)
        }
        #expect(try saveChildren([("anna", "a"), ("dora", "d")]).map(\.code) == [.zoneNotFound, nil])
    }

    @Test("B325 A purge ends the shares of a zone, and a new zone of the name has none of them")
    func purging() throws {
        var names = RequestNames()
        let ordinal = names.ordinal(of: ZoneID("Notes"))
        try store.modify(
            Request(
                database: DatabaseID(.private, owner: "anna"), names: names, .administer(.purgeZone(ordinal))), as: "")
        #expect(try store.memberships(of: "ben").count { !$0.isGone } == 1)
        #expect(try saveChildren([("anna", "a")]).map(\.code) == [.zoneNotFound])
        try store.modify(.zones(saving: [ZoneID("Notes")]))
        try store.save([.init("root"), .init("a", parent: "root")])
        #expect(try store.events(ofKind: .sharedRecord) == 0)
        #expect(try store.view.fold.fork.hierarchicalShare(of: store.key("list")) == nil)
        #expect(try saveChildren([("anna", "b")]).map(\.code) == [.zoneNotFound])
        try share("list", .readWrite, as: "anna")
        try store.join(.accept, [store.state("of-list").urlToken], as: "ben")
        #expect(try saveChildren([("anna", "b")]).map(\.code) == [nil])
    }
}
