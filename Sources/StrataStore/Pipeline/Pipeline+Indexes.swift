import StrataTree
import StrataViews

/// Notes which indexes have to be built, and waits for them.
extension Pipeline {
    /// Takes the catalog of a published state, if it differs from the state before. The caller has the turn to append.
    func noteCatalog(_ snapshot: Snapshot, over before: Snapshot) throws {
        if snapshot.shares(ViewTree.indexCatalog, with: before) { return }
        let catalog = try IndexCatalog(snapshot)
        state.withLock { ($0.hasUnfinishedIndexes, $0.buildFailure) = (catalog.isUnfinished, nil) }
        wakeBuilder()
    }

    /// The reason why indexes are not built.
    var buildFailure: (any Error)? { state.withLock { $0.buildFailure } }

    /// Returns once all indexes are built, or cannot be built.
    func awaitIndexes() {
        state.wait { state -> Void? in
            (state.hasBuilds || live.isDamaged) && !state.isClosed && state.refusal == nil ? nil : ()
        }
    }
}
