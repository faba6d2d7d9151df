import StrataModel
import StrataQuery
import StrataSystem
import StrataViews
import TestSupport
import Testing

@testable import StrataStore

/// Every door of the store × everybody who may come through it: no one finds, changes, is notified of, or infers a
/// record outside their shares (B356).
@Suite("Doors of the shared database", .timeLimit(.minutes(2)))
struct SharedDoorTests {
    private static let shared = SharedDoor.shared
    private static let zone = SharedDoor.zone

    private func code<Result>(_ body: () throws -> Result) -> Refusal.Code? {
        do { _ = try body() } catch let refusal as Refusal { return refusal.code } catch { Issue.record(error) }
        return nil
    }

    /// Returns what comes through a door; nothing if it is closed.
    private func names(_ person: SharedPerson, _ door: SharedDoor, _ store: Store) throws -> Set<String> {
        do { return Set(try door.open(store, person.actor)) } catch is Refusal { return [] }
    }

    private func versions(_ world: SharedStore) throws -> [String: Version] {
        var versions: [String: Version] = [:]
        for name in SharedDoor.all { versions[name] = try? world.record(name, as: "anna").version }
        return versions
    }

    // MARK: Doors

    @Test("B356 everybody reads what is shared with them, and nothing else", arguments: SharedDoor.doors)
    func reading(_ door: SharedDoor) throws {
        let store = try SharedStore(.isolation).store
        for person in SharedPerson.allCases {
            let expected = person.seen
            if expected.isEmpty {
                #expect(code { try door.open(store, person.actor) } != nil, "\(person)")
            } else {
                #expect(try Set(door.open(store, person.actor)) == expected, "\(person)")
            }
        }
    }

    @Test(
        "B356 B372 nobody finds out about hidden records by requests, or changes them", arguments: SharedDoor.requests)
    func requesting(_ door: SharedDoor) throws {
        for person in SharedPerson.allCases {
            let world = try SharedStore(.isolation)
            let before = try versions(world)
            let found = try names(person, door, world.store)
            #expect(found.isSubset(of: person.seen), "\(person) found \(found)")
            let after = try versions(world)
            for name in SharedDoor.all where !person.mayWrite || !person.seen.contains(name) {
                #expect(after[name] == before[name], "\(person) changed \(name)")
            }
        }
    }

    @Test(
        "Canary: writers get through the doors of requests",
        arguments: SharedDoor.requests.filter { $0.name != "sealing" && $0.name != "references" })
    func canary(_ door: SharedDoor) throws {
        #expect(
            try Set(door.open(SharedStore(.isolation).store, SharedPerson.writer.actor)).isSuperset(of: ["c", "r"]))
    }

    // MARK: Zones, tokens and URLs

    @Test("B355 B358 the zone is there for those who see something in it, without the number of its records")
    func zones() throws {
        let store = try SharedStore(.isolation).store
        let query = Query("Note", zone: Self.zone)
        for person in SharedPerson.allCases where person != .guest {
            let isMember = !person.seen.isEmpty
            let snapshot = store.snapshot()
            let listed = isMember ? [Self.zone] : []
            #expect(try snapshot.zones(in: Self.shared, as: person.actor).map(\.id) == listed, "\(person)")
            #expect(try store.databaseChanges(in: Self.shared, as: person.actor).changed == listed, "\(person)")
            let zone = try? snapshot.zone(Self.zone, in: Self.shared, as: person.actor)
            #expect((zone != nil) == isMember && zone?.recordCount ?? 0 == 0, "\(person)")
            let refusal = code { try store.check(query, in: Self.shared, as: person.actor) }
            #expect((refusal == nil) == isMember, "\(person)")
            // A plan has the number of records in an index, so the API gives it to those who see them all.
            let plan = try? store.plan(query, in: Self.shared, as: person.actor)
            #expect(plan?.countsHiddenRecords == (isMember ? true : nil), "\(person)")
        }
    }

    @Test("B358 a refusal for the zone names the rule, and is the same whether there is such a zone or not")
    func refusals() throws {
        let store = try SharedStore(.isolation).store
        func refusal(_ zone: ZoneID, as person: SharedPerson) -> Refusal? {
            do { _ = try store.snapshot().zone(zone, in: Self.shared, as: person.actor) } catch {
                return error as? Refusal
            }
            return nil
        }
        let absent = ZoneID("Absent", owner: Self.zone.owner)
        let nobody = ZoneID("Notes", owner: store.recordName(of: "nobody"))
        for person in [SharedPerson.stranger, .owner] {
            let found = refusal(Self.zone, as: person)
            #expect(found?.code == .invalidArguments && found?.rule == .zonesOfMembers)
            for other in [absent, nobody] {
                #expect(refusal(other, as: person)?.message == found?.message && found?.rule == .zonesOfMembers)
            }
        }
        for person in [SharedPerson.left, .removed, .unpermitted] {
            let found = refusal(Self.zone, as: person)
            #expect(found?.code == .zoneNotFound && found?.rule == .zonesOfMembers)
        }
        for name in ["x", "absent"] {
            let id = RecordID(name, zone: Self.zone)
            let found = try store.fetch([id], in: Self.shared, as: SharedPerson.writer.actor)
            #expect(found[0].refusal?.rule == .visibleRecords && found[0].refusal?.code == .unknownItem)
        }
    }

    @Test("Tokens and cursors of others show nothing")
    func borrowed() throws {
        let store = try SharedStore(.isolation).store
        let (owner, reader) = (SharedPerson.owner.actor, SharedPerson.reader.actor)
        let query = Query("Note", zone: Self.zone)
        let own = Query("Note", zone: ZoneID("Notes"))
        let cursors = [
            try store.query(.new(query), in: Self.shared, limit: 1, as: reader).cursor,
            try store.query(.new(own), in: DatabaseID(.private), limit: 1, as: owner).cursor,
        ]
        let tokens = [
            try store.zoneChanges(of: Self.zone, in: Self.shared, limit: 1, as: reader).token,
            try store.zoneChanges(of: Self.zone, in: Self.shared, as: reader).token,
            try store.zoneChanges(of: ZoneID("Notes"), in: DatabaseID(.private), limit: 1, as: owner).token,
            try store.databaseChanges(in: Self.shared, as: reader).token,
        ]
        for person in SharedPerson.allCases {
            for cursor in cursors {
                let cursor = try #require(cursor)
                let page = try? store.query(.continued(cursor), in: Self.shared, as: person.actor)
                let names = Set((page?.matches ?? []).map(\.id.name))
                #expect(names.isSubset(of: person.seen), "\(person)")
            }
            for token in tokens {
                let page = try? store.zoneChanges(of: Self.zone, in: Self.shared, since: token, as: person.actor)
                let names = Set((page?.changed ?? []).map(\.id.name) + (page?.deleted ?? []).map(\.id.name))
                #expect(names.isSubset(of: person.seen), "\(person)")
            }
            let databaseToken = try #require(tokens.last)
            let zones = try? store.databaseChanges(in: Self.shared, since: databaseToken, as: person.actor)
            #expect((zones != nil) == (person == .reader), "\(person)")
            #expect(zones?.deleted.isEmpty != false && zones?.changed.isEmpty != false, "\(person)")
        }
    }

    @Test("B340 B343 B344 URLs show the share and its root to those who may join it")
    func metadata() throws {
        let store = try SharedStore(.isolation).store
        for person in SharedPerson.allCases {
            var opened: Set<String> = []
            for number in UInt64(1)...3 {
                let token = try #require(try store.snapshot().trees.share(number)).urlToken
                let metadata = try? store.snapshot().shareMetadata(
                    ofToken: token, includesRoot: true, as: person.actor)
                opened.formUnion([metadata?.record.id.name, metadata?.rootRecord?.id.name].compactMap(\.self))
            }
            #expect(opened == person.opened, "\(person)")
        }
    }

    @Test("B352 B399 nobody learns by accepting or by asking for access which shares exist")
    func joining() throws {
        for action in [JoinSharesRequest.Action.accept, .requestAccess] {
            for person in [SharedPerson.left, .removed, .stranger, .guest] {
                let world = try SharedStore(.isolation)
                func outcome(_ token: String) -> String {
                    let request = Request(
                        database: Self.shared, .joinShares(JoinSharesRequest(action, tokens: [token])))
                    do {
                        let result = try world.store.modify(request, as: person.actor).result
                        return result.saves.first?.refusal.map { "\($0)" } ?? "done"
                    } catch { return "\(error)" }
                }
                let hidden = try #require(try world.store.snapshot().trees.share(2)).urlToken
                // An accepted share was known before, since metadata is needed (B352).
                if action == .requestAccess { #expect(outcome(hidden) == outcome("nothing"), "\(person)") }
                if action == .accept { #expect(outcome(hidden) != "done", "\(person)") }
                #expect(try world.store.snapshot().zones(in: Self.shared, as: SharedPerson.stranger.actor).isEmpty)
            }
        }
    }

    // MARK: Subscriptions and pushes

    @Test("B365 B186 everybody is notified of what they see, and has their own subscriptions")
    func pushes() async throws {
        let world = try SharedStore(.isolation)
        let store = world.store
        let people = SharedPerson.allCases.filter { ![.guest, .owner].contains($0) }
        for person in people {
            try await store.modify(
                .subscriptions(saving: [NamedSubscription(person.rawValue, .database)], in: Self.shared),
                as: person.actor)
        }
        for person in people {
            let snapshot = store.snapshot()
            let ids = people.map(\.rawValue)
            #expect(try snapshot.subscriptions(in: Self.shared, as: person.actor).map(\.id) == [person.rawValue])
            for found in [
                try snapshot.subscriptions(ids, in: Self.shared, as: person.actor),
                try store.fetchSubscriptions(ids, in: Self.shared, as: person.actor),
            ] {
                #expect(found.map { (try? $0.get()) != nil } == people.map { $0 == person })
            }
        }
        let boxes = try people.map { try store.listen(as: $0.actor) }
        for name in ["c", "p", "q", "r", "x"] {
            try world.save([.init(name, fields: ["n": .int64(5)])], as: "anna")
            try await store.settleNotifications()
            for (person, box) in zip(people, boxes) {
                let count = box.waitingCount
                while box.waitingCount > 0, let push = await box.next() {
                    #expect(push.user == person.rawValue && push.subject == .database && push.fields.isEmpty)
                }
                #expect((count > 0) == person.seen.contains(name), "\(person) and \(name)")
            }
        }
    }

    // MARK: The past

    @Test("B356 a member gets no state of a record from before it came under the share, not even as an ancestor")
    func past() throws {
        let world = try SharedStore(.isolation)
        let store = world.store
        func version(_ name: String) throws -> Version {
            let record: Record = try world.record(name, as: "anna")
            return record.version
        }
        func seen(_ name: String, _ version: Version, as person: SharedPerson) throws -> Bool {
            let id = RecordID(name, zone: Self.zone)
            let snapshot = store.snapshot()
            let record = try snapshot.recordIfKept(id, at: version, in: Self.shared, as: person.actor)
            let asOf = try snapshot.record(id, asOf: version.offset, in: Self.shared, as: person.actor)
            #expect((record == nil) == (asOf == nil))
            return record != nil
        }
        let secret = try version("x")
        try world.save([.init("x", fields: ["n": .int64(2)])], as: "anna")
        let hidden = try version("x")
        try world.save([.init("x", parent: "r", fields: ["n": .int64(3)])], as: "anna")
        let shown = try version("x")
        try world.save([.init("x", fields: ["n": .int64(4)])], as: "anna")
        for person in [SharedPerson.writer, .reader] {
            #expect(try !seen("x", secret, as: person) && !seen("x", hidden, as: person))
            #expect(try seen("x", shown, as: person) && seen("x", version("x"), as: person))
        }
        #expect(try !seen("x", shown, as: .publicMember) && !seen("x", shown, as: .removed))

        // What was the newest state when a member joined is visible; what was replaced before is not.
        let old = try version("c")
        try world.save([.init("c", fields: ["n": .int64(2)])], as: "anna")
        let joined = try version("c")
        try world.save([.init("Share-1", base: version("Share-1"), sharing: world.inviting("fred"))], as: "anna")
        try world.join("fred")
        try world.save([.init("c", fields: ["n": .int64(3)])], as: "anna")
        #expect(try seen("c", old, as: .writer) && !seen("c", old, as: .stranger))
        #expect(try seen("c", joined, as: .stranger) && seen("c", version("c"), as: .stranger))
        let share = try version("Share-1")
        #expect(try seen("Share-1", share, as: .stranger))

        // So is what came into the share with its parent.
        try world.save([.init("f"), .init("g", parent: "f", fields: ["n": .int64(1)])], as: "anna")
        let moved = try version("g")
        try world.save([.init("f", parent: "r")], as: "anna")
        try world.save([.init("g", parent: "f", fields: ["n": .int64(2)])], as: "anna")
        #expect(try seen("g", moved, as: .writer))
    }

    @Test("B356 a member whose saved record went in the same request gets it without fields; others get nothing")
    func savedAndGone() throws {
        let world = try SharedStore(.isolation)
        try world.save([.init("d", parent: "r")], as: "ben")
        var names = RequestNames()
        let target = RecordKey(zone: names.ordinal(of: Self.zone), name: "d")
        let item = SharedStore.Item("e", parent: "r", fields: ["of": .reference(.init(target, action: .deleteSelf))])
        let version = try #require(try world.save([item], deleting: ["d"], as: "ben").saves.first).get()
        func found(by person: SharedPerson) throws -> Record? {
            try world.store.snapshot().record(
                RecordID("e", zone: Self.zone), at: version, in: Self.shared, as: person.actor,
                unreadable: .withoutFields)
        }
        #expect(try found(by: .writer)?.isHidden == true)
        #expect(try found(by: .reader) == nil && found(by: .administrator) == nil)
    }

    @Test("A version goes to the user who saved it, without fields and after the user left; others get nothing")
    func ownSaves() throws {
        let world = try SharedStore(.isolation)
        try world.save([.init("c", parent: "r", fields: ["n": .int64(2)])], as: "ben")
        let names = ["c", "p", "q", "r", "x"]
        let versions = try names.map { try world.record($0, as: "anna").version }
        func found(by person: SharedPerson) -> [Record] {
            zip(names, versions).compactMap { name, version in
                try? world.store.snapshot().savedRecord(
                    RecordID(name, zone: Self.zone), at: version, in: Self.shared, as: person.actor)
            }
        }
        for hasLeft in [false, true] {
            if hasLeft { try world.save([], deleting: ["Share-1"], as: "ben") }
            for person in SharedPerson.allCases {
                let records = found(by: person)
                let expected: [String]
                switch person {
                // The records are her own.
                case .owner: expected = ["p", "q", "r", "x"]
                case .writer: expected = ["c"]
                default: expected = []
                }
                #expect(records.map(\.id.name) == expected, "\(person), \(hasLeft)")
                let areHidden = records.allSatisfy { $0.isHidden }
                #expect(areHidden, "\(person)")
            }
        }
    }

    @Test("Canary: the owner gets every state")
    func ownersPast() throws {
        let world = try SharedStore(.isolation)
        let old = try world.record("x", as: "anna").version
        try world.save([.init("x", parent: "r", fields: ["n": .int64(3)])], as: "anna")
        let record = try world.store.snapshot().record(
            RecordID("x", zone: world.own), at: old, in: DatabaseID(.private), as: SharedPerson.owner.actor)
        #expect(try record?["n"] == .int64(1))
    }

    // MARK: The table is complete

    /// The methods that have a test above instead of a door.
    private static let tested: Set<String> = [
        "zones(in:as:)", "databaseChanges(in:since:limit:as:)", "check(_:in:as:)", "plan(_:in:limit:as:)",
        "shareMetadata(ofToken:desiredKeys:includesRoot:as:)", "listen(as:)", "subscriptions(in:as:)",
        "subscriptions(_:in:as:)", "fetchSubscriptions(_:in:as:)", "savedRecord(_:at:in:as:)",
    ]
    /// The methods that show nothing of a database: the first two set or find a number of the actor's own device, the
    /// third is for tools, which have the whole log.
    private static let harmless: Set<String> = ["setBadge(_:of:)", "device(_:)", "historicQueryContext(of:in:as:)"]

    @Test("Every method of the store that has an actor has a door, or a test")
    func completeness() throws {
        let covered = (SharedDoor.doors + SharedDoor.requests).reduce(into: Self.tested.union(Self.harmless)) {
            $0.formUnion($1.methods)
        }
        let found = try ActorMethods.inSources()
        #expect(found.subtracting(covered).isEmpty, "neither door nor test")
        #expect(covered.subtracting(found).isEmpty, "no such method")
    }

    @Test("Canary: a method of a new file is found")
    func findsMethods() {
        let source = """
            extension Store {
                public func peek(
                    at id: RecordID, _ keys: (String, Int) = ("", 1), as actor: Actor
                ) throws -> Record {}
                package func poke(by actor: Actor) {}
                func own(as actor: Actor) {}
                public func all() {}
            }
            """
        #expect(ActorMethods.found(in: source) == ["peek(at:_:as:)", "poke(by:)"])
    }
}
