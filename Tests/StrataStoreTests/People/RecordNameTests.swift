import StrataModel
import StrataSystem
import StrataViews
import TestSupport
import Testing

@testable import StrataStore

/// The names of users' own records, which a store derives from its secret: docs/rules.md §1, docs/security.md §2.
@Suite("Names of users' own records", .timeLimit(.minutes(2)))
struct RecordNameTests {
    private typealias Save = Client.Save

    private static let users = ["anna", "ben", "cleo"]

    private static func write(as user: String, to store: Store) throws {
        try store.modify(.zones(saving: [ZoneID("Notes")]), as: Actor(user: user, device: "phone"))
    }

    private static func names(of users: [String] = Self.users, in store: Store) -> [String] {
        users.map { store.recordName(of: $0) }
    }

    @Test("Two stores give the same user different names, which do not tell the user")
    func twoStores() throws {
        let stores = try [Store.inMemory(), Store.inMemory()]
        defer { for store in stores { try? store.close() } }
        for store in stores {
            for user in Self.users { try Self.write(as: user, to: store) }
        }
        let names = stores.flatMap { Self.names(in: $0) }
        #expect(Set(names).count == 2 * Self.users.count)
        for name in names {
            let digits = name.dropFirst()
            let isHexadecimal = digits.allSatisfy { "0123456789abcdef".contains($0) }
            #expect(name.hasPrefix("_") && digits.count == 32 && isHexadecimal, "\(name)")
        }
        for store in stores {
            for user in Self.users {
                let (name, earlier) = (store.recordName(of: user), UserRecord.earlierName(of: user))
                #expect(name != earlier)
                #expect(try store.snapshot().recordedName(of: user) == name)
                #expect(try store.user(named: name) == user)
                #expect(try store.user(named: earlier) == nil, "\(user) can be guessed")
            }
        }
    }

    @Test("The name is derived from the store's secret, as docs/security.md says")
    func derived() throws {
        let store = try Store.inMemory()
        defer { try? store.close() }
        for user in Self.users { try Self.write(as: user, to: store) }
        let secret = try #require(try store.snapshot().trees.secret())
        let expected = Self.users.map { user in
            "_" + secret.hash(.userRecord, Array(user.utf8)).map { hexadecimal($0) }.joined()
        }
        #expect(Self.names(in: store) == expected)
    }

    /// Everything that must not change when a store is opened again.
    private static func expect(
        _ names: [String: String], _ digests: Digests, in store: Store, _ step: String,
        _ location: SourceLocation = #_sourceLocation
    ) throws {
        for (user, name) in names {
            #expect(store.recordName(of: user) == name, "\(user), \(step)", sourceLocation: location)
            #expect(try store.user(named: name) == user, "\(step)", sourceLocation: location)
            let guessed = try store.user(named: UserRecord.earlierName(of: user))
            #expect(guessed == nil, "\(user), \(step)", sourceLocation: location)
        }
        #expect(try store.snapshot().digests() == digests, "\(step)", sourceLocation: location)
        #expect(try store.differencesFromLog().isEmpty, "\(step)", sourceLocation: location)
    }

    @Test("A name stays when the store is opened again, its history compacted, and its views folded again")
    func kept() throws {
        var home = try ReopenedStore()
        for user in Self.users { try Self.write(as: user, to: home.store) }
        try home.store.setPerson(Person(), of: "dora", recordName: "_dora")
        var names = ["dora": "_dora"]
        for user in Self.users { names[user] = home.store.recordName(of: user) }
        let digests = try home.store.snapshot().digests()
        try home.reopen()
        try Self.expect(names, digests, in: home.store, "opened again")
        try home.reopen(removingViews: true)
        #expect(home.store.opening?.views == .missing)
        try Self.expect(names, digests, in: home.store, "folded again")
        // With one commit behind the base, and with none.
        let end = home.store.offset
        for horizon in [end, end + 1] {
            try home.store.compact(before: horizon)
            #expect(home.store.log.floor.offset == horizon - 1)
            try Self.expect(names, digests, in: home.store, "compacted before \(horizon)")
            for isFolded in [false, true] {
                try home.reopen(removingViews: isFolded)
                try Self.expect(names, digests, in: home.store, "compacted before \(horizon), folded: \(isFolded)")
            }
        }
        // It meets users as before.
        let asked = home.store.recordName(of: "erik")
        try Self.write(as: "erik", to: home.store)
        #expect(try home.store.snapshot().recordedName(of: "erik") == asked)
        #expect(asked != UserRecord.earlierName(of: "erik"))
        try home.store.close()
    }

    @Test(
        "The name that is asked for before the first write is the one that this write records; asking writes nothing",
        arguments: [InternedName.Scope.private, .public])
    func askedBefore(_ scope: InternedName.Scope) throws {
        let home = Client(of: try Store.inMemory())
        // The first commit of the store, which draws the secret, and a later one.
        for (index, user) in ["anna", "ben"].enumerated() {
            let client = home.with { ($0.user, $0.scope) = (user, scope) }
            let asked = client.store.recordName(of: user)
            #expect(client.fetch(asked).refusal?.code == .unknownItem)
            #expect(try client.store.user(named: asked) == nil)
            #expect(try client.store.snapshot().recordedName(of: user) == nil)
            #expect(try client.store.snapshot().person(of: user) == nil)
            #expect(client.store.recordName(of: user) == asked && client.store.offset == UInt64(index))
            // The same name spells the user's own zones.
            let owner = scope == .private ? asked : ""
            #expect(client.codes([Save("note of \(user)", owner: owner)]) == [nil])
            #expect(client.store.offset == UInt64(index) + 1)
            #expect(try client.store.snapshot().recordedName(of: user) == asked)
            #expect(try client.store.user(named: asked) == user)
            for scope in [InternedName.Scope.private, .public] {
                let record = try client.with { $0.scope = scope }.fetch(asked).get()
                #expect(try record.createdBy == user && record.type == UserRecord.type)
                #expect(try record.recordName(of: record.createdBy) == asked)
            }
        }
    }

    @Test("The past names users as the present does, also those whom it had not met")
    func past() throws {
        let store = try Store.inMemory()
        defer { try? store.close() }
        for user in Self.users { try Self.write(as: user, to: store) }
        let names = Self.names(in: store)
        for offset in 0...store.offset {
            let past = try store.asOf(offset)
            #expect(Self.names(in: past) == names, "at \(offset)")
            try past.close()
        }
    }

    @Test("A name that an import gave to one user and that another one has by the old way leads to the first")
    func nameOfAnother() throws {
        var home = try ReopenedStore()
        let name = UserRecord.earlierName(of: "anna")
        try home.store.setPerson(Person(), of: "carl", recordName: name)
        for user in ["anna", "carl"] { try Self.write(as: user, to: home.store) }
        // Whom the store meets first makes no difference.
        try Self.write(as: "ben", to: home.store)
        let other = UserRecord.earlierName(of: "ben")
        try home.store.setPerson(Person(), of: "dora", recordName: other)
        let anna = home.store.recordName(of: "anna")
        let digests = try home.store.snapshot().digests()
        for step in 0..<3 {
            if step > 0 { try home.store.compact(before: home.store.offset + UInt64(step) - 1) }
            for isFolded in [false, true] {
                try home.reopen(removingViews: isFolded)
                let store = home.store
                #expect(store.recordName(of: "carl") == name && store.recordName(of: "dora") == other)
                #expect(store.recordName(of: "anna") == anna && anna != name)
                #expect(try store.user(named: name) == "carl" && store.user(named: anna) == "anna")
                #expect(try store.user(named: other) == "dora")
                #expect(try store.snapshot().digests() == digests && store.differencesFromLog().isEmpty)
            }
        }
        try home.store.close()
    }
}
