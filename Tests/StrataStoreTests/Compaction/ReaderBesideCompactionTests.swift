import StrataLog
import StrataModel
import StrataSystem
import TestSupport
import Testing

@testable import StrataStore

/// A reader that another process's compaction overtakes looks again; it takes a sound store for nothing else.
@Suite("Readers beside a compaction", .timeLimit(.minutes(3)))
struct ReaderBesideCompactionTests {
    /// A store of some segments with a base, and a writer that will move the floor once more.
    private let filled: SimulatedDisk
    private let options: StoreOptions
    private let time: ManualTime

    init() throws {
        let notes = try CompactedNotes()
        try notes.fill(6, bytes: 6_000)
        _ = try notes.store.compact(before: 4)
        CompactedNotes.awaitPruning(notes.store)
        try notes.store.close()
        (filled, options, time) = (notes.disk, notes.options, notes.time)
    }

    /// Runs `read` again and again, with a compaction before its first file call, then before its second, and so on,
    /// until it makes fewer calls than that.
    ///
    /// - Returns: how many calls a compaction came before.
    private func compactingBeforeEachCall(_ read: (SimulatedDisk) throws -> Void) throws -> Int {
        for place in 1...10_000 {
            let disk = filled.afterPowerLoss(seed: 1, keeping: .everything)
            let writer = try CompactedNotes.open(disk, options, time)
            let calls = Lock(0)
            let failure = Lock<(any Error)?>(nil)
            disk.beforeCall = { [disk] _, _ in
                let call = calls.withLock { count in
                    count += 1
                    return count
                }
                guard call == place else { return }
                disk.beforeCall = nil
                do { _ = try writer.compact(before: 9) } catch { failure.withLock { $0 = error } }
            }
            #expect(throws: Never.self, "a compaction before call \(place)") { try read(disk) }
            let isDone = disk.beforeCall != nil
            disk.beforeCall = nil
            if let error = failure.withLock({ $0 }) { throw error }
            try writer.close()
            if isDone { return place - 1 }
        }
        return 10_000
    }

    @Test("A log that is opened while its floor moves is opened at the new floor")
    func log() throws {
        let count = try compactingBeforeEachCall { disk in
            let reader = try LogReader.open(at: CompactedNotes.path, platform: Platform(files: disk))
            _ = try reader.base()
            for segment in reader.segments { #expect(segment.lastOffset ?? .max >= segment.firstOffset) }
        }
        #expect(count > 5)
    }

    @Test("A store that is opened for reading while its floor moves shows its records")
    func store() throws {
        let count = try compactingBeforeEachCall { disk in
            // As another process does, which has no engine of the writer to share.
            let engine = try StoreEngine.openForReading(
                at: CompactedNotes.path, options, Platform(files: disk, time: time))
            let store = Store(engine, nil, .readOnly)
            _ = try store.snapshot().record(
                NoteRequest.id("note-9"), in: NoteRequest.database, as: CompactedNotes.anna)
            try store.close()
        }
        #expect(count > 10)
    }

    @Test("Canary: an error with no compaction beside it is told at once")
    func canary() throws {
        let disk = filled.afterPowerLoss(seed: 1, keeping: .everything)
        let base = try #require(disk.paths.first { $0.hasSuffix(".base") })
        try disk.remove(base)
        var count = 0
        #expect(throws: StrataError.self) {
            try LogReader.besideCompactions(of: CompactedNotes.path, disk) {
                count += 1
                _ = try LogReader.open(at: CompactedNotes.path, platform: Platform(files: disk))
            }
        }
        #expect(count == 1)
    }
}
