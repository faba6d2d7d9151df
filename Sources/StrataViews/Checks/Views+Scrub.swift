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
    /// - Parameter scratch: an empty store for the second fold, in memory or with unnamed files.
    /// - Throws: ``StrataError`` if the log or a run cannot be read.
    package func scrub(
        _ snapshot: Snapshot, scratch: TreeStore, progress: (Replay.Progress) -> Void = { _ in }
    ) throws -> ScrubReport {
        let offset = snapshot.foldedOffset(ViewTree.records)
        try Replay(log: log, trees: scratch).run(upTo: offset, progress: progress)
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
