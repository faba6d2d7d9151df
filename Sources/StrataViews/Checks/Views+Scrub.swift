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
    /// - Parameter scratch: an empty store for the second fold, in memory, or with a page file if it does not fit there.
    /// - Throws: ``StrataError`` if the log or a page cannot be read.
    package func scrub(
        _ snapshot: Snapshot, scratch: PageStore, progress: (Replay.Progress) -> Void = { _ in }
    ) throws -> ScrubReport {
        let offset = snapshot.foldedOffset(ViewTree.records)
        try Replay(log: log, pages: scratch).run(upTo: offset, progress: progress)
        return try StateComparison(of: snapshot, with: scratch.snapshot()).run()
    }

    /// Compares every entry of a state with that of another, folded from the log. Rows of indexes are compared with the
    /// records.
    ///
    /// - Parameter pulse: called repeatedly; an error that it throws ends the work.
    package static func compare(
        _ found: Snapshot, with truth: Snapshot, pulse: @escaping () throws -> Void = {}
    ) throws -> ScrubReport {
        try StateComparison(of: found, with: truth, pulse).run()
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
