import StrataLog
import StrataModel
import StrataTree
import StrataViews

/// Replaces the views with new ones, folded from the log (docs/architecture.md §5).
extension Pipeline {
    /// Folds the log into new views if the current ones are damaged. The caller has the turn to append, so that no
    /// thread publishes during this; the line of a thread that is deciding is lost. Requests that wait for too long are
    /// refused meanwhile.
    ///
    /// Returns false if there are no sound views. The pipeline then refuses writes.
    @discardableResult
    func rebuildDamagedViews() -> Bool {
        assert(holdsTurnToAppend, "the views are replaced with the turn to append")
        let patience = Duration.milliseconds(live.patienceMilliseconds)
        var deadline = ContinuousClock.now + patience
        do {
            try live.refreshes.withLock { _ in
                let new = try live.rebuiltIfDamaged {
                    guard ContinuousClock.now >= deadline else { return }
                    refuseWaiting()
                    deadline = ContinuousClock.now + patience
                }
                if let new { try take(new) }
            }
            return true
        } catch {
            refuse(StrataError(.refusingWrites, "The damaged views could not be folded again.", cause: error))
            state.notifyAll()
            return false
        }
    }

    /// Refuses the requests in the queue, which their callers may repeat.
    private func refuseWaiting() {
        let (waiting, admissions) = state.withLock { state in
            defer { state.admissions = [] }
            return (state.queue.takeAll(), state.admissions)
        }
        let refusal = Refusal(
            .serviceUnavailable, "Nothing was written: \(live.error)", retryAfterSeconds: Refusal.serverRetrySeconds)
        for submission in waiting { submission.reply.resume(.failure(refusal)) }
        for admission in admissions { admission() }
    }

    /// Puts back the requests of a batch that was decided on damaged views, to be judged again on new ones. Nothing of
    /// the batch is in the log yet. The caller has both turns.
    func putBackIfDamaged(_ batch: inout Batch) {
        guard live.isDamaged else { return }
        line = nil
        let submissions = batch.entries.map(\.submission)
        batch = Batch()
        audits.putBack(submissions.compactMap(\.audit))
        state.withLock { $0.queue.putBack(submissions.filter { $0.audit == nil }) }
    }

    /// Folds the log into new views although the current ones are sound, so that no file keeps what the log no longer
    /// has. The old files are gone on return; readers of their states can continue.
    ///
    /// - Parameter options: the options of views in memory.
    func renewViews(_ options: TreeStoreOptions) throws {
        try takeTurnToAppend()
        defer { releaseAppending() }
        if live.rebuilder == nil { return try take(try live.rebuilt(inMemory: options)) }
        do {
            let new = try live.rebuilt()
            // Before the views are used: their states replace those that were removed, with their files.
            do { try new.views.settle() } catch {
                new.flusher?.abandon()
                throw error
            }
            try take(new)
        } catch {
            // No state keeps what is written from now on, and there may be none to open.
            let failure = StrataError(.refusingWrites, "The views could not be rebuilt.", cause: error)
            refuse(failure)
            throw failure
        }
    }

    /// Takes new views; the line of a thread that is deciding is lost. If that fails, the new views are abandoned.
    func take(_ new: WorkingViews) throws {
        let snapshot = new.views.trees.snapshot()
        let hasUnfinishedIndexes: Bool
        do { hasUnfinishedIndexes = try Self.hasUnfinishedIndexes(snapshot, of: log) } catch {
            new.flusher?.abandon()
            throw error
        }
        new.flusher?.didPublish()
        let end = end(of: snapshot)
        state.withLock { state in
            live.replace(with: new)
            state.losses += 1
            if state.refusal == nil || state.isUnsettled {
                (state.end, state.endTime) = (end, log.endTime ?? state.endTime)
            }
            (state.hasUnfinishedIndexes, state.buildFailure) = (hasUnfinishedIndexes, nil)
        }
        attend(to: new)
        reader.publish(snapshot)
        state.notifyAll()
        // Others' commits may be among what was folded.
        if isShared { publication.announce(end.offset) }
        wakeBuilder()
    }

    /// Has states released at rest that flushes and merges have replaced: they may be the last that have a generation,
    /// or the files of a whole base. Takes note of damage that these find, and of room that they make.
    func attend(to working: WorkingViews) {
        working.flusher?.onAttempt { [weak self, views = working.views] error in
            if let error { self?.live.note(error, in: views) } else { self?.wake() }
        }
        working.flusher?.onRest { [weak self] in
            guard let self else { return true }
            let isIdle = state.withLock { state in
                guard !state.isClosing, state.turns.areFree, state.turns.claims == 0, state.queue.isEmpty else {
                    return false
                }
                state.turns.takeBoth()
                return true
            }
            guard isIdle else { return false }
            line = nil
            reader.publish(views.trees.snapshot())
            returnTurns()
            return true
        }
    }

    /// Returns true if indexes of a state have to be built. A store that is only read does without them.
    static func hasUnfinishedIndexes(_ snapshot: Snapshot, of log: any EventLog) throws -> Bool {
        try !(log is any ReadOnlyLog) && IndexCatalog(snapshot).isUnfinished
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
}
