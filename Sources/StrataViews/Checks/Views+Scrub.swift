import StrataLog
import StrataModel
import StrataSystem
import StrataTree

extension Views {
    /// Folds the whole log again and compares every entry of a snapshot with the result. Rows of indexes are compared
    /// with the records.
    ///
    /// This reads everything and takes as long as rebuilding does; nothing is changed.
    ///
    /// - Parameters:
    ///   - lag: the lag of the snapshot's indexes.
    ///   - scratch: an empty store for the second fold, in memory, or with a page file if it does not fit there.
    /// - Throws: ``StrataError`` if the log or a page cannot be read.
    package func scrub(
        _ snapshot: Snapshot, lag: IndexLag, scratch: PageStore, progress: (Replay.Progress) -> Void = { _ in }
    ) throws -> ScrubReport {
        let offset = snapshot.foldedOffset(ViewTree.records)
        try Replay(log: log, pages: scratch).run(upTo: offset, progress: progress)
        let comparison = StateComparison(of: snapshot, with: scratch.snapshot())
        return try comparison.run(comparesIndexes: try lag.touched(in: snapshot, limit: 0) != nil, spill: nil)
    }

    /// Compares every entry of a state with that of another, folded from the log. Rows of indexes are compared with the
    /// records.
    ///
    /// - Parameters:
    ///   - found: the state of a checkpoint, whose indexes show its own records or are to be rebuilt.
    ///   - spill: the place where rows of indexes are sorted that do not fit in memory; nil to use memory alone.
    ///   - pulse: called repeatedly; an error that it throws ends the work.
    package static func compare(
        _ found: Snapshot, with truth: Snapshot, spill: RunSorter.Spill? = nil, pulse: @escaping () throws -> Void = {}
    ) throws -> ScrubReport {
        let isComplete = try IndexCatchUp.isComplete(in: found)
        return try StateComparison(of: found, with: truth, pulse).run(comparesIndexes: isComplete, spill: spill)
    }
}

extension Views {
    /// Returns both digests of a checkpoint's state, as stored with it.
    ///
    /// - Throws: ``StrataError`` if the note has the form of another release.
    package static func digests(notedWith checkpoint: Checkpoint) throws -> Digests {
        try digests(noted: checkpoint.opaque)
    }

    /// Returns a replay that folds a log into trees in little memory.
    ///
    /// - Parameter path: the path under which the unnamed file for sorting events is briefly visible.
    package static func leanReplay(
        of log: any EventLog, into pages: PageStore, files: any FileSystem, sortingIn path: String
    ) -> Replay {
        let sorter = EventSorter(files: files, path: path)
        return Replay(
            log: log, pages: pages,
            sorting: .init(
                sorter: sorter, maximumPages: PageStoreOptions.lean.maximumArenaPages, limits: .lean,
                publishedBytes: 512 << 20))
    }
}
