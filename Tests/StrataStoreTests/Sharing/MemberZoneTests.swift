import StrataModel
import StrataRules
import StrataTree
import StrataViews
import Testing

@testable import StrataStore

/// What readers of the shared database keep about zones, members and names is never seen in another state.
@Suite("Zones that members have read before")
struct MemberZoneTests {
    private let world: SharedStore
    private let ben = Actor(user: "ben", device: "phone")
    private let anna = Actor(user: "anna", device: "phone")
    private var store: Store { world.store }

    init() throws { world = try SharedStore(.isolation) }

    private func code<Result>(_ body: () throws -> Result) -> Refusal.Code? {
        do { _ = try body() } catch let refusal as Refusal { return refusal.code } catch { Issue.record(error) }
        return nil
    }

    /// Saves the first share with these participants alone.
    private func share(with permissions: [(user: String, permission: SharePermission)]) throws {
        let participants = permissions.map { user, permission in
            ShareChange.Participant(
                "id-\(user)", .user(recordName: store.recordName(of: user)), role: .privateUser, permission: permission)
        }
        var names = RequestNames()
        var save = ModifyRecordsRequest.Save(
            RecordKey(zone: names.ordinal(of: world.own), name: "Share-1"),
            type: names.ordinal(ofType: ShareState.recordType),
            sharing: ShareChange(root: "r", participants: participants))
        save.base = try world.record("Share-1", as: "anna").version
        var body = ModifyRecordsRequest(policy: .ifServerRecordUnchanged)
        body.saves = [save]
        let request = Request(database: DatabaseID(.private), names: names, .modifyRecords(body))
        _ = try store.modify(request, as: anna).result.saves.map { try $0.get() }
    }

    /// Checks that a door is open, then closed by a change, and that the state before the change stays as it was.
    private func expectClosing(_ door: SharedDoor, by change: () throws -> Void) throws {
        #expect(try door.open(store, ben).sorted() == SharedDoor.seen)
        let before = store.snapshot()
        try change()
        let id = RecordID("c", zone: SharedDoor.zone)
        for _ in 0..<2 {
            #expect(code { try door.open(store, ben) } == .zoneNotFound)
            #expect(try before.record(id, in: SharedDoor.shared, as: ben).id == id)
        }
    }

    @Test("B360 each door closes when the member leaves", arguments: SharedDoor.doors)
    func leaving(_ door: SharedDoor) throws {
        try expectClosing(door) { try world.save([], deleting: ["Share-1"], as: "ben") }
    }

    @Test("Each door closes when the owner removes the member, and opens again", arguments: SharedDoor.doors)
    func removing(_ door: SharedDoor) throws {
        try expectClosing(door) { try share(with: [("cleo", .readOnly)]) }
        try share(with: [("cleo", .readOnly), ("ben", .readOnly)])
        #expect(code { try door.open(store, ben) } == .zoneNotFound)
        try world.join("ben")
        #expect(try door.open(store, ben).sorted() == SharedDoor.seen)
    }

    @Test("Each door closes with the permission none, and opens with another", arguments: SharedDoor.doors)
    func permission(_ door: SharedDoor) throws {
        try expectClosing(door) { try share(with: [("ben", .none)]) }
        try share(with: [("ben", .readOnly)])
        #expect(try door.open(store, ben).sorted() == SharedDoor.seen)
    }

    @Test("Each door closes when the share or the zone ends", arguments: SharedDoor.doors, [true, false])
    func ending(_ door: SharedDoor, _ endsZone: Bool) throws {
        try expectClosing(door) {
            guard endsZone else { return _ = try world.save([], deleting: ["Share-1"], as: "anna") }
            try store.modify(.zones(deleting: [world.own]), as: anna)
        }
    }

    @Test("Each door shows what comes into a share, and not what leaves it", arguments: SharedDoor.doors)
    func moving(_ door: SharedDoor) throws {
        #expect(try door.open(store, ben).sorted() == SharedDoor.seen)
        try world.save([.init("x", parent: "r")], as: "anna")
        #expect(try door.open(store, ben).sorted() == SharedDoor.seen + ["x"])
        try world.save([.init("x", parent: "q")], as: "anna")
        #expect(try door.open(store, ben).sorted() == SharedDoor.seen)
    }

    @Test("Branches at the same offset and the past keep their own members")
    func branches() throws {
        let snapshot = store.snapshot()
        let (trees, names) = (snapshot.trees, snapshot.names)
        let place = try names.place(SharedDoor.shared, ben, in: trees)
        let member = try #require(try trees.memberships(of: place.lookup.owner).first)
        func branch(_ permission: SharePermission) throws -> Snapshot {
            let event = MemberChangedEvent(
                user: place.lookup.owner, share: member.share, zone: member.zone, permission: permission,
                role: member.role, joined: member.joined)
            var commit = CommitBuilder()
            try commit.append(event)
            let pages = try store.views.trees.branch(on: trees)
            let fold = Fold(try pages.fork())
            try commit.payload(EnvelopeHeader(user: 1)).withUnsafeBytes {
                try fold.apply($0, offset: snapshot.offset + 1, time: 0)
            }
            return try fold.publish(to: pages)
        }
        let (closed, limited) = (try branch(.none), try branch(.readOnly))
        for _ in 0..<2 {
            for (state, expected) in [(trees, SharePermission.readWrite), (limited, .readOnly)] {
                let zone = try place.sharedZone(SharedDoor.zone, state, names)
                #expect(zone.zone.hierarchies == [member.share: expected])
            }
            #expect(code { try place.sharedZone(SharedDoor.zone, closed, names) } == .zoneNotFound)
        }
        func zone(asOf offset: UInt64) throws -> Zone {
            try store.asOf(offset).snapshot().zone(SharedDoor.zone, in: SharedDoor.shared, as: ben)
        }
        #expect(code { try zone(asOf: member.joined.offset - 1) } == .invalidArguments)
        #expect(throws: Never.self) { try zone(asOf: member.joined.offset) }
    }

    @Test("A shared database is found as soon as it is written to, and a user as soon as there is one")
    func firstWrites() throws {
        func place(_ actor: Actor) throws -> ResolvedDatabase {
            let snapshot = store.snapshot()
            return try snapshot.names.place(SharedDoor.shared, actor, in: snapshot.trees)
        }
        for _ in 0..<2 { #expect(try place(ben).ordinal == 0) }
        try store.modify(.subscriptions(saving: [NamedSubscription("s", .database)], in: SharedDoor.shared), as: ben)
        #expect(try place(ben).ordinal != 0)
        let new = Actor(user: "new", device: "phone")
        for _ in 0..<2 { #expect(try place(new).lookup.owner == 0) }
        try store.modify(.zones(saving: [ZoneID("Own")]), as: new)
        #expect(try place(new).lookup.owner != 0)
    }
}
