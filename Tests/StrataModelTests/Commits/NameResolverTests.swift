import StrataModel
import Testing

@Suite("Looking up what ordinals stand for")
struct NameResolverTests {
    private let names: NameTable

    init() throws {
        var names = NameTable()
        for (ordinal, name) in [
            (1, .user("anna")), (1, .device(user: 1, "phone")), (1, .database(.public, owner: 0)),
            (2, .database(.private, owner: 1)), (3, .database(.private, owner: 9)),
            (1, .zone(database: 2, owner: 1, "Notes")), (2, .zone(database: 9, owner: 1, "Lost")),
            (1, .recordType("Note")), (1, .field("title")),
        ] as [(UInt64, InternedName.Name)] {
            try names.add(InternedName(ordinal: ordinal, name: name))
        }
        self.names = names
    }

    @Test("A zone is found with its database and the database's owner")
    func zones() throws {
        let zone = try #require(try names.zone(1))
        #expect(zone.name == "Notes" && zone.database == DatabaseID(.private, owner: "anna"))
        #expect(try names.database(1) == DatabaseID(.public))
        #expect(try names.databaseOrdinal(ofZone: 2) == 9)
    }

    @Test("A lookup that depends on a missing name is nil, not an empty name")
    func missingNames() throws {
        #expect(try names.zone(2) == nil && names.zone(3) == nil && names.zone(0) == nil)
        #expect(try names.database(3) == nil && names.database(4) == nil)
        #expect(try names.user(2) == nil && names.device(0) == nil && names.databaseOrdinal(ofZone: 3) == nil)
        #expect(try names.recordType(1) == "Note" && names.field(1) == "title" && names.field(2) == nil)
    }

    @Test("The text of an ordinal without a name is an error that says which")
    func unnamed() throws {
        #expect(try names.text(.recordType, 1) == "Note")
        let error = try #require(throws: StrataError.self) { try names.text(.recordType, 7) }
        #expect(error.code == .malformed && "\(error)".contains("record type") && "\(error)".contains("ordinal 7"))
    }

    @Test("A commit's actor is its user and device, the service, or nil")
    func actors() throws {
        func actor(_ user: UInt64, _ device: UInt64, _ interned: [InternedName] = []) throws -> Actor? {
            try names.actor(of: EnvelopeHeader(user: user, device: device), interned)
        }
        #expect(try actor(1, 1) == Actor(user: "anna", device: "phone"))
        #expect(try actor(0, 0) == .service)
        #expect(try actor(1, 2) == nil && actor(2, 1) == nil)
        let new = [InternedName(ordinal: 2, name: .device(user: 1, "pad"))]
        #expect(try actor(1, 2, new) == Actor(user: "anna", device: "pad"))
        // The ordinals of another namespace do not count.
        #expect(try actor(1, 2, [InternedName(ordinal: 2, name: .user("bert"))]) == nil)
    }
}
