import StrataModel
import StrataTree
import StrataViews

/// Replaces views in which a page is damaged with new ones, folded from the log (docs/architecture.md §5).
extension Pipeline {
    /// Replaces damaged views with new ones, unless another thread has done so. The caller has the turn to append, so
    /// that no thread publishes during this; the line of a thread that is deciding is lost.
    ///
    /// - Throws: ``StrataError`` if that is impossible. The pipeline then refuses writes.
    func rebuildViews(_ damage: ViewsDamage) throws {
        guard try live.beginRebuilding(after: damage) else { return }
        do { take(try live.rebuilt()) } catch {
            let failure = live.failure(of: error)
            refuse(failure)
            throw failure
        }
    }

    /// Folds the log into new views although the current ones are sound, so that no page keeps what the log no longer
    /// has. The old file is gone on return; readers of its states can continue.
    ///
    /// - Parameter options: the options of views in memory.
    func renewViews(_ options: PageStoreOptions) throws {
        try takeTurnToAppend()
        defer { releaseAppending() }
        guard let rebuilder = live.rebuilder else { return take(try live.rebuilt(inMemory: options)) }
        checkpointer?.abandon()
        do {
            take(try live.rebuilt())
            try rebuilder.removeSetAside()
        } catch {
            // No page file keeps what is written from now on, and there may be none to open.
            let failure = StrataError(.refusingWrites, "The views could not be rebuilt.", cause: error)
            refuse(failure)
            throw failure
        }
    }

    /// Takes new views; the line of a thread that is deciding is lost.
    func take(_ new: LiveViews.Replacement) {
        let end = end(of: new.working.views.pages.snapshot())
        state.withLock { state in
            live.replace(with: new.working)
            state.losses += 1
            if state.refusal == nil || state.isUnsettled {
                (state.end, state.endTime) = (end, log.endTime ?? state.endTime)
            }
            state.indexes.begin(with: new.catchUp, new.catalog)
        }
        reader.publish(views.pages.snapshot())
        state.notifyAll()
        // Others' commits may be among what was folded.
        if isShared { publication.announce(end.offset) }
        wakeBuilder()
    }

    /// Returns the position of a state at the end of the log. That of a shared log may have moved since it was folded.
    private func end(of snapshot: Snapshot) -> Position {
        let (end, offset) = (log.end, snapshot.foldedOffset(ViewTree.records))
        guard isShared, offset < end.offset else { return end }
        do { return Position(offset: offset, chain: try log.chain(at: offset)) } catch {
            refuse(StrataError(.refusingWrites, "The log cannot be read where the views end.", cause: error))
            return end
        }
    }

    /// Returns the newest views, which are folded again if `broken` is one of their states. The caller has no turn.
    func viewsWithout(_ broken: Snapshot, because error: StrataError) throws -> Views {
        let views = views
        guard views.pages.isSource(of: broken), let damage = ViewsDamage(error, views) else { return views }
        try takeTurnToAppend()
        defer { releaseAppending() }
        try rebuildViews(damage)
        return self.views
    }

    /// Waits for the turn to append. The caller has no turn.
    private func takeTurnToAppend() throws {
        assert(holdsNoTurn, "turns are waited for without a turn")
        state.withLock { $0.turns.waiters += 1 }
        try state.wait { state -> Void? in
            if state.isClosed {
                state.turns.waiters -= 1
                throw StoreGate.error
            }
            if state.turns.isAppending { return nil }
            state.turns.takeAppending()
            state.turns.waiters -= 1
            return ()
        }
    }

    /// Folds the views again and decides the whole batch again, if a damaged page was found. Nothing of the batch is in
    /// the log yet. The caller has both turns.
    func decideAgainIfDamaged(_ batch: inout Batch) {
        let found = batch.damage ?? indexDamage ?? checkpointer?.failure.flatMap { ViewsDamage($0, views) }
        indexDamage = nil
        guard let found, live.rebuilder != nil else { return }
        do { try rebuildViews(found) } catch {
            drop(&batch, because: error)
            return
        }
        line = nil
        audits.putBack(batch.removeAudits())
        let submissions = batch.entries.map(\.submission)
        batch = Batch()
        decide(submissions, &batch)
        complete(&batch)
    }

    /// Leaves nothing of a batch to write, because the pipeline refuses writes now.
    private func drop(_ batch: inout Batch, because error: any Error) {
        let refusal = state.withLock { $0.refusal }
        for (index, entry) in batch.entries.enumerated() {
            if entry.isDamaged {
                batch.entries[index].outcome = .failed(error)
            } else if let refusal, case .commit = entry.outcome {
                batch.entries[index].outcome = .unavailable(refusal.ofRequests)
            }
        }
        guard refusal != nil else { return }
        line = nil
        (batch.commits, batch.fork, batch.rows) = ([], nil, nil)
    }

    /// Rebuilds the views if commits are in the log that no state shows; returns a state that shows them. The caller
    /// has the turn to append.
    func rebuilt(after error: any Error) -> Snapshot? {
        guard let damage = ViewsDamage(error, views), (try? rebuildViews(damage)) != nil else { return nil }
        return views.pages.snapshot()
    }
}
