import Glibc
import StrataModel
import StrataSystem
import StrataTree
import TestSupport
import Testing

@testable import StrataStore

/// A compaction leaves a state from which opening continues, since the log loses the positions of older ones.
@Suite("States of a compacted store", .timeLimit(.minutes(2)))
struct CompactedStateTests {
    /// A store whose only state is some commits old.
    private func notes() throws -> CompactedNotes {
        var notes = try CompactedNotes()
        try notes.fill(5, bytes: 10)
        try notes.reopen()
        try notes.save(["new"])
        return notes
    }

    private func durableOffset(_ notes: CompactedNotes) -> UInt64 {
        notes.store.engine.views.trees.durablePosition?.offset ?? 0
    }

    @Test("The newest state is not older than the horizon, and opening continues from it")
    func stateStays() throws {
        let notes = try notes()
        let (end, before, digests) = (notes.store.offset, durableOffset(notes), try notes.digests)
        // Up to the state there is nothing to write.
        try notes.store.compact(before: before + 1)
        #expect(durableOffset(notes) == before && before < end)
        try notes.store.compact(before: end + 1)
        #expect(durableOffset(notes) == end)
        let left = notes.disk.afterPowerLoss(seed: 1, keeping: .nothingUnsynced)
        let again = try CompactedNotes(left)
        #expect(again.store.opening?.views == .whole && durableOffset(again) == end)
        #expect(try again.digests == digests)
        try again.store.close()
        try notes.store.close()
    }

    @Test("If no state can be written, nothing is compacted, unless it makes the room", arguments: [EIO, ENOSPC])
    func noState(errno: Int32) throws {
        var notes = try notes()
        let (end, digests) = (notes.store.offset, try notes.digests)
        notes.disk.fail(.write, from: 1, with: .errno(errno), on: "/views/")
        let code = thrownCode { try notes.store.compact(before: end + 1) }
        #expect(code == (errno == ENOSPC ? nil : .inputOutput))
        #expect(notes.store.log.floor.offset == (errno == ENOSPC ? end : 0))
        #expect(try notes.digests == digests)
        notes.disk.heal()
        if errno == EIO { try notes.store.compact(before: end + 1) }
        try notes.reopen()
        #expect(try notes.digests == digests)
        try notes.store.close()
    }
}
