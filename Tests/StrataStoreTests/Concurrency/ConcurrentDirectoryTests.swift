import StrataModel
import StrataSystem
import Testing

@testable import StrataStore

@Suite("Concurrent readers of many zones")
struct ConcurrentDirectoryTests {
    private static let anna = Actor(user: "anna", device: "phone")
    private static let zoneCount = 40
    /// The zone that the writer deletes and makes again.
    private static let changing = ZoneID("Changing")

    private static func zone(_ number: Int) -> ZoneID { ZoneID("Zone \(number)") }

    private static func saving(_ title: String, in zone: ZoneID) -> Request {
        NoteRequest.saving(["a"], [("title", .string(title))], in: zone)
    }

    @Test("Each record comes from its own zone and state, whatever others look up")
    func readers() throws {
        let store = try Store.inMemory()
        let zones = (0..<Self.zoneCount).map(Self.zone)
        _ = try store.modify(NoteRequest.makingZones(zones + [Self.changing]), as: Self.anna)
        for zone in zones { _ = try store.modify(Self.saving(zone.name, in: zone), as: Self.anna) }
        let failures = Lock<[String]>([])
        let threads = try (0..<4).map { number in
            try WorkerThread(name: "reader") {
                do { try Self.read(store, seed: number) } catch { failures.withLock { $0.append("\(error)") } }
            }
        }
        for round in 0..<60 {
            let deleting = Request.zones(deleting: [Self.changing])
            _ = try store.modify(Self.saving("round \(round)", in: Self.changing), as: Self.anna)
            _ = try store.modify(deleting, as: Self.anna)
            _ = try store.modify(NoteRequest.makingZones([Self.changing]), as: Self.anna)
        }
        for thread in threads { thread.join() }
        #expect(failures.withLock { $0 } == [])
        try store.close()
    }

    private static func read(_ store: Store, seed: Int) throws {
        let random = SeededRandom(seed: UInt64(seed))
        for _ in 0..<300 {
            let state = store.snapshot()
            for _ in 0..<20 {
                let zone = zone(Int(random.next(below: UInt64(zoneCount))))
                let record = try state.record(NoteRequest.id("a", in: zone), in: NoteRequest.database, as: anna)
                guard record.id.zone == zone, try record["title"] == .string(zone.name) else {
                    throw StrataError(.malformed, "A record comes from another zone.", .init(found: "\(record.id)"))
                }
            }
            let answers = (0..<2).map { _ in
                Result { try state.record(NoteRequest.id("a", in: changing), in: NoteRequest.database, as: anna) }
            }
            let found = try answers.map { try $0.map(\.version).getIfAllowed() }
            guard found[0] == found[1] else {
                throw StrataError(.malformed, "One state has two answers.", .init(found: "\(found)"))
            }
        }
    }
}

extension Result {
    /// Returns the value; nil for a refusal.
    fileprivate func getIfAllowed() throws -> Success? {
        do { return try get() } catch is Refusal { return nil }
    }
}
