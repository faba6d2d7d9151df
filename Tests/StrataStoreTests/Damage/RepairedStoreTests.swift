import StrataLog
import StrataModel
import StrataSystem
import TestSupport
import Testing

@testable import StrataStore

@Suite("A store whose log was repaired")
struct RepairedStoreTests {
    private static let path = "/Worn.strata"

    private func open(_ disk: SimulatedDisk) throws -> Store {
        var options = StoreOptions.service
        options.segmentBytes = 64 << 10
        return try Store.open(at: Self.path, options: options, platform: Platform(files: disk))
    }

    @Test("Views that know of commits that are gone are not used: it is what its log says", arguments: [2, 4])
    func viewsBeyondTheEnd(batch: Int) throws {
        let disk = SimulatedDisk()
        let anna = Actor(user: "anna", device: "phone")
        let store = try open(disk)
        _ = try store.modify(NoteRequest.makingZones(), as: anna)
        var ends = [store.log.end]
        for number in 0..<5 {
            let names = (0..<100).map { "note-\(number)-\($0)" }
            _ = try store.modify(NoteRequest.saving(names, [("title", .string("old"))]), as: anna)
            ends.append(store.log.end)
        }
        // Its state is at the end.
        try store.close()
        try damage(ends[batch].offset, on: disk)
        #expect(throws: StrataError.self) { try open(disk) }
        let plan = try LogRepair.apply(at: Self.path, platform: Platform(files: disk))
        // A block of a sealed segment goes as a whole.
        #expect(plan.obstacle == nil && plan.end.offset < ends[batch].offset)
        let repaired = try open(disk)
        #expect(repaired.log.end == plan.end && repaired.opening?.views != .whole)
        for number in 0..<5 {
            let record = try? repaired.snapshot().record(
                NoteRequest.id("note-\(number)-7"), in: NoteRequest.database, as: anna)
            #expect((record != nil) == (ends[number + 1].offset <= plan.end.offset), "batch \(number)")
        }
        _ = try repaired.modify(NoteRequest.makingZones(), as: anna)
        _ = try repaired.modify(NoteRequest.saving(["new"], [("title", .string("new"))]), as: anna)
        let digests = try repaired.snapshot().digests()
        try repaired.close()
        // The same log without views gives the same state.
        for path in disk.paths where path.contains("/views") { try disk.removeFile(path) }
        let folded = try open(disk)
        #expect(try folded.snapshot().digests() == digests)
        try folded.close()
        #expect(LogVerifier.verify(at: Self.path, platform: Platform(files: disk)).damage == nil)
    }

    /// Flips a byte in the commit's frame.
    private func damage(_ offset: UInt64, on disk: SimulatedDisk) throws {
        let reader = try LogReader.open(at: Self.path, platform: Platform(files: disk))
        let place = try #require(try reader.place(of: offset))
        try disk.flipBit(place.path, byte: place.range.lowerBound + 70, bit: 2)
    }
}
