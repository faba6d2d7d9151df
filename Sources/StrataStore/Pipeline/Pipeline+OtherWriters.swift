import StrataLog
import StrataModel
import StrataReplication
import StrataRules
import StrataTree
import StrataViews

/// Follows the other writers of a shared log (docs/replication-internals.md §6).
extension Pipeline {
    /// Returns the refusal of a request that is not judged, because the end of a shared log is not known.
    static func unconfirmed(_ error: any Error) -> Refusal {
        Refusal(
            .serviceUnavailable, "Cannot confirm that the store is up to date: \(error)",
            retryAfterSeconds: Refusal.serverRetrySeconds)
    }

    /// Called by the log, on any thread.
    func noteNews() {
        front?.noteBatch(isAppended: nil)
        if state.withLock({ mustFollow(&$0) && !$0.turns.isAppending }) { state.notifyAll() }
    }

    /// True if the views are damaged, or if a shared log has commits that no state shows yet, or has found out about an
    /// append whose outcome was unknown. The log calls nothing under its own lock.
    func mustFollow(_ state: inout State) -> Bool {
        // A store that is being closed folds them again only for requests and audits that wait.
        if live.isDamaged { return !state.isClosing || !state.queue.isEmpty }
        guard isShared, !state.isClosed else { return false }
        return switch state.refusal {
        case .forGood: false
        case .unsettled: !log.isUnsettled
        case nil: !state.turns.isAppending && log.end.offset > state.end.offset && flusher?.isFull != true
        }
    }

    /// Folds damaged views again. Otherwise folds and publishes what others appended, and accepts writes again if the
    /// log has found out about an append whose outcome was unknown. The caller has both turns.
    func followLog() {
        assert(holdsBothTurns, "the views follow the log with both turns")
        line = nil
        if live.isDamaged {
            rebuildDamagedViews()
            return
        }
        let snapshot = following { try recover(from: nil) }
        // IMPORTANT: Do this after the views have followed the log: from then on, other threads rely on a state that
        // has all commits.
        let isLifted = state.withLock { state in
            guard state.isUnsettled else { return false }
            state.refusal = nil
            return true
        }
        if isLifted { wakeBuilder() }
        publication.announce(snapshot.foldedOffset(ViewTree.records))
    }

    /// Shows the state before a commit that only a later release can read, and stops following the log. The caller has
    /// the turn to append.
    func stop(before error: StrataError) -> Snapshot {
        let before = views.trees.snapshot()
        var last = before.foldedOffset(ViewTree.records)
        // One commit at a time: the fold that failed published none of them.
        while last < log.end.offset, (try? Replay(log: log, trees: views.trees).run(upTo: last + 1)) != nil {
            last += 1
        }
        let failure = StrataError(
            .newerFormat,
            """
            A later release wrote this commit. This release has stopped following the log and accepting writes: update \
            the program.
            """,
            .init(offset: last + 1, found: error.context.found), cause: error)
        refuse(failure)
        (log as? ReplicatedLog)?.stop(because: failure)
        return (try? show(over: before)) ?? views.trees.snapshot()
    }

    /// Applies everything that was acknowledged to anyone before the call.
    ///
    /// - Throws: ``StrataError`` if the end of the log cannot be confirmed.
    func catchUp() throws {
        if isShared { try apply(through: try log.confirmEnd().offset) }
    }

    /// Applies the commits up to one that the log has, or will have in a moment.
    func apply(through offset: UInt64) throws {
        guard publication.offset < offset else { return }
        if let fullness { throw fullness }
        if log.end.offset < offset { _ = try log.confirmEnd() }
        while !claimTurns() {
            let (isClosed, refusal) = state.withLock { ($0.isClosed, $0.refusal) }
            if isClosed { throw StoreGate.error }
            switch refusal {
            // The append was settled in the meantime: its outcome is known now.
            case nil: continue
            case .forGood(let error): throw error
            case .unsettled(let error):
                throw StrataError(.unreachable, "The end of the log is not known at present.", cause: error)
            }
        }
        defer { returnTurns() }
        if state.withLock({ $0.end.offset < offset }) { followLog() }
    }

    /// Determines if the answers to requests of a batch that wrote nothing hold at the end of the log. The caller has
    /// the turn to append.
    func standing(
        of batch: Batch, _ positions: [Position], _ failure: AppendFailure?, _ snapshot: inout Snapshot
    ) -> BatchAnswers.Standing {
        // Commits that were accepted confirm the state that they and the other requests were decided on.
        guard positions.isEmpty, batch.entries.contains(where: \.needsConfirmation) else { return .confirmed }
        if case .conflict = failure { return .outdated(confirmedEnd: nil) }
        do {
            let end = try log.confirmEnd()
            if end.offset == state.withLock({ $0.end.offset }) { return .confirmed }
        } catch {
            return .unconfirmed(Self.unconfirmed(error))
        }
        // If an outcome is unknown, settling it applies the rest.
        guard acceptsWrites else { return .outdated(confirmedEnd: nil) }
        if let fullness { return .unconfirmed(Self.unconfirmed(fullness)) }
        snapshot = following { try recover(from: nil) }
        return .outdated(confirmedEnd: snapshot.foldedOffset(ViewTree.records))
    }

    /// Makes batches smaller if other processes always append first, and larger again after that.
    func noteContention(_ batch: Batch, _ failure: AppendFailure?) {
        if batch.isLazy {
            if failure == nil { front?.noteBatch(isAppended: nil) }
        } else if case .conflict = failure {
            state.withLock { $0.queue.noteLoss(ofBatch: batch.entries.count) }
            front?.noteBatch(isAppended: false)
        } else if failure == nil, !batch.commits.isEmpty {
            state.withLock { $0.queue.noteSuccess() }
            front?.noteBatch(isAppended: true)
        }
    }

    /// Refuses writes until the outcome of an append is known.
    func refuseUntilSettled(_ error: StrataError) {
        state.withLock { state in
            state.refusal = state.refusal ?? .unsettled(error)
            state.losses += 1
        }
    }
}
