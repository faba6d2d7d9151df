import StrataModel
import StrataRules
import StrataViews
import Testing

@testable import StrataStore

/// Identity and names: B1 to B7, B266.
@Suite struct NameRuleTests {
    private let client: Client
    private typealias Save = Client.Save

    init() throws { client = try Client() }

    @Test func `B1 the default zone of the default owner takes records without anything said`() throws {
        try client.save("a", in: "_defaultZone")
        #expect(client.codes([Save("b", owner: "__defaultOwner__")]) == [nil])
        #expect(try client.fetch("a", owner: "__defaultOwner__").get().id.name == "a")
        #expect(client.exists("b"))
    }

    @Test func `B2 an ID is unique in its database, by zone and name, and free in others`() throws {
        #expect(client.zones(save: ["Notes"]) == [nil])
        let shared = client.with { $0.scope = .public }
        let ben = client.with { $0.user = "ben" }
        try client.save("a", ["n": .int64(1)])
        try client.save("a", ["n": .int64(2)], in: "Notes")
        try shared.save("a", ["n": .int64(3)])
        try ben.save("a", ["n": .int64(4)])
        #expect(try client.fields("a") == ["n": .int64(1)])
        #expect(try client.fields("a", in: "Notes") == ["n": .int64(2)])
        #expect(try shared.fields("a") == ["n": .int64(3)])
        #expect(try ben.fields("a") == ["n": .int64(4)])
        #expect(client.codes([Save("a")]) == [.serverRecordChanged])
    }

    @Test func `B2 names are compared byte by byte`() throws {
        try client.save("\u{E9}")
        try client.save("e\u{301}")
        #expect(client.codes(deletes: ["\u{E9}"]) == [nil])
        #expect(!client.exists("\u{E9}") && client.exists("e\u{301}"))
    }

    @Test func `B3 a record name has 1 to 255 characters, none of them for control, no underscore in front`() {
        for name in ["", "_a", "a\n", "a\u{7F}", "\u{85}", text(256), String(repeating: "\u{1F600}", count: 128)] {
            #expect(client.codes([Save(name)]) == [.invalidArguments], "\(name)")
        }
        for name in ["a", "a_", " ", text(255), String(repeating: "\u{E9}", count: 255), "\u{1F600}/\\"] {
            #expect(client.codes([Save(name)]) == [nil], "\(name)")
            #expect(client.exists(name), "\(name)")
        }
    }

    @Test func `B4 a zone name has 1 to 255 characters, no underscore in front but for the system's`() throws {
        for name in ["", "_a", "a\n", text(256)] {
            #expect(client.zones(save: [name]) == [.invalidArguments], "\(name)")
        }
        for name in ["a", text(255), String(repeating: "\u{E9}", count: 255), "_defaultZone"] {
            #expect(client.zones(save: [name]) == [nil], "\(name)")
            #expect(try client.fetchedZone(name).id.name == name)
        }
    }

    @Test func `B5 the owner may be left out, or named in two ways, and means the current user`() throws {
        let recordName = client.store.recordName(of: "anna")
        #expect(client.zones(save: ["Notes"], owner: "__defaultOwner__") == [nil])
        let notes = client.with { $0.zone = "Notes" }
        #expect(notes.codes([Save("a", owner: recordName)]) == [nil])
        #expect(notes.codes([Save("a"), Save("a", owner: recordName)]) == [.invalidArguments])
        for owner in ["", "__defaultOwner__", recordName] {
            #expect(try notes.fetch("a", owner: owner).get().id.name == "a")
            #expect(try notes.fetchedZone("Notes", owner: owner).recordCount == 1)
        }
    }

    @Test func `B5 what is handed out can be handed in again`() throws {
        #expect(client.zones(save: ["Notes"]) == [nil])
        for zone in try client.store.snapshot().zones(in: client.database, as: client.actor) {
            #expect(client.codes([Save("a", in: zone.id.name, owner: zone.id.owner)]) == [nil])
            let fetched = try client.fetchedZone(zone.id.name, owner: zone.id.owner)
            #expect(fetched.id == zone.id && fetched.recordCount > 0)
            let id = RecordID("a", zone: zone.id)
            let record = try client.store.snapshot().record(id, in: client.database, as: client.actor)
            #expect(record.id == id)
        }
    }

    @Test func `B6 a record type is a letter, then letters, digits and underscores`() throws {
        for type in ["", "1a", "_a", "a-b", "a b", "\u{E9}", text(256)] {
            #expect(client.codes([Save("a", type: type)]) == [.invalidArguments], "\(type)")
        }
        for (index, type) in ["a", "Z9_", text(255)].enumerated() {
            #expect(client.codes([Save("a\(index)", type: type)]) == [nil], "\(type)")
            #expect(try client.fetch("a\(index)").get().type == type)
        }
        #expect(client.codes([Save("a", type: "Users")]) == [.permissionFailure])
    }

    @Test func `B6 a record keeps its type`() throws {
        try client.save("a")
        let refusal = try client.with { $0.policy = .allKeys }.refusal(Save("a", type: "Task"))
        #expect(refusal.code == .invalidArguments && refusal.message.contains("Note"))
        #expect(refusal.message.contains("Task"))
    }

    @Test func `B7 a key is a letter, then letters, digits and underscores, and comes once`() throws {
        for key in ["", "1a", "_a", "a-b", "\u{E9}", text(256)] {
            var save = Save("a")
            save.fields = [(key, .int64(1))]
            #expect(client.codes([save]) == [.invalidArguments], "\(key)")
            save.fields = [(key, nil)]
            #expect(client.codes([save]) == [.invalidArguments], "\(key)")
        }
        #expect(client.codes([Save("a", ["n": .int64(1), "n": .int64(2)])]) == [.invalidArguments])
        var save = Save("a")
        save.fields = [(text(255), .int64(1)), ("Z9_", .int64(2))]
        #expect(client.codes([save]) == [nil])
        #expect(try client.fields("a") == [text(255): .int64(1), "Z9_": .int64(2)])
    }

    @Test func `a bad item is refused alone, and the answer can be had again`() throws {
        let bad = [
            Save(""), Save(text(4_096)), Save("b", type: text(4_096)), Save("c", in: text(4_096)),
            Save("d", owner: text(4_096)), Save("f", ["n": link(text(4_096))]), Save("g", parent: text(4_096)),
        ]
        for (index, save) in bad.enumerated() {
            let client = client.with { $0.token = [UInt8(index)] }
            let good = Save("good-\(index)")
            let first = client.modify([good, save])
            #expect(first.codes.first == .some(nil) && first.codes.last != .some(nil), "\(index): \(first)")
            #expect(client.modify([good, save]) == first, "\(index)")
        }
        #expect(
            client.codes([Save("h")], deletes: [.init(text(4_096)), .init("x", in: "y")]) == [nil, nil, .zoneNotFound])
    }

    @Test func `a name that no commit has room for fails the request`() throws {
        let long = text(4_097)
        var key = Save("e")
        key.fields = [(long, nil)]
        let bad = [
            Save(long), Save("b", type: long), Save("c", in: long), Save("d", owner: long), key,
            Save("f", ["n": link(long)]), Save("g", ["n": try list(link(long))]), Save("h", parent: long),
        ]
        for save in bad { #expect(client.codes([Save("good"), save]) == [.invalidArguments]) }
        #expect(client.codes([Save("good")], deletes: [.init(long)]) == [.invalidArguments])
        #expect(client.zones(save: ["A", long]) == [.invalidArguments])
        #expect(client.zones(save: ["A"], delete: [long]) == [.invalidArguments])
        #expect(client.zones(save: ["A"], owner: long) == [.invalidArguments])
        #expect(client.store.offset == 0)
    }

    @Test func `B266 an owner who is somebody else has no zone here`() throws {
        try client.with { $0.user = "ben" }.save("a")
        for owner in ["ben", client.store.recordName(of: "ben"), "anna"] {
            for scope in [InternedName.Scope.private, .public] {
                let client = client.with { $0.scope = scope }
                #expect(client.codes([Save("a", owner: owner)]) == [.zoneNotFound])
                #expect(client.codes(deletes: [.init("a", owner: owner)]) == [.zoneNotFound])
                #expect(client.fetch("a", owner: owner).refusal?.code == .zoneNotFound)
            }
            #expect(client.zones(save: ["Notes"], owner: owner) == [.zoneNotFound])
            #expect(client.zones(save: ["_defaultZone"], owner: owner) == [.zoneNotFound])
            #expect(client.zones(delete: ["_defaultZone"], owner: owner) == [.zoneNotFound])
        }
    }

    @Test func `B266 who looks the same is somebody else still`() throws {
        let (composed, decomposed) = ("andr\u{E9}", "andre\u{301}")
        try client.with { $0.user = composed }.save("a", ["n": .int64(1)])
        let other = client.with { $0.user = decomposed }
        #expect(other.fetch("a").refusal?.code == .unknownItem)
        let database = DatabaseID(.private, owner: composed)
        let snapshot = client.store.snapshot()
        #expect(throws: Refusal.self) { try snapshot.record(other.id("a"), in: database, as: other.actor) }
        var request = other.request([Save("b")])
        request.database = database
        #expect(other.ask(request).map(\.result).codes == [.zoneNotFound])
    }

    @Test func `B266 a database may be named by its owner, and only by its owner`() throws {
        try client.save("a")
        for owner in ["", "anna", "__defaultOwner__", client.store.recordName(of: "anna")] {
            var request = client.request([Save("b-\(owner)")])
            request.database.owner = owner
            #expect(client.ask(request).map(\.result).codes == [nil])
            let snapshot = client.store.snapshot()
            #expect(throws: Never.self) {
                try snapshot.record(client.id("a"), in: DatabaseID(.private, owner: owner), as: client.actor)
            }
        }
        var request = client.request([Save("c")])
        request.database.owner = "ben"
        #expect(client.ask(request).map(\.result).codes == [.zoneNotFound])
    }
}
