import StrataModel
import StrataSystem
import TestSupport
import Testing

@testable import StrataStore

@Suite("Records as they were")
struct PastRecordsTests {
    private let anna = Actor(user: "anna")

    @Test("At every offset they are those of the state that is made for it", arguments: TwinStore.Ground.allCases)
    func seeded(ground: TwinStore.Ground) throws {
        try withSeeds(3) { seed in
            var twin = try TwinStore(ground, seed: seed)
            for step in 1...50 {
                try twin.step()
                if step == 30 { try twin.compact(to: twin.log.floor.offset + twin.log.end.offset / 3) }
            }
            let store = twin.store
            var states: [UInt64: [RecordPlace: Version]] = [:]
            // Not every offset has a commit.
            var offsets = [store.log.floor.offset]
            var cursor = try store.log.read(from: offsets[0] + 1)
            while let commit = try cursor.next() { offsets.append(commit.offset) }
            for offset in offsets {
                let past = try store.asOf(offset)
                states[offset] = try past.snapshot().recordVersions()
                try past.close()
            }
            let places = Set(states.values.flatMap(\.keys))
            #expect(places.count > 5)
            let snapshot = store.snapshot()
            for (offset, expected) in states {
                for place in places {
                    let found = try snapshot.record(
                        place.id, asOf: offset, in: place.database, as: .service)
                    #expect(found?.version == expected[place], "seed \(seed), \(place) at \(offset)")
                }
            }
            try store.close()
        }
    }

    @Test("Values of then, also of a record that is gone, came again, or went with its zone")
    func values() throws {
        let store = try Store.open(at: "/Past.strata", platform: Platform(files: SimulatedDisk()))
        func save(_ title: String) throws -> UInt64 {
            _ = try store.modify(NoteRequest.saving(["a"], [("title", .string(title))]), as: anna)
            return store.offset
        }
        func title(at offset: UInt64) throws -> String? {
            let record = try store.snapshot().record(
                NoteRequest.id("a"), asOf: offset, in: NoteRequest.database, as: anna)
            guard case .string(let title)? = try record?["title"] else { return nil }
            return title
        }
        _ = try store.modify(NoteRequest.makingZones(), as: anna)
        let before = store.offset
        let (one, two) = (try save("one"), try save("two"))
        _ = try store.modify(NoteRequest.deleting(["a"]), as: anna)
        let gone = store.offset
        let again = try save("again")
        #expect(
            try [before, one, two, gone, again].map(title) == [nil, "one", "two", nil, "again"])
        try store.purgeZone(NoteRequest.zone, of: "anna")
        let purged = store.offset
        #expect(try [two, again, purged].map(title) == ["two", "again", nil])
        _ = try store.modify(NoteRequest.makingZones(), as: anna)
        #expect(try [again, purged, store.offset].map(title) == ["again", nil, nil])
        #expect(try save("anew") == store.offset)
        #expect(try [again, purged, store.offset].map(title) == ["again", nil, "anew"])
        #expect(thrownCode { _ = try title(at: store.offset + 1) } == .outOfRange)
        #expect(throws: Refusal.self) {
            try store.snapshot().record(
                NoteRequest.id("a"), asOf: one, in: DatabaseID(.private, owner: "anna"), as: Actor(user: "bert"))
        }
        try store.close()
    }
}
