import StrataSystem

/// The space that a page store may use, and how it shares the disk.
package struct PageStoreOptions: Sendable {
    /// The maximum size of the page file, in pages of 4 KiB.
    package var maximumPages: Int
    /// The maximum number of pages that are written and not yet in the file.
    package var maximumArenaPages: Int
    /// The maximum number of those pages in memory; the rest goes to an unnamed file.
    package var maximumMemoryPages = 40_960
    /// The number of published pages awaiting a checkpoint at which writers should wait.
    package var maximumDirtyPages: Int
    /// The way in which pages of the file are read.
    package var access = PageAccess.map
    /// The maximum number of checkpoints kept besides the two that opening may need; at most 24.
    package var maximumKeptCheckpoints: Int
    /// Called between two slices of a checkpoint; it may block for a while.
    package var pace: @Sendable (CheckpointSlice) -> Void

    package init(
        maximumPages: Int = 64 << 20, maximumArenaPages: Int = 4 << 20, maximumDirtyPages: Int = 32_768,
        maximumKeptCheckpoints: Int = 24,
        pace: @escaping @Sendable (CheckpointSlice) -> Void = CheckpointSlice.leaveHalf
    ) {
        self.maximumPages = maximumPages
        self.maximumArenaPages = maximumArenaPages
        self.maximumDirtyPages = maximumDirtyPages
        self.maximumKeptCheckpoints = maximumKeptCheckpoints
        self.pace = pace
    }
}

/// The way in which pages get from the file into memory.
package enum PageAccess: Sendable, Hashable {
    /// The whole file is mapped: fast, and the kernel decides which pages stay in memory. A page that the medium fails
    /// to deliver counts as damaged; the resulting signal, SIGBUS, is handled (docs/decisions/0010).
    case map
    /// Each page is read when needed, and this many are cached. A failure of the medium is an error.
    case read(cachedPages: Int)

    var cachedPages: Int {
        switch self {
        case .map: 0
        case .read(let count): count
        }
    }
}

/// A part of a checkpoint that has been handed to the disk.
package struct CheckpointSlice: Sendable {
    package var byteCount: Int
    /// The time for which the disk had to be awaited: nearly none if it has nothing else to do.
    package var microseconds: Int64
    /// The part of the room for dirty pages that is taken: from 0 up to 1, where writers must stop.
    package var fill: Double

    /// The part of the room up to which writers do not feel a checkpoint's pauses. Checkpoints begin there.
    package static let ampleFill = 0.5

    /// Pauses as long as the disk was awaited, so that the log has half of a disk that is busy. Pauses less when room
    /// runs short, because writers then wait for the checkpoint and not for the disk.
    package static let leaveHalf: @Sendable (CheckpointSlice) -> Void = { slice in
        ThreadStripe.rest(microseconds: slice.restMicroseconds)
    }

    /// The full time of waiting up to ``ampleFill``, and 0 from five eighths of the room on. Writers pause longer and
    /// longer there, and if both paused, the disk would be idle.
    var restMicroseconds: Int64 {
        let share = min(max(1 - 8 * (fill - Self.ampleFill), 0), 1)
        return Int64(Double(min(max(microseconds, 0), 1_000_000)) * share)
    }
}
