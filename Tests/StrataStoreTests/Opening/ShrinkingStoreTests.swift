import StrataModel
import StrataSystem
import TestSupport
import Testing

@testable import StrataStore

@Suite("Room that is no longer needed")
struct ShrinkingStoreTests {
    @Test("The page file gives back what a large zone took, and loses nothing")
    func largeZone() throws {
        let (disk, anna, path) = (SimulatedDisk(), Actor(user: "anna"), "/Shrinking.strata")
        var options = StoreOptions.embedded
        options.pages.maximumKeptCheckpoints = 0
        func open() throws -> Store { try Store.open(at: path, options: options, platform: Platform(files: disk)) }
        func pageBytes() throws -> Int { try disk.content(of: path + "/views").count }

        var store = try open()
        _ = try store.modify(NoteRequest.makingZones([ZoneID("Notes"), ZoneID("Other")]), as: anna)
        // Longer than a page takes: each has an overflow page of its own.
        let long: [(String, FieldValue)] = [("title", .string(String(repeating: "x", count: 3_000)))]
        for start in stride(from: 0, to: 10_000, by: 1_000) {
            _ = try store.modify(NoteRequest.saving((start..<start + 1_000).map { "note-\($0)" }, long), as: anna)
        }
        try store.close()
        let full = try pageBytes()

        store = try open()
        _ = try store.modify(.zones(deleting: [ZoneID("Notes")]), as: anna)
        try store.close()
        // Pages are free once both headers are younger than what needed them.
        for _ in 0..<2 {
            store = try open()
            _ = try store.modify(.zones(saving: [ZoneID("Other \(store.offset)")]), as: anna)
            try store.close()
        }
        #expect(try pageBytes() * 8 < full)

        store = try open()
        #expect(store.opening?.views == .whole)
        #expect(try store.snapshot().zones(in: DatabaseID(.private), as: anna).count == 4)
        try store.close()
    }
}
