import StrataModel
import StrataSystem
import TestSupport
import Testing

@testable import StrataStore

@Suite("Room that is no longer needed")
struct ShrinkingStoreTests {
    @Test("The views give back what a large zone took, and loses nothing")
    func largeZone() throws {
        let (disk, anna, path) = (SimulatedDisk(), Actor(user: "anna"), "/Shrinking.strata")
        var options = StoreOptions.embedded
        options.trees.maximumKeptStates = 0
        func open() throws -> Store { try Store.open(at: path, options: options, platform: Platform(files: disk)) }
        func viewsBytes() throws -> Int {
            try disk.paths.filter { $0.hasPrefix(path + "/views/") }.reduce(0) { $0 + (try disk.content(of: $1).count) }
        }

        var store = try open()
        _ = try store.modify(NoteRequest.makingZones([ZoneID("Notes"), ZoneID("Other")]), as: anna)
        // Longer than a frame takes: each is in a blob file.
        let long: [(String, FieldValue)] = [("title", .string(String(repeating: "x", count: 3_000)))]
        for start in stride(from: 0, to: 10_000, by: 1_000) {
            _ = try store.modify(NoteRequest.saving((start..<start + 1_000).map { "note-\($0)" }, long), as: anna)
        }
        try store.close()
        let full = try viewsBytes()

        store = try open()
        _ = try store.modify(.zones(deleting: [ZoneID("Notes")]), as: anna)
        try store.close()
        store = try open()
        _ = try store.modify(.zones(saving: [ZoneID("Other \(store.offset)")]), as: anna)
        try store.settleViews()
        while try store.views.trees.mergeStep(isAtRest: true) {}
        try store.close()
        #expect(try viewsBytes() * 8 < full)

        store = try open()
        #expect(store.opening?.views == .whole)
        #expect(try store.snapshot().zones(in: DatabaseID(.private), as: anna).count == 3)
        try store.close()
    }
}
