import StrataModel
import StrataQuery
import StrataRules
import StrataSystem
import StrataViews
import TestSupport
import Testing

@testable import StrataStore

/// Every door of the public database × everybody who may come through it × grants (B391 to B396).
@Suite(.timeLimit(.minutes(2)))
struct PublicDoorTests {
    /// Whoever asks. All but the guest have a record of their own, "of-" and their name.
    enum Person: String, CaseIterable {
        case guest, stranger, creator, member, former
        /// A member whose account is restricted.
        case suspended

        var actor: Actor { Actor(user: self == .guest ? "" : rawValue, device: "phone") }
        var isSignedIn: Bool { self != .guest && self != .suspended }

        /// Whose records are let through by a permission that a role alone has: nil for everybody's.
        func reach(of role: String) -> (isAny: Bool, isOwn: Bool) {
            switch role {
            case "_world": (true, true)
            case "_icloud": (isSignedIn, isSignedIn)
            case "_creator": (false, isSignedIn)
            case "Editors": (self == .member, self == .member)
            default: (false, false)
            }
        }
    }

    static let roles = ["_world", "_icloud", "_creator", "Editors", "Nobody"]
    private static let owners = Person.allCases.filter { $0 != .guest }
    private static let names = Set(owners.map { "of-\($0.rawValue)" })

    private let admin: Client

    init() throws {
        var options = StoreOptions.embedded
        options.touchesParents = true
        admin = try Client(options).with {
            $0.scope = .public
            $0.policy = .changedKeys
        }
        try admin.declare("Note", [.init("n", .int64, indexes: [.queryable, .sortable])])
        for person in Self.owners {
            let client = client(person)
            try client.save("of-\(person.rawValue)", ["n": .int64(1)])
            let fan = Client.Save("fan-of-\(person.rawValue)", ["note": link("of-\(person.rawValue)")], type: "Fan")
            #expect(client.codes([fan]) == [nil])
        }
        try admin.store.setRole("Editors", of: ["member", "former", "suspended"])
        try admin.store.setRole("Editors", of: ["member", "suspended"])
        try admin.store.setAccountStatus(.restricted, of: "suspended")
    }

    private func client(_ person: Person) -> Client {
        admin.with { ($0.user, $0.device) = (person.actor.user, person.actor.device) }
    }

    /// Grants a permission to one role, and everything to a role without members.
    private func grant(_ permission: SchemaGrant.Permissions, to role: String) throws {
        try admin.declare("Note", [], grants: [SchemaGrant(role, permission), SchemaGrant("Nobody", .all)])
    }

    // MARK: Reading

    /// A way to records of the public database: the names of those that a client sees, or a refusal of everything.
    struct ReadingDoor: CustomTestStringConvertible, Sendable {
        let testDescription: String
        /// True if somebody who may read nothing is refused, instead of seeing nothing.
        var refusesAll = false
        let seen: @Sendable (Client) throws -> Set<String>
    }

    private static func each(_ client: Client, _ body: (String, RecordID) throws -> Record?) throws -> Set<String> {
        var seen: Set<String> = []
        for name in names {
            do {
                guard let record = try body(name, client.id(name)) else { continue }
                #expect(try record["n"] == .int64(1))
                seen.insert(name)
            } catch let refusal as Refusal {
                #expect(refusal.code == .permissionFailure && refusal.rule == .readGrants)
                #expect(refusal.message.hasPrefix("Access failure"))
            }
        }
        return seen
    }

    private static func found(
        _ client: Client, in store: Store? = nil, _ predicate: String, type: String = "Note", order: [SortKey] = [],
        limit: Int = 0
    ) throws -> Set<String> {
        var question = Question.new(Query(type, where: try PredicateParser.parse(predicate), order: order))
        var names: [String] = []
        while true {
            let page = try (store ?? client.store).query(
                question, in: client.database, limit: limit, as: client.actor)
            names += page.matches.map(\.id.name)
            // No page is short of records that others may read: it is full, or the last one.
            guard let cursor = page.cursor else { break }
            #expect(page.matches.count == limit)
            question = .continued(cursor)
        }
        #expect(Set(names).count == names.count)
        return Set(names)
    }

    private static func reference(_ name: String) -> String {
        "CAST({'\(name)', '_defaultZone', '__defaultOwner__'}, 'CKReference')"
    }

    private static func past<Result>(_ client: Client, _ body: (Store) throws -> Result) throws -> Result {
        let past = try client.store.asOf(client.store.offset)
        defer { try? past.close() }
        return try body(past)
    }

    private static let readingDoors = [
        ReadingDoor(testDescription: "a record") { client in
            try each(client) { try client.store.snapshot().record($1, in: client.database, as: client.actor) }
        },
        ReadingDoor(testDescription: "several records") { client in
            try each(client) {
                try client.store.snapshot().records([$1, $1], in: client.database, as: client.actor)[1].get()
            }
        },
        ReadingDoor(testDescription: "a fetch") { client in
            try each(client) { try client.store.fetch([$1], in: client.database, as: client.actor)[0].get() }
        },
        ReadingDoor(testDescription: "a version") { client in
            try each(client) { name, id in
                let version = try client.store.snapshot().record(id, in: client.database, as: .service).version
                return try client.store.snapshot().record(id, at: version, in: client.database, as: client.actor)
            }
        },
        ReadingDoor(testDescription: "a version if it is kept") { client in
            try each(client) { name, id in
                let version = try client.store.snapshot().record(id, in: client.database, as: .service).version
                return try client.store.snapshot().recordIfKept(
                    id, at: version, in: client.database, as: client.actor)
            }
        },
        ReadingDoor(testDescription: "a record as of a commit") { client in
            try each(client) {
                let snapshot = client.store.snapshot()
                return try snapshot.record($1, asOf: snapshot.offset, in: client.database, as: client.actor)
            }
        },
        ReadingDoor(testDescription: "a record of a past store") { client in
            try past(client) { past in
                try each(client) { try past.snapshot().record($1, in: client.database, as: client.actor) }
            }
        },
        ReadingDoor(testDescription: "a query", refusesAll: true) { try found($0, "TRUEPREDICATE") },
        ReadingDoor(testDescription: "a query by an index, page by page", refusesAll: true) {
            try found($0, "n >= 1", limit: 1)
        },
        ReadingDoor(testDescription: "a sorted query, page by page", refusesAll: true) {
            try found($0, "TRUEPREDICATE", order: [.key("n", isAscending: false)], limit: 2)
        },
        ReadingDoor(testDescription: "a query for IDs", refusesAll: true) { client in
            try names.reduce(into: []) { $0.formUnion(try found(client, "recordID = \(reference($1))")) }
        },
        ReadingDoor(testDescription: "a query with NOT and OR", refusesAll: true) {
            try found($0, "NOT (n = 2) OR n = 1")
        },
        ReadingDoor(testDescription: "a query for creators", refusesAll: true) { client in
            try names.reduce(into: []) { seen, name in
                let user = client.store.recordName(of: String(name.dropFirst(3)))
                seen.formUnion(try found(client, "creatorUserRecordID = \(reference(user))"))
            }
        },
        ReadingDoor(testDescription: "a query of a past store", refusesAll: true) { client in
            try past(client) { try found(client, in: $0, "TRUEPREDICATE") }
        },
        ReadingDoor(testDescription: "a plan", refusesAll: true) { client in
            let query = Query("Note", where: .constant(true))
            _ = try client.store.plan(query, in: client.database, as: client.actor)
            return try found(client, "TRUEPREDICATE")
        },
        ReadingDoor(testDescription: "a check", refusesAll: true) { client in
            let query = Query("Note", where: .constant(true))
            try client.store.check(query, in: client.database, as: client.actor)
            return try found(client, "TRUEPREDICATE")
        },
        // Fans may be read by everybody, and refer to notes.
        ReadingDoor(testDescription: "a reference that is followed") { client in
            Set(try found(client, "note.n = 1", type: "Fan").map { String($0.dropFirst("fan-".count)) })
        },
        ReadingDoor(testDescription: "a missing value of a reference that is followed") { client in
            let others = Set(try found(client, "note.n = nil", type: "Fan").map { String($0.dropFirst("fan-".count)) })
            return names.subtracting(others)
        },
    ]

    @Test(arguments: readingDoors.indices)
    func `B391 B395 a door shows what READ lets its user see`(_ index: Int) throws {
        let door = Self.readingDoors[index]
        for role in Self.roles {
            try grant(.read, to: role)
            for person in Person.allCases {
                let reach = person.reach(of: role)
                var wanted = reach.isAny ? Self.names : []
                if reach.isOwn, person != .guest { wanted.insert("of-\(person.rawValue)") }
                let seen = Result { try door.seen(client(person)) }
                if door.refusesAll, !reach.isAny, !reach.isOwn {
                    #expect(seen.refusal?.code == .permissionFailure, "\(door) \(role) \(person)")
                    #expect(seen.refusal?.rule == .readGrants)
                } else {
                    #expect(try seen.get() == wanted, "\(door) \(role) \(person)")
                }
            }
        }
    }

    @Test func `B395 whoever may read nothing of a type cannot subscribe to it`() throws {
        for role in Self.roles {
            try grant(.read, to: role)
            for person in Person.allCases where person.isSignedIn {
                let reach = person.reach(of: role)
                let refusal = client(person).refusal(saving: .notes("s"))
                let isRefused = !reach.isAny && !reach.isOwn
                #expect(refusal?.code == (isRefused ? .permissionFailure : nil), "\(role) \(person)")
                #expect(refusal?.rule == (isRefused ? .readGrants : nil))
                if !isRefused { #expect(client(person).subscriptions(delete: ["s"]).codes == [nil]) }
            }
        }
    }

    @Test func `B395 nobody is notified of a record that he may not read when it fires`() async throws {
        let people = Person.allCases.filter(\.isSignedIn)
        for person in people {
            #expect(client(person).refusal(saving: .notes("s")) == nil)
            #expect(client(person).refusal(saving: .notes("one", options: [.update, .once])) == nil)
        }
        let boxes = try people.map { ($0, try admin.store.listen(as: Actor(user: $0.rawValue, device: "watch"))) }
        for role in Self.roles {
            try grant([.read, .write], to: role)
            // A member of an own role writes whatever is granted to whom.
            try admin.store.setRole("Nobody", of: ["anna"])
            for person in people {
                #expect(admin.codes([.init("of-\(person.rawValue)", ["m": .int64(1)])]) == [nil])
            }
            try await admin.store.settleNotifications()
            for (person, box) in boxes {
                let reach = person.reach(of: role)
                var wanted = reach.isAny ? Set(people.map { "of-\($0.rawValue)" }) : []
                if reach.isOwn { wanted.insert("of-\(person.rawValue)") }
                var told: Set<String> = []
                while box.waitingCount > 0, let push = await box.next() {
                    guard push.subscriptionID == "s", case .record(let id, _) = push.subject else { continue }
                    told.insert(id.name)
                }
                #expect(told == wanted, "\(role) \(person)")
            }
        }
    }

    @Test func `B393 user records are for those who are signed in`() throws {
        let id = admin.id(admin.store.recordName(of: "creator"))
        for person in Person.allCases {
            let record = Result { try admin.store.snapshot().record(id, in: admin.database, as: person.actor) }
            #expect(record.refusal?.code == (person.isSignedIn ? nil : .permissionFailure), "\(person)")
        }
    }

    // MARK: Writing

    @Test func `B391 B394 a role writes what it is granted, and nothing else`() throws {
        for role in Self.roles {
            for person in Person.allCases {
                let reach = person.reach(of: role)
                let client = client(person)
                func code(_ isLet: Bool) -> Refusal.Code? {
                    person.isSignedIn ? isLet ? nil : .permissionFailure : .notAuthenticated
                }
                let own = "of-\(person.rawValue)"
                let others = person == .stranger ? "of-creator" : "of-stranger"
                try grant(.create, to: role)
                #expect(client.codes([.init("new-\(role)-\(person)")]) == [code(reach.isOwn)], "\(role) \(person)")
                #expect(client.codes([.init(others, ["n": .int64(1)])]) == [code(false)])
                #expect(client.codes(deletes: [.init(others)]) == [code(false)])
                try grant(.write, to: role)
                #expect(client.codes([.init("another")]) == [code(false)])
                #expect(client.codes([.init(others, ["n": .int64(1)])]) == [code(reach.isAny)], "\(role) \(person)")
                if person != .guest {
                    #expect(client.codes([.init(own, ["n": .int64(1)])]) == [code(reach.isOwn)], "\(role) \(person)")
                }
                // A parent is touched, and its child holds it, if the parent may be written.
                try admin.declare(
                    "Note", [], grants: [SchemaGrant(role, .write), SchemaGrant("_world", [.read, .create])])
                guard person.isSignedIn else { continue }
                let before = try client.fetch(others).get().version
                let child = "child-\(role)-\(person)".filter { $0 != "_" }
                #expect(client.codes([.init(child, type: "Fan", parent: others)]) == [nil])
                #expect(try (client.fetch(others).get().version != before) == reach.isAny, "\(role) \(person)")
                #expect(client.codes(deletes: [.init(child)]) == [nil])
            }
        }
    }

    @Test func `B392 without grants everybody reads, whoever is signed in creates, and the creator writes`() throws {
        for person in Person.allCases {
            #expect(try Self.readingDoors[0].seen(client(person)) == Self.names)
            #expect(try Self.readingDoors[7].seen(client(person)).isSuperset(of: Self.names))
            let isLet: Refusal.Code? = person.isSignedIn ? nil : .notAuthenticated
            #expect(client(person).codes([.init("mine-\(person)")]) == [isLet])
            let refusal = person.isSignedIn ? Refusal.Code.permissionFailure : .notAuthenticated
            let others = person == .former ? "of-creator" : "of-former"
            #expect(client(person).codes([.init(others)]) == [refusal])
        }
    }

    @Test func `B396 who may write and not read saves, and is shown no fields`() throws {
        try grant(.write, to: "Editors")
        let member = client(.member)
        let answer = try member.ask(member.request([.init("of-creator", ["m": .int64(2)], parent: "of-former")])).get()
        let id = member.id("of-creator")
        let shown = try answer.snapshot.record(
            id, in: member.database, as: member.actor, unreadable: .withoutFields)
        #expect(try shown.isHidden && shown.version == answer.result.saves[0].get())
        #expect(try shown.fields.isEmpty)
        #expect(try shown["m"] == nil)
        #expect(try shown.parent == nil)
        #expect(try shown.assets.isEmpty)
        let merged = try answer.snapshot.record(id, in: member.database, as: .service)
        #expect(try merged.fields == ["m": .int64(2), "n": .int64(1)])
        #expect(try merged.parent == "of-former")
        let past = try answer.snapshot.record(
            id, at: shown.version, in: member.database, as: member.actor, unreadable: .withoutFields)
        #expect(try past?.isHidden == true && past?.fields == [:])
    }

    @Test func `B397 grants and roles say nothing of private databases`() throws {
        try grant(.read, to: "Nobody")
        let anna = client(.stranger).with { $0.scope = .private }
        try anna.save("own", ["n": .int64(1)])
        #expect(try anna.fields("own") == ["n": .int64(1)])
        #expect(try anna.find().names == ["own"])
        #expect(anna.refusal(saving: .notes("s")) == nil)
        try anna.save("own", ["n": .int64(2)])
        #expect(anna.codes(deletes: ["own"]) == [nil])
    }

    // MARK: Roles

    @Test func `B391 a role has exactly the members that were set last`() throws {
        let store = admin.store
        #expect(try store.members(ofRole: "Editors") == ["member", "suspended"])
        let before = store.offset
        try store.setRole("Editors", of: ["suspended", "member", "member"])
        #expect(store.offset == before, "the same members make no commit")
        try store.setRole("Editors", of: ["new", "member"])
        #expect(try store.members(ofRole: "Editors") == ["member", "new"])
        try store.setRole("Readers", of: ["new"])
        try store.setQuota(bytes: 5, of: "new")
        try store.setRole("Editors", of: [])
        #expect(try store.members(ofRole: "Editors") == [])
        #expect(try store.members(ofRole: "Readers") == ["new"])
        #expect(try store.account(of: "new").quota == 5)
        for name in ["", "_world", "1x", "a b", String(repeating: "x", count: 256)] {
            #expect(thrownRefusal { try store.setRole(name, of: ["a"]) }?.rule == .declaredRoles, "\(name)")
        }
        #expect(thrownRefusal { try store.setRole("Editors", of: [""]) }?.code == .invalidArguments)
    }

    @Test func `the requests that set roles are rebuilt from their commits`() throws {
        let store = admin.store
        try store.setRole("Readers", of: ["zoe", "former"])
        try store.setRole("Editors", of: ["former", "zoe"])
        let rebuilt = try RequestRebuilder.requests(of: store.log).compactMap { asked -> AdministerRequest? in
            if case .administer(let body) = asked.request.content { body } else { nil }
        }
        #expect(
            rebuilt == [
                .setRole("Editors", users: ["member", "former", "suspended"]),
                .setRole("Editors", users: ["member", "suspended"]),
                .setAccountStatus(.restricted, user: "suspended"), .setRole("Readers", users: ["zoe", "former"]),
                .setRole("Editors", users: ["former", "zoe"]),
            ])
        let pasts = try PastRequests(of: store)
        let commit = try #require(try store.log.commit(at: store.offset))
        #expect(
            try pasts.asked(by: commit)?.request?.content
                == .administer(.setRole("Editors", users: ["former", "zoe"])))
    }

    @Test func `roles and grants survive compaction and a new opening`() throws {
        let disk = SimulatedDisk()
        let platform = Platform(files: disk)
        let first = try Store.open(at: "/Roles.strata", platform: platform)
        let client = Client(of: first).with { $0.scope = .public }
        try client.save("a", ["n": .int64(1)])
        try client.declare("Note", [], grants: [SchemaGrant("Editors", .read), SchemaGrant("_icloud", .create)])
        try first.setRole("Editors", of: ["ed"])
        _ = try first.compact(before: first.offset + 1)
        try first.close()
        let again = try Store.open(at: "/Roles.strata", platform: platform)
        let id = client.id("a")
        func code(_ user: String) -> Refusal.Code? {
            thrownRefusal { _ = try again.snapshot().record(id, in: DatabaseID(.public), as: Actor(user: user)) }?.code
        }
        #expect(code("ed") == nil && code("anna") == .permissionFailure && code("") == .permissionFailure)
        // A reader sees the grants of the state that it reads, and those of the next at once.
        let old = again.snapshot()
        let grants = [SchemaGrant("_creator", .read)]
        try again.declareSchema(SchemaDefinition(recordTypes: [SchemaDefinition.RecordType("Note", grants: grants)]))
        #expect(code("ed") == .permissionFailure && code("anna") == nil)
        #expect(throws: Never.self) { try old.record(id, in: DatabaseID(.public), as: Actor(user: "ed")) }
        try again.close()
    }
}

private func thrownRefusal(_ body: () throws -> Void) -> Refusal? {
    do { try body() } catch { return error as? Refusal }
    return nil
}

extension Store {
    /// Returns the members of a custom role, in the order in which the store first knew them.
    fileprivate func members(ofRole role: String) throws -> [String] {
        let newest = snapshot()
        return try newest.trees.users(inRole: role).map { try newest.names.user($0, in: newest.trees) }
    }
}
