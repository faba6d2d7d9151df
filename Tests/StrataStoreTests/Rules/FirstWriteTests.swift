import StrataModel
import StrataViews
import Testing

@testable import StrataStore

/// B265: the first write of a user, or to a database, makes what was only assumed.
@Suite struct FirstWriteTests {
    private let client: Client
    private typealias Save = Client.Save

    init() throws { client = try Client() }

    @Test func `B265 before the first write everything is empty, and nothing is written by asking`() throws {
        for scope in [InternedName.Scope.private, .public] {
            let client = client.with { $0.scope = scope }
            #expect(client.fetch("a").refusal?.code == .unknownItem)
            #expect(client.fetch("a", in: "Notes").refusal?.code == .zoneNotFound)
            #expect(client.fetch(client.store.recordName(of: "anna")).refusal?.code == .unknownItem)
            #expect(try client.fetchedZone("_defaultZone").version == Version(offset: 0, eventIndex: 0))
            #expect(client.codes([Save("_a")], deletes: ["b"]) == [.invalidArguments, nil])
        }
        #expect(client.zones(save: ["_defaultZone"]) == [nil])
        #expect(client.zones(save: ["_a"], delete: ["b"]) == [.invalidArguments, .zoneNotFound])
        #expect(client.store.offset == 0)
    }

    @Test func `B265 the first write makes both databases and both user records in its commit`() throws {
        try client.save("a")
        #expect(client.store.offset == 1)
        let kinds = try client.events(at: 1).map(\.kind).filter { $0 != .nameInterned }
        #expect(
            kinds == [
                .userRecordNamed, .deviceSeen, .databaseCreated, .zoneSaved, .recordSaved, .databaseCreated, .zoneSaved,
                .recordSaved, .recordSaved, .secretDrawn, .rulesStated,
            ])
        for scope in [InternedName.Scope.private, .public] {
            let client = client.with { $0.scope = scope }
            let record = try client.fetch(client.store.recordName(of: "anna")).get()
            #expect(try record.createdBy == "anna" && record.modifiedWith == "phone")
            #expect(record.created == client.time.nowMicroseconds())
        }
        try client.save("b")
        #expect(try client.events(at: 2).map(\.kind) == [.recordSaved])
    }

    @Test func `B265 the second user gets a database and both records, a second device is seen`() throws {
        try client.save("a")
        let ben = client.with { $0.user = "ben" }
        #expect(ben.zones(save: ["Notes"]) == [nil])
        #expect(
            try client.events(at: 2).map(\.kind).filter { $0 != .nameInterned }
                == [
                    .userRecordNamed, .deviceSeen, .databaseCreated, .zoneSaved, .recordSaved, .recordSaved, .zoneSaved,
                ])
        #expect(ben.exists(client.store.recordName(of: "ben")) && !client.exists(client.store.recordName(of: "ben")))
        #expect(client.with { $0.scope = .public }.exists(client.store.recordName(of: "ben")))
        try client.with { $0.device = "laptop" }.save("b")
        #expect(try client.events(at: 3).map(\.kind) == [.nameInterned, .deviceSeen, .recordSaved])
    }

    @Test(arguments: [InternedName.Scope.private, .public])
    func `B265 a first write may be that of the user record itself`(_ scope: InternedName.Scope) throws {
        let name = client.store.recordName(of: "anna")
        let client = client.with { $0.scope = scope }
        #expect(client.codes([Save(name, ["nick": .string("Ann")], type: "Users")]) == [nil])
        #expect(try client.fields(name) == ["nick": .string("Ann")])
        let other = client.with { $0.scope = scope == .public ? .private : .public }
        #expect(try other.fields(name).isEmpty)
        #expect(try client.lastChanges() == [.create, .create])
    }

    @Test func `B265 a request that fails in part makes what the rest needs`() throws {
        #expect(client.codes([Save("a", in: "Nowhere"), Save("b")]) == [.zoneNotFound, nil])
        #expect(client.exists(client.store.recordName(of: "anna")) && client.exists("b"))
        #expect(client.with { $0.scope = .shared }.codes([Save("c")]) == [.zoneNotFound])
    }
}
