import StrataModel
import StrataQuery
import StrataSystem
import Testing

@testable import StrataStore

/// What members, former members and others find in the shared database: B345, B355 to B359, B364.
@Suite("Reading the shared database")
struct SharedReadingTests {
    private let world: SharedWorld

    /// Records r with c below it, shared with ben, cleo and dora; q, shared with nobody; and x, which is not shared.
    init() throws {
        world = try SharedWorld()
        try world.write {
            for name in ["r", "q", "x"] { try world.save(name) }
            try world.save("c", parent: "r")
        }
        try world.write { try world.share(root: "r") }
        try world.write { try world.share(root: "q") }
        try world.write { try world.set(.readWrite, of: "ben", in: 1) }
        try world.write { try world.set(.readOnly, of: "cleo", in: 1) }
        try world.write { try world.set(.none, of: "dora", in: 1) }
        try world.write { try world.set(.readOnly, of: "erik", in: 1) }
        try world.write { try world.leave("erik", 1) }
    }

    private func code<Result>(_ body: () throws -> Result) -> Refusal.Code? {
        do { _ = try body() } catch let refusal as Refusal { return refusal.code } catch { Issue.record(error) }
        return nil
    }

    private func id(_ name: String) -> RecordID { RecordID(name, zone: world.zone) }

    private func query(_ type: String, as user: String) throws -> [String] {
        try SharedDoor.query(type, world.store, world.actor(user))
    }

    // MARK: Doors

    @Test(
        "B356 members find the same through each door, and nothing else", arguments: SharedDoor.doors, ["ben", "cleo"])
    func members(_ door: SharedDoor, _ user: String) throws {
        for store in [try world.store, try SharedStore(.isolation).store] {
            #expect(try door.open(store, world.actor(user)).sorted() == SharedDoor.seen)
        }
    }

    @Test("B358 each door is closed to others, with the reason", arguments: SharedDoor.doors)
    func others(_ door: SharedDoor) throws {
        for store in [try world.store, try SharedStore(.isolation).store] {
            // "dora" has the permission none, "erik" has left, "fred" was never there, "anna" owns the zone.
            for (users, expected) in [
                (["dora", "erik"], Refusal.Code.zoneNotFound), (["fred", "anna"], .invalidArguments),
                ([""], .notAuthenticated),
            ] {
                for user in users {
                    #expect(code { try door.open(store, world.actor(user)) } == expected, "\(user)")
                }
            }
        }
    }

    @Test("B355 B357 the list of zones and the database's feed have the zone for members alone")
    func zones() throws {
        for user in ["anna", "ben", "cleo", "dora", "erik", "fred"] {
            let isMember = ["ben", "cleo"].contains(user)
            let zones = try world.store.snapshot().zones(in: world.shared, as: world.actor(user))
            #expect(zones.map(\.id) == (isMember ? [world.zone] : []), "\(user)")
            let page = try world.store.databaseChanges(in: world.shared, as: world.actor(user))
            #expect(page.changed == (isMember ? [world.zone] : []) && page.deleted.isEmpty, "\(user)")
        }
    }

    @Test("B359 a shared zone has changes and atomic requests, and does not disclose how many records it has")
    func capabilities() throws {
        let zone = try world.store.snapshot().zone(world.zone, in: world.shared, as: world.actor("ben"))
        #expect(zone.capabilities == [.fetchChanges, .atomic] && zone.recordCount == 0 && zone.share == nil)
        #expect(code { try world.store.snapshot().zone(.default, in: world.shared, as: world.actor("ben")) } != nil)
    }

    @Test("B364 a query of the shared database needs a zone")
    func queriesNeedZones() throws {
        let query = Query("Note")
        #expect(
            code { try world.store.query(.new(query), in: world.shared, as: world.actor("ben")) } == .invalidArguments)
    }

    @Test("B364 shares can be queried where there are none, and in the owner's private database")
    func queriesOfShares() throws {
        let query = Query("cloudkit.share", zone: ZoneID(SharedWorld.zoneName))
        let page = try world.store.query(.new(query), in: DatabaseID(.private), as: world.actor("anna"))
        #expect(page.matches.map(\.id.name).sorted() == ["Share-1", "Share-2"])
        let empty = try Client()
        #expect(empty.zones(save: ["Notes"]) == [nil])
        let none = try empty.store.query(
            .new(Query("cloudkit.share", zone: ZoneID("Notes"))), in: empty.database, as: empty.actor)
        #expect(none.matches.isEmpty)
    }

    @Test("Names that keys escape or shorten are visible through each door")
    func names() throws {
        let names = ["a\u{1}\u{0}b", String(repeating: "n", count: 400), String(repeating: "n", count: 401)]
        try world.write {
            for name in names {
                try world.save(name, parent: "c")
                try world.save("hidden \(name)")
            }
        }
        let expected = (names + ["c", "r"]).sorted()
        #expect(try query("Note", as: "ben").sorted() == expected)
        let page = try world.store.zoneChanges(of: world.zone, in: world.shared, as: world.actor("ben"))
        #expect(page.changed.map(\.id.name).sorted() == (expected + ["Share-1"]).sorted())
        for name in names {
            let snapshot = try world.store.snapshot()
            #expect(try snapshot.record(id(name), in: world.shared, as: world.actor("ben")).id == id(name))
            #expect(
                code { try snapshot.record(id("hidden \(name)"), in: world.shared, as: world.actor("ben")) }
                    == .unknownItem)
        }
    }

    @Test("A query of few visible records among many reads only those")
    func cost() throws {
        try world.write { for number in 0..<3_000 { try world.save("y\(number)", n: Int64(number)) } }
        let predicate = try PredicateParser.parse("n >= 0")
        for order in [[], [SortKey.key("n", isAscending: false)]] {
            let query = Query("Note", where: predicate, order: order, zone: world.zone)
            let page = try world.store.query(.new(query), in: world.shared, as: world.actor("ben"))
            #expect(page.matches.map(\.id.name).sorted() == ["c", "r"])
            #expect(try #require(page.plan.actual).recordsRead <= 4)
        }
    }

    // MARK: Values

    @Test("The state of a share is no field, and cannot be asked for")
    func reservedKey() throws {
        for (database, zone, user) in [
            (DatabaseID(.private), ZoneID(SharedWorld.zoneName), "anna"), (world.shared, world.zone, "ben"),
        ] {
            for keys in [nil, ["n"], [ShareState.key]] {
                let record = try world.store.snapshot().record(
                    RecordID("Share-1", zone: zone), in: database, desiredKeys: keys, as: world.actor(user))
                #expect(try Array(record.fields.keys) == (keys == [ShareState.key] ? [] : ["n"]))
                #expect(try record[ShareState.key] == nil && record.shareState?.number == 1)
            }
        }
        let note = try world.store.snapshot().record(id("r"), in: world.shared, as: world.actor("ben"))
        #expect(try note.shareState == nil)
    }

    @Test("B337 everybody sees who accepted; the owner and administrators see the rest")
    func participants() throws {
        try world.write {
            try world.invite(ShareParticipant(id: "gina", user: "gina", address: .email("g@example.com")), to: 1)
            try world.invite(ShareParticipant(id: "once", oneTimeToken: "secret"), to: 1)
        }
        func ids(_ user: String, _ zone: ZoneID, _ database: DatabaseID) throws -> [String] {
            let id = RecordID("Share-1", zone: zone)
            let record = try world.store.snapshot().record(id, in: database, as: world.actor(user))
            return try #require(try record.shareState).participants.map(\.id)
        }
        let accepted = ["anna", "ben", "cleo", "dora"]
        let all = accepted + ["gina", "once"]
        #expect(try ids("anna", ZoneID(SharedWorld.zoneName), DatabaseID(.private)) == all)
        #expect(try ids("cleo", world.zone, world.shared) == accepted)
        try world.write { try world.set(.readOnly, of: "cleo", in: 1, role: .administrator) }
        #expect(try Set(ids("cleo", world.zone, world.shared)) == Set(all))
    }

    @Test("A share of the whole zone shows all of it, with the share")
    func wholeZone() throws {
        try world.write { try world.end(1) }
        try world.write { try world.end(2) }
        try world.write { try world.share(root: nil) }
        try world.write { try world.set(.readOnly, of: "fred", in: 3) }
        let names = ["c", "cloudkit.zoneshare", "q", "r", "x"]
        #expect(try query("Note", as: "fred") + query("cloudkit.share", as: "fred") == ["c", "q", "r", "x", names[1]])
        let snapshot = try world.store.snapshot()
        #expect(try snapshot.zone(world.zone, in: world.shared, as: world.actor("fred")).share == names[1])
        #expect(
            try snapshot.zone(ZoneID(SharedWorld.zoneName), in: .init(.private), as: world.actor("anna")).share
                == names[1])
        let page = try world.store.zoneChanges(of: world.zone, in: world.shared, as: world.actor("fred"))
        #expect(page.changed.map(\.id.name).sorted() == names)
        // The owner's other zones have the same indexes.
        let plan = try world.store.plan(Query("Note", zone: world.zone), in: world.shared, as: world.actor("fred"))
        #expect(plan.countsHiddenRecords)
    }
}
