import StrataTree

@testable import StrataViews

extension Views {
    /// Folds the whole log again and compares every entry of a state with the result.
    func scrub(_ snapshot: Snapshot) throws -> ScrubReport {
        let scratch = try Views.emptyTrees()
        try Replay(log: log, trees: scratch).run(upTo: snapshot.foldedOffset(ViewTree.records))
        return try Views.compare(snapshot, with: scratch.snapshot())
    }
}
