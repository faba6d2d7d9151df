import StrataModel
import StrataTree
import StrataViews

/// Brings the indexes up to date between batches.
extension Pipeline {
    /// Works on the indexes before a batch, if they lag too far, or a checkpoint or a query waits for them. The caller
    /// has the turn to decide.
    func stepIndexes(for batch: inout Batch) {
        let (indexes, isOwed) = state.withLock { state in
            (state.indexes, state.indexes.waitingQueries > 0 || checkpointer?.waitsForIndexes ?? false)
        }
        guard indexes.hasIndexes else {
            // Nothing is compared with an older state later, so none is kept.
            line?.indexes = indexes.mark
            return
        }
        if isOwed, indexes.lag <= IndexState.completedLag {
            state.wait { state -> Void? in
                if state.turns.isAppending { return nil }
                state.turns.takeAppending()
                return ()
            }
            while advancePublished(limit: IndexState.owedSliceRecords) {}
            releaseAppending()
        } else if log.assignsNextOffset, isOwed || indexes.lag > indexes.toleratedLag {
            let line = currentLine()
            line.changesIndexes = true
            do {
                let target = line.views.pages.snapshot()
                // Later than the state, so that its changes are among them.
                let rows = state.withLock { $0.indexes.rows }
                _ = try line.indexes.advance(
                    in: line.fold.whole(), to: target, indexes.publishedEvents, rows,
                    limit: IndexState.owedSliceRecords)
            } catch {
                // The fork now refuses everything, so the batch is decided on another fork.
                batch.isBroken = true
                live.note(error, in: line.views)
            }
        }
    }

    /// Does a slice of catching up and publishes it; returns true if there is more to do. The caller has both turns.
    func advancePublished(limit: Int) -> Bool {
        line = nil
        var (mark, events, rows) = state.withLock {
            ($0.indexes.mark, $0.indexes.publishedEvents, $0.indexes.rows)
        }
        let views = views
        let fork = views.pages.fork()
        do {
            let before = views.pages.snapshot()
            var hasMore = try mark.advance(in: fork, to: before, events, rows, limit: limit)
            hasMore = hasMore || mark.shownEvents < events
            let snapshot = try publish(fork, of: views, over: before, changesIndexes: true) { state, _ in
                state.indexes.take(mark)
                if !hasMore { state.indexes.isWanted = false }
            }
            if !hasMore { checkpointer?.didPublish(snapshot, bytes: 0, events: 0, hasAllIndexes: true) }
            return hasMore
        } catch {
            live.note(error, in: views)
            // Otherwise this would be retried forever. New views are brought up to date again.
            state.withLock { $0.indexes.isWanted = false }
            return false
        }
    }

    /// Completes the indexes at the end, so that the last checkpoint has them. No other thread has a turn now.
    func completeIndexes() {
        guard state.withLock({ $0.indexes.hasIndexes && $0.refusal == nil }) else { return }
        while advancePublished(limit: IndexState.owedSliceRecords) {}
    }

    /// Does a slice while no requests come. The caller has both turns, and this gives them up.
    func catchUpIndexes() {
        _ = advancePublished(limit: IndexState.idleSliceRecords)
        returnTurns()
    }

    // MARK: Reading

    /// Returns the newest state, and the lag of its indexes.
    func indexedSnapshot() -> (snapshot: Snapshot, lag: IndexLag) {
        state.withLock { $0.indexes.waitingReaders += 1 }
        return state.wait { state in
            if state.indexes.isPublishing { return nil }
            state.indexes.waitingReaders -= 1
            return (views.pages.snapshot(), state.indexes.mark.catchUp.lag)
        }
    }

    /// The progress of the indexes that are being built, and the reason why indexes are not built.
    var indexBuilds: (progress: [IndexID: IndexBuild.Progress], failure: (any Error)?) {
        (builds.progress, state.withLock { $0.indexes.buildFailure })
    }

    /// The number of published events that the indexes do not show.
    var indexLag: UInt64 { state.withLock { $0.indexes.lag } }

    /// The progress of the indexes of a store that is only read, which its readers bring up to date.
    var readIndexes: IndexCatchUp {
        get { state.withLock { $0.indexes.mark.catchUp } }
        set { state.withLock { $0.indexes.mark.catchUp = newValue } }
    }

    /// Returns once all indexes are built and show everything that has been published by now.
    func awaitIndexes() {
        awaitCatchUp()
        state.wait { state -> Void? in
            (state.indexes.hasBuilds || live.isDamaged) && !state.isClosed && state.refusal == nil ? nil : ()
        }
        awaitCatchUp()
    }

    /// Returns once the indexes show everything that has been published by now, or cannot be brought up to date.
    func awaitCatchUp() {
        let goal = state.withLock { state -> UInt64? in
            guard state.indexes.hasIndexes, state.indexes.lag > 0 else { return nil }
            state.indexes.isWanted = true
            state.indexes.waitingQueries += 1
            return state.indexes.publishedEvents
        }
        guard let goal else { return }
        state.notifyAll()
        state.wait { state -> Void? in
            let isBehind = state.indexes.isWanted && state.indexes.mark.shownEvents < goal
            if isBehind, state.indexes.hasIndexes, !state.isClosed, state.refusal == nil { return nil }
            state.indexes.waitingQueries -= 1
            return ()
        }
    }
}
