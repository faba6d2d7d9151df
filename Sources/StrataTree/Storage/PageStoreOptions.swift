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
