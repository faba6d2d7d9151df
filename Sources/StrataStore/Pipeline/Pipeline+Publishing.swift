import StrataTree
import StrataViews

/// Publishes states. The caller has the turn to append.
extension Pipeline {
    /// Makes a fork the newest state, and updates the pipeline's catalog of its indexes.
    /// - Parameters:
    ///   - changesIndexes: true if rows of indexes were changed in it, so that `update` sets another mark.
    ///   - update: called under the lock once the state is the newest.
    func publish(
        _ fork: Fork, of views: Views, over before: Snapshot, changesIndexes: Bool,
        _ update: (inout State, Snapshot) -> Void
    ) throws -> Snapshot {
        state.withLock { state in
            assert(state.turns.isMineToAppend, "only the thread with the turn to append publishes")
            assert(!state.indexes.isPublishing, "one state is published at a time")
            if changesIndexes { state.indexes.isPublishing = true }
        }
        defer { endPublishing() }
        let snapshot = try views.pages.publish(fork)
        assert(snapshot.foldedOffset(ViewTree.records) <= log.end.offset, "a state shows only commits in the log")
        reader.publish(snapshot)
        let isSameCatalog = snapshot.shares(ViewTree.indexCatalog, with: before)
        let catalog = isSameCatalog ? nil : try IndexCatalog(snapshot)
        state.withLock { state in
            assert(state.indexes.isPublishing == changesIndexes, "readers of indexes wait while their rows change")
            update(&state, snapshot)
            if let catalog { state.indexes.take(catalog) }
            state.indexes.isPublishing = false
        }
        if catalog != nil { wakeBuilder() }
        return snapshot
    }

    private func endPublishing() {
        let isAwaited = state.withLock { state in
            state.indexes.isPublishing = false
            return state.indexes.waitingReaders > 0
        }
        if isAwaited { state.notifyAll() }
    }

    /// Makes the state of a batch the newest. The caller has the turn to append.
    func publish(_ batch: Batch, _ fork: Fork) throws -> Snapshot {
        let views = views
        let before = views.pages.snapshot()
        // First, so that the changes of every published state are there.
        if let rows = batch.rows { state.withLock { $0.indexes.rows.append(rows) } }
        let snapshot = try publish(fork, of: views, over: before, changesIndexes: batch.changesIndexes) {
            state, snapshot in
            state.indexes.publishedEvents += UInt64(batch.eventCount)
            if !state.indexes.hasIndexes {
                // Indexes declared by this batch have no rows that could show another state.
                state.indexes.skip(to: snapshot)
            } else if batch.changesIndexes, let mark = batch.indexes {
                state.indexes.take(mark)
            }
        }
        let hasIndexes = state.withLock { $0.indexes.hasIndexes }
        checkpointer?.didPublish(
            snapshot, bytes: batch.byteCount, events: batch.eventCount, hasAllIndexes: !hasIndexes)
        return snapshot
    }

    /// Takes the catalog after the views followed the log by themselves. The caller has the turn to append.
    func noteCatalog(_ snapshot: Snapshot, over before: Snapshot) throws {
        if snapshot.shares(ViewTree.indexCatalog, with: before) { return }
        let catalog = try IndexCatalog(snapshot)
        state.withLock { $0.indexes.take(catalog) }
        wakeBuilder()
    }
}
