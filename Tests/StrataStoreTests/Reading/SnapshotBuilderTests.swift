import StrataModel
import StrataTree
import Testing

@testable import StrataStore

@Suite("Zones that snapshots of one state share")
struct SnapshotBuilderTests {
    private static let anna = Actor(user: "anna", device: "phone")

    private static func store() throws -> Store {
        let store = try Store.inMemory()
        _ = try store.modify(NoteRequest.makingZones(), as: anna)
        _ = try store.modify(NoteRequest.saving(["a"]), as: anna)
        return store
    }

    @Test("A state has one set of them, and the next state another")
    func shared() throws {
        let store = try Self.store()
        let (first, second) = (store.snapshot(), store.snapshot())
        #expect(first.zoneTable === second.zoneTable)
        _ = try store.modify(NoteRequest.saving(["b"]), as: Self.anna)
        let third = store.snapshot()
        #expect(third.zoneTable !== first.zoneTable)
        let id = NoteRequest.id("b")
        #expect(throws: Refusal.self) { try second.record(id, in: NoteRequest.database, as: Self.anna) }
        _ = try third.record(id, in: NoteRequest.database, as: Self.anna)
        try store.close()
    }

    @Test("They keep no state that is not the newest")
    func released() throws {
        let store = try Self.store()
        weak var trees: Snapshot?
        do {
            let snapshot = store.snapshot()
            _ = try snapshot.record(NoteRequest.id("a"), in: NoteRequest.database, as: Self.anna)
            trees = snapshot.trees
        }
        // The fork in which the next request is judged may keep the state before.
        var count = 0
        while trees != nil, count < 10 {
            _ = try store.modify(NoteRequest.saving(["a"]), as: Self.anna)
            count += 1
        }
        #expect(trees == nil && count > 0)
        try store.close()
    }
}
