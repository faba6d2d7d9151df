import StrataSystem

/// How much room a page store may take, and how it shares the disk.
public struct PageStoreOptions: Sendable {
    /// The page file's largest size, in pages of 4 KiB.
    public var maximumPages: Int
    /// Pages that are written and not yet in the file, at most.
    public var maximumArenaPages: Int
    /// How many of those are in memory; what is beyond goes to a file without a name.
    public var maximumMemoryPages = 40_960
    /// Published pages that a checkpoint has yet to write, before writers should wait.
    public var maximumDirtyPages: Int
    /// How pages of the file are read.
    public var access = PageAccess.map
    /// How many checkpoints are kept besides the two that opening may need; at most 24.
    public var maximumKeptCheckpoints: Int
    /// Called between two slices of a checkpoint; it may take its time.
    public var pace: @Sendable (CheckpointSlice) -> Void

    public init(
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

/// How pages come from the file into memory.
public enum PageAccess: Sendable, Hashable {
    /// All of it is mapped: fast, and the kernel decides what stays in memory. A page that the medium fails to deliver
    /// counts as damaged; the signal for that, SIGBUS, is handled (docs/decisions/0010).
    case map
    /// Each page is read when it is needed, and so many are kept: a medium that fails is an error.
    case read(cachedPages: Int)

    var cachedPages: Int {
        switch self {
        case .map: 0
        case .read(let count): count
        }
    }
}

/// A part of a checkpoint that has been handed to the disk.
public struct CheckpointSlice: Sendable {
    public var byteCount: Int
    /// How long that took.
    public var microseconds: Int64
    /// How much of the room for pages that wait is taken: from 0, to 1 where writers must stop.
    public var fill: Double

    /// Does not rest.
    static let takeAll: @Sendable (CheckpointSlice) -> Void = { _ in }

    /// Rests as long as the slice took, so that the log has half of the disk; less where room runs short, since writers
    /// then wait for the checkpoint and not for the disk.
    public static let leaveHalf: @Sendable (CheckpointSlice) -> Void = { slice in
        ThreadStripe.rest(microseconds: slice.restMicroseconds)
    }

    /// All of its own time up to half of the room, where checkpoints begin, and nothing from five eighths on: writers
    /// rest longer and longer there, and both resting would leave the disk idle.
    var restMicroseconds: Int64 {
        let share = min(max(5 - 8 * fill, 0), 1)
        return Int64(Double(min(max(microseconds, 0), 1_000_000)) * share)
    }
}
