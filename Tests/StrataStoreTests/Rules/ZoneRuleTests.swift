import StrataModel
import Testing

@testable import StrataStore

/// Zones: B30 to B39, B256, B257.
@Suite struct ZoneRuleTests {
    private let client: Client
    private let notes: Client
    private typealias Save = Client.Save

    init() throws {
        client = try Client()
        notes = client.with { $0.zone = "Notes" }
    }

    private func names(_ client: Client) throws -> [String] {
        try client.store.snapshot().zones(in: client.database, as: client.actor).map(\.id.name)
    }

    @Test func `B30 private and public databases have a default zone without capabilities; the shared one has none`()
        throws
    {
        for round in 0..<2 {
            for scope in [InternedName.Scope.private, .public] {
                let client = client.with { $0.scope = scope }
                #expect(try names(client) == ["_defaultZone"])
                #expect(try client.fetchedZone("_defaultZone").capabilities == [])
                try client.save("a-\(round)")
            }
            let shared = client.with { $0.scope = .shared }
            #expect(try names(shared) == [])
            #expect(throws: Refusal.self) { try shared.fetchedZone("_defaultZone") }
            #expect(shared.fetch("a").refusal?.code == .zoneNotFound)
        }
    }

    @Test func `B31 zones are made and deleted in the private database only`() throws {
        for scope in [InternedName.Scope.public, .shared] {
            let client = client.with { $0.scope = scope }
            #expect(client.zones(save: ["Notes"]) == [.badDatabase])
            // A zone that was never shared does not belong to the shared database (B358).
            #expect(client.zones(delete: ["Notes"]) == [scope == .shared ? .invalidArguments : .badDatabase])
            #expect(client.zones(save: ["_defaultZone"]) == [.badDatabase])
            #expect(client.zones() == [])
        }
        #expect(client.zones(save: ["Notes"]) == [nil])
        #expect(client.with { $0.scope = .public }.codes([Save("a", in: "Notes")]) == [.zoneNotFound])
    }

    @Test func `B32 a zone must be there before its records`() throws {
        #expect(notes.codes([Save("a")]) == [.zoneNotFound])
        #expect(notes.fetch("a").refusal?.code == .zoneNotFound)
        #expect(client.store.offset == 0)
        #expect(client.zones(save: ["Notes"]) == [nil])
        #expect(notes.codes([Save("a")]) == [nil])
        #expect(notes.exists("a"))
    }

    @Test func `B33 the server says what a zone can do`() throws {
        #expect(client.zones(save: ["Notes"]) == [nil])
        #expect(try client.fetchedZone("Notes").capabilities == [.fetchChanges, .atomic, .sharing, .zoneWideSharing])
    }

    @Test func `B34 saving a zone that is there succeeds and writes nothing`() throws {
        #expect(client.zones(save: ["Notes"]) == [nil])
        try notes.save("a")
        let (offset, zone) = (client.store.offset, try client.fetchedZone("Notes"))
        #expect(client.zones(save: ["Notes"]) == [nil])
        #expect(client.store.offset == offset && notes.exists("a"))
        #expect(try client.fetchedZone("Notes") == zone)
    }

    @Test func `B35 deleting a zone deletes its records; a missing one fails alone`() throws {
        #expect(client.zones(save: ["Notes"]) == [nil])
        try notes.save("a")
        #expect(client.zones(delete: ["Nowhere", "Notes"]) == [.zoneNotFound, nil])
        #expect(notes.fetch("a").refusal?.code == .zoneNotFound)
        #expect(client.zones(delete: ["Notes"]) == [.zoneNotFound])
        #expect(client.zones(save: ["Notes"]) == [nil])
        #expect(notes.fetch("a").refusal?.code == .unknownItem)
        #expect(try client.fetchedZone("Notes").recordCount == 0)
    }

    @Test func `B36 zones are judged one by one, and none comes twice`() throws {
        #expect(client.zones(save: ["A", "_b", "C"], delete: ["D"]) == [nil, .invalidArguments, nil, .zoneNotFound])
        #expect(try names(client) == ["_defaultZone", "A", "C"])
        #expect(client.zones(save: ["E", "E"]) == [.invalidArguments])
        #expect(client.zones(save: ["A"], delete: ["A"]) == [.invalidArguments])
        #expect(client.zones(delete: ["A", "A"]) == [.invalidArguments])
        #expect(client.zones(save: ["_defaultZone"]) == [nil])
        #expect(client.zones(delete: ["_defaultZone"]) == [.invalidArguments])
        #expect(try names(client) == ["_defaultZone", "A", "C"])
    }

    @Test func `B37 the default zone is always listed, the others in the order of their making`() throws {
        #expect(try names(client) == ["_defaultZone"])
        #expect(client.zones(save: ["B", "A"]) == [nil, nil])
        #expect(client.zones(save: ["C"], delete: ["B"]) == [nil, nil])
        #expect(client.zones(save: ["B"]) == [nil])
        #expect(try names(client) == ["_defaultZone", "B", "A", "C"])
        #expect(try names(client.with { $0.user = "ben" }) == ["_defaultZone"])
    }

    @Test func `B38 a missing zone is not found; one that the user purged says so; a reset is marked`() throws {
        #expect(notes.codes([Save("a")]) == [.zoneNotFound])
        #expect(client.zones(save: ["Notes", "Secrets", "Plain"]) == [nil, nil, nil])
        try client.save("a", ["s": encrypted], in: "Secrets")
        try client.save("a", ["s": encrypted])
        try client.save("b", ["n": .int64(1)], in: "Plain")
        #expect(client.administer(purging: "Notes") == [nil])
        #expect(client.administer(purging: nil) == [])
        #expect(try names(client) == ["_defaultZone", "Plain"])
        #expect(notes.fetch("a").refusal?.code == .userDeletedZone)
        let refusal = try #require(client.fetch("a", in: "Secrets").refusal)
        #expect(refusal.code == .zoneNotFound && refusal.didResetEncryptedData)
        // Commits hold the message, and replays compare it.
        #expect(refusal.message == "Zone 'Secrets' was deleted when its user's encrypted data was reset.")
        #expect(client.fetch("a", in: "Nowhere").refusal?.didResetEncryptedData == false)
        #expect(client.exists("a") && client.exists("b", in: "Plain"))
        #expect(client.administer(purging: "Notes") == [.userDeletedZone])
        #expect(client.administer(purging: "_defaultZone") == [.invalidArguments])
        let offset = client.store.offset
        #expect(client.administer(purging: nil) == [] && client.store.offset == offset)
    }

    @Test func `B38 only the service purges and resets, and only that`() throws {
        #expect(client.zones(save: ["Notes"]) == [nil])
        let reset = Request(database: DatabaseID(.private, owner: "anna"), .administer(.resetEncryptedData))
        #expect(client.ask(reset).refusal?.code == .permissionFailure)
        #expect(client.ask(client.request([Save("a")]), as: .service).refusal?.code == .permissionFailure)
        for scope in [InternedName.Scope.public, .shared] {
            let request = Request(database: DatabaseID(scope, owner: "anna"), .administer(.resetEncryptedData))
            #expect(client.ask(request, as: .service).refusal?.code == .badDatabase)
        }
    }

    @Test func `B39 the encryption scope is for the zone's life`() throws {
        #expect(client.zones(save: ["Notes"], encryption: .zone) == [nil])
        #expect(try client.fetchedZone("Notes").encryptionScope == .zone)
        #expect(client.zones(save: ["Notes"], encryption: .record) == [.invalidArguments])
        #expect(client.zones(save: ["Notes"], encryption: .zone) == [nil])
        #expect(client.zones(delete: ["Notes"]) == [nil])
        #expect(client.zones(save: ["Notes"], encryption: .record) == [nil])
        #expect(try client.fetchedZone("Notes").encryptionScope == .record)
    }

    @Test func `B256 the end of a zone is one event`() throws {
        #expect(client.zones(save: ["Notes"]) == [nil])
        #expect(notes.codes([Save("a"), Save("b"), Save("c")]) == [nil, nil, nil])
        #expect(client.zones(delete: ["Notes"]) == [nil])
        #expect(try client.events(at: client.store.offset).map(\.kind) == [.zoneDeleted])
    }

    @Test func `B257 a purged zone says so until it is made again`() throws {
        #expect(client.zones(save: ["Notes"]) == [nil])
        #expect(client.administer(purging: "Notes") == [nil])
        for _ in 0..<2 {
            #expect(notes.codes([Save("a")], deletes: ["b"]) == [.userDeletedZone, .userDeletedZone])
            #expect(notes.fetch("a").refusal?.code == .userDeletedZone)
            #expect(client.zones(delete: ["Notes"]) == [.userDeletedZone])
            #expect(throws: Refusal(.userDeletedZone, "The user deleted zone 'Notes'.")) {
                try client.fetchedZone("Notes")
            }
        }
        #expect(client.zones(save: ["Notes"]) == [nil])
        #expect(notes.codes([Save("a")]) == [nil])
        #expect(client.zones(delete: ["Notes"]) == [nil])
        #expect(notes.fetch("a").refusal?.code == .zoneNotFound)
    }
}
