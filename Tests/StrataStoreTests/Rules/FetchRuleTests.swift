import StrataModel
import StrataRules
import StrataViews
import TestSupport
import Testing

@testable import StrataStore

/// Fetching by ID: B110 to B112, B115 to B117, B220.
@Suite struct FetchRuleTests {
    private let client: Client
    private typealias Save = Client.Save

    init() throws {
        client = try Client()
        #expect(client.zones(save: ["Notes"]) == [nil])
    }

    private func fetch(_ ids: [RecordID], _ desiredKeys: [String]? = nil) throws -> [Result<Record, Refusal>] {
        try client.store.snapshot().records(ids, in: client.database, desiredKeys: desiredKeys, as: client.actor)
    }

    @Test func `B110 a missing record is missing alone, B112 and IDs may span zones`() throws {
        try client.save("a")
        try client.save("b", in: "Notes")
        let ids = [
            client.id("a"), client.id("nothing"), client.id("b", in: "Notes"), client.id("a", in: "Notes"),
            client.id("a", in: "Nowhere"), client.id("a"), client.id("", owner: "ben"),
        ]
        let results = try fetch(ids)
        #expect(
            results.map { $0.refusal?.code }
                == [nil, .unknownItem, nil, .unknownItem, .zoneNotFound, nil, .zoneNotFound])
        #expect(zip(ids, results).allSatisfy { id, result in (try? result.get().id == id) ?? true })
        #expect(try fetch([]).isEmpty)
    }

    @Test func `B110 many records together, in queries and in feeds, are what each is alone`() throws {
        var saves: [Save] = []
        for number in 0..<150 {
            let name = number % 10 == 0 ? String(repeating: "ü", count: 200) + "\(number)" : "a\(number)"
            for zone in [nil, "Notes"] {
                saves.append(Save(name, ["n": .int64(Int64(number)), "s": .string(text(number * 4))], in: zone))
            }
        }
        #expect(client.codes(saves).allSatisfy { $0 == nil })
        var ids =
            saves.map { client.id($0.name, in: $0.zone) } + [
                client.id("gone"), client.id(String(repeating: "ü", count: 201)),
            ]
        ids += [client.id("a1", in: "Nowhere"), client.id("a1"), client.id("a1", in: "Notes")]
        var random = SeededGenerator(seed: 1)
        ids.shuffle(using: &random)
        let snapshot = client.store.snapshot()
        for keys in [nil, ["s"], []] as [[String]?] {
            for (id, together) in zip(ids, try fetch(ids, keys)) {
                let alone: Record
                do {
                    alone = try snapshot.record(id, in: client.database, desiredKeys: keys, as: client.actor)
                } catch let refusal as Refusal {
                    try #require(together.refusal?.code == refusal.code)
                    continue
                }
                let together = try together.get()
                try #require(together.id == id && alone.id == id && together.version == alone.version)
                try #require(try together.fields == alone.fields && together.type == alone.type)
            }
        }
        let found = try client.find(limit: 400).matches
        #expect(found.count == 300)
        let page = try client.store.zoneChanges(
            of: ZoneID("Notes"), in: client.database, limit: 400, as: client.actor)
        #expect(page.changed.count == 150 && Set(page.changed.map(\.id)).count == 150)
        for record in found + page.changed {
            let alone = try snapshot.record(record.id, in: client.database, as: client.actor)
            try #require(try record.version == alone.version && record.fields == alone.fields)
        }
    }

    @Test func `B110 a snapshot that several users read in turn shows each their own records`() throws {
        let users = ["anna", "ben", "carl", ""].map { name in client.with { $0.user = name } }
        try users[0].save("a", ["n": .int64(0)])
        try users[1].save("a", ["n": .int64(1)])
        #expect(users[1].zones(save: ["Notes"]) == [nil])
        try users[1].save("a", ["n": .int64(2)], in: "Notes")
        let snapshot = client.store.snapshot()
        func ask(_ user: Client, _ zone: String?) -> (number: FieldValue?, refusal: Refusal.Code?) {
            do {
                let id = client.id("a", in: zone)
                return (try snapshot.record(id, in: user.database, as: user.actor)["n"], nil)
            } catch { return (nil, (error as? Refusal)?.code) }
        }
        for _ in 0..<3 {
            #expect(ask(users[0], nil) == (.int64(0), nil) && ask(users[1], nil) == (.int64(1), nil))
            #expect(ask(users[0], "Notes") == (nil, .unknownItem) && ask(users[1], "Notes") == (.int64(2), nil))
            #expect(ask(users[2], nil) == (nil, .unknownItem) && ask(users[2], "Notes") == (nil, .zoneNotFound))
            #expect(ask(users[3], nil) == (nil, .notAuthenticated))
        }
    }

    @Test func `B111 desired keys limit the fields, and nothing else`() throws {
        try client.save("parent")
        try client.save("a", ["n": .int64(1), "s": .string("text")], parent: "parent")
        func fields(_ keys: [String]?) throws -> [String: FieldValue] {
            try #require(try fetch([client.id("a")], keys).first).get().fields
        }
        #expect(try fields(nil) == ["n": .int64(1), "s": .string("text")])
        #expect(try fields([]) == [:])
        #expect(try fields(["s", "s", "unknown", ""]) == ["s": .string("text")])
        let record = try #require(try fetch([client.id("a")], []).first).get()
        #expect(try record["n"] == nil && record.parent == "parent" && record.type == "Note")
        #expect(try record.createdBy == "anna" && record.version == client.fetch("a").get().version)
    }

    @Test func `B115 a fetch after a save sees it, and an old snapshot does not`() throws {
        var version: Version?
        for number in 0..<20 {
            let before = client.store.snapshot()
            version = try client.save("a", ["n": .int64(Int64(number))], base: version)
            #expect(try client.fields("a") == ["n": .int64(Int64(number))])
            let old = Result { try before.record(client.id("a"), in: client.database, as: client.actor) }
            #expect((try? old.get().version) != version)
        }
    }

    @Test func `B116 a user has a record in both databases, which begins empty and can be changed`() throws {
        let name = client.store.recordName(of: "anna")
        for scope in [InternedName.Scope.private, .public] {
            let client = client.with { $0.scope = scope }
            let record = try client.fetch(name).get()
            #expect(try record.type == "Users" && record.fields.isEmpty && record.createdBy == "anna")
            let save = Save(name, ["nick": .string("Ann")], type: "Users", base: record.version)
            #expect(client.codes([save]) == [nil])
            #expect(try client.fields(name) == ["nick": .string("Ann")])
            #expect(client.codes([Save(name, type: "Note")]) == [.invalidArguments])
            #expect(client.codes([Save("other", type: "Users")]) == [.permissionFailure])
            #expect(client.codes(deletes: [.init(name)]) == [.permissionFailure])
            let change = [Save(name, ["nick": .string("x")], type: "Users", base: try client.fetch(name).get().version)]
            let ben = client.with { $0.user = "ben" }
            #expect(ben.codes(change) == [.permissionFailure])
        }
        #expect(try client.fields(name) == ["nick": .string("Ann")])
    }

    @Test func `B117 more IDs than the limit are refused`() throws {
        let ids = (0...400).map { client.id("a\($0)") }
        let store = client.store
        #expect(try store.fetch(Array(ids[..<400]), in: client.database, as: client.actor).count == 400)
        let refused = #expect(throws: Refusal.self) { try store.fetch(ids, in: client.database, as: client.actor) }
        #expect(refused?.code == .limitExceeded)
        let embedded = try Client(.embedded)
        #expect(try embedded.store.fetch(ids, in: client.database, as: client.actor).count == 401)
    }

    @Test func `B220 without an account the public database can be read, and nothing else be done`() throws {
        try client.with { $0.scope = .public }.save("a", ["n": .int64(1)])
        let nobody = client.with { $0.user = "" }
        for scope in InternedName.Scope.allCases {
            let nobody = nobody.with { $0.scope = scope }
            #expect(nobody.codes([Save("a")]) == [.notAuthenticated])
            #expect(nobody.codes() == [.notAuthenticated])
            #expect(nobody.zones(save: ["A"]) == [.notAuthenticated])
            #expect(nobody.fetch("a").refusal?.code == (scope == .public ? nil : .notAuthenticated))
        }
        #expect(try nobody.with { $0.scope = .public }.fields("a") == ["n": .int64(1)])
    }

    @Test func `B222 public records are everybody's to read and their creator's to write`() throws {
        let anna = client.with { ($0.scope, $0.policy) = (.public, .changedKeys) }
        let ben = anna.with { $0.user = "ben" }
        try anna.save("a", ["n": .int64(1)])
        #expect(ben.codes([Save("a", ["n": .int64(2)])], deletes: ["b"]) == [.permissionFailure, nil])
        #expect(ben.codes([Save("b")], deletes: ["a"]) == [nil, .permissionFailure])
        #expect(try ben.fields("a") == ["n": .int64(1)])
        #expect(try ben.fetch("b").get().createdBy == "ben")
        #expect(anna.codes([Save("a", ["n": .int64(3)])], deletes: ["b"]) == [nil, .permissionFailure])
        #expect(anna.codes(deletes: ["a"]) == [nil])
        // What is free is anybody's to make.
        #expect(ben.codes([Save("a")]) == [nil])
        #expect(anna.codes([Save("a")]) == [.permissionFailure])
    }

    @Test func `B222 a cascade takes what others tied to a record`() throws {
        let anna = client.with { $0.scope = .public }
        let ben = anna.with { $0.user = "ben" }
        try anna.save("a")
        try ben.save("b", ["owner": owner("a")])
        #expect(anna.codes(deletes: ["a"]) == [nil])
        #expect(!anna.exists("b"))
    }
}
