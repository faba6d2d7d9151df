import StrataModel
import Testing

@testable import StrataStore

@Suite("The table of a state's zones")
struct ZoneTableTests {
    private static let anna = Actor(user: "anna", device: "phone")

    /// Adds zones to the table of a state; returns the numbers of those that it has.
    private func kept(_ count: Int, as actor: Actor = anna) throws -> Set<Int> {
        let store = try Store.inMemory()
        _ = try store.modify(NoteRequest.makingZones(), as: actor)
        let state = store.snapshot()
        let place = try state.names.place(NoteRequest.database, actor, in: state.trees)
        func id(_ number: Int) -> ZoneID { ZoneID("Zone \(number)") }
        func known(_ number: Int) -> ZoneReader? {
            state.zoneTable.reader(of: id(number), in: NoteRequest.database, as: actor, state.trees)
        }
        for number in 0..<count {
            #expect(known(number) == nil)
            state.zoneTable.add(
                try ZoneReader(id(number), in: NoteRequest.database, as: actor, place, state.trees, state.context))
        }
        defer { try? store.close() }
        return Set((0..<count).filter { known($0)?.zone == id($0) })
    }

    @Test("It has each zone that was read", arguments: [1, 3, 4, 100])
    func few(count: Int) throws { #expect(try kept(count) == Set(0..<count)) }

    @Test("It has no more than 4,163")
    func bounded() throws {
        let count = try kept(6_000).count
        #expect(count > 3_000 && count <= 4_163)
    }

    @Test("A zone is found for its actor, database and state alone")
    func others() throws {
        let store = try Store.inMemory()
        let zones = (0..<5).map { ZoneID("Zone \($0)") }
        _ = try store.modify(NoteRequest.makingZones(zones), as: Self.anna)
        for zone in zones { _ = try store.modify(NoteRequest.saving(["a"], in: zone), as: Self.anna) }
        let state = store.snapshot()
        // Twice, since the first reading looks up the names of fields.
        for zone in zones + zones {
            _ = try state.record(NoteRequest.id("a", in: zone), in: NoteRequest.database, as: Self.anna).fields
        }
        _ = try store.modify(NoteRequest.saving(["b"], in: zones[0]), as: Self.anna)
        let next = store.snapshot()
        for zone in zones {
            func known(_ database: DatabaseID, _ actor: Actor, _ trees: StoreSnapshot) -> ZoneReader? {
                state.zoneTable.reader(of: zone, in: database, as: actor, trees.trees)
            }
            #expect(known(NoteRequest.database, Self.anna, state) != nil)
            #expect(known(DatabaseID(.public), Self.anna, state) == nil)
            #expect(known(NoteRequest.database, Actor(user: "ben", device: "phone"), state) == nil)
            #expect(known(NoteRequest.database, Self.anna, next) == nil)
            #expect(next.zoneTable.reader(of: zone, in: NoteRequest.database, as: Self.anna, next.trees) == nil)
        }
        try store.close()
    }
}
