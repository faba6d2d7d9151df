import StrataTree
import StrataViews

/// Publishes states. The caller has the turn to append.
extension Pipeline {
    /// Makes a fork the newest state.
    func publish(_ fork: Fork, of views: Views, over before: Snapshot) throws -> Snapshot {
        state.withLock { assert($0.turns.isMineToAppend, "only the thread with the turn to append publishes") }
        let snapshot = try views.pages.publish(fork)
        assert(snapshot.foldedOffset(ViewTree.records) <= log.end.offset, "a state shows only commits in the log")
        reader.publish(snapshot)
        try noteCatalog(snapshot, over: before)
        return snapshot
    }

    /// Makes the state of a batch the newest. The caller has the turn to append.
    func publish(_ batch: Batch, _ fork: Fork) throws -> Snapshot {
        let views = views
        let snapshot = try publish(fork, of: views, over: views.pages.snapshot())
        checkpointer?.didPublish(snapshot, bytes: batch.byteCount, events: batch.eventCount)
        return snapshot
    }
}
