import StrataLog
import StrataModel
import StrataReplication
import StrataRules
import StrataTree
import StrataViews

/// Follows the other writers of a shared log (docs/replication-internals.md §6).
extension Pipeline {
    /// The time for one attempt to find out what became of an append.
    private static let settlingMilliseconds = 500

    /// Returns the refusal of a request that is not judged, because the end of a shared log is not known.
    static func unconfirmed(_ error: any Error) -> Refusal {
        Refusal(
            .serviceUnavailable, "Cannot confirm that the store is up to date: \(error)",
            retryAfterSeconds: Refusal.serverRetrySeconds)
    }

    /// The state on which a batch was judged, as far as it decides requests that wrote nothing.
    enum Standing {
        /// At the end of the log.
        case confirmed
        /// Before the end of the log: the requests must be judged again, on a state that has everything that was
        /// acknowledged before they came if `isConfirmed`.
        case outdated(isConfirmed: Bool)
        /// The end of the log is not known.
        case unconfirmed(any Error)
    }

    /// Called by the log, on any thread.
    func noteOthers() {
        noteHome()
        let offset = log.end.offset
        let isNews = state.withLock { state in
            state.reportedOffset = max(state.reportedOffset, offset)
            return state.isBehind && !state.turns.isAppending
        }
        if isNews { state.notifyAll() }
    }

    /// Notes commits that were folded from the log, and not by the line. Each has at least one event.
    func noteFolded(_ commits: UInt64, bytes: Int, in snapshot: Snapshot) {
        let hasIndexes = state.withLock { state in
            state.indexes.publishedEvents += commits
            if !state.indexes.hasIndexes {
                // Nothing is compared with an older state later, so none is kept.
                state.indexes.skip(to: snapshot)
            }
            return state.indexes.hasIndexes
        }
        checkpointer?.didPublish(snapshot, bytes: bytes, events: Int(commits), hasAllIndexes: !hasIndexes)
    }

    /// Folds and publishes what others appended. The caller has both turns.
    func applyOthers() {
        line = nil
        let snapshot = following { try recover(from: nil) }
        publication.announce(snapshot.foldedOffset(ViewTree.records))
        reader.context.replacements?.forgetUnused()
    }

    /// Shows the state before a commit that only a later release can read, and stops following the log. The caller has
    /// the turn to append.
    func stop(before error: StrataError) -> Snapshot {
        let before = views.pages.snapshot()
        var (last, bytes) = (before.foldedOffset(ViewTree.records), 0)
        // One commit at a time: the fold that failed published none of them.
        while last < log.end.offset, let more = try? Replay(log: log, pages: views.pages).run(upTo: last + 1) {
            (last, bytes) = (last + 1, bytes + more)
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
        return (try? show(bytes, over: before)) ?? views.pages.snapshot()
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
        if log.end.offset < offset { _ = try log.confirmEnd() }
        while !claimTurns() {
            let (isClosed, refusal, isUnsettled) = state.withLock { ($0.isClosed, $0.refusal, $0.isUnsettled) }
            if isClosed { throw StoreGate.error }
            // The append was settled in the meantime: its outcome is known now.
            guard let refusal else { continue }
            guard isUnsettled else { throw refusal }
            throw StrataError(.unreachable, "The end of the log is not known at present.", cause: refusal)
        }
        defer { returnTurns() }
        if state.withLock({ $0.end.offset < offset }) { applyOthers() }
    }

    /// Determines if the answers to requests of a batch that wrote nothing hold at the end of the log. The caller has
    /// the turn to append.
    func standing(
        of batch: Batch, _ positions: [Position], _ failure: AppendFailure?, _ snapshot: inout Snapshot
    ) -> Standing {
        // Commits that were accepted confirm the state that they and the other requests were decided on.
        guard positions.isEmpty, batch.entries.contains(where: { $0.outcome.isJudgment && !$0.submission.isConfirmed })
        else { return .confirmed }
        if case .conflict = failure { return .outdated(isConfirmed: false) }
        do {
            let end = try log.confirmEnd()
            if end.offset == state.withLock({ $0.end.offset }) { return .confirmed }
        } catch {
            return .unconfirmed(Self.unconfirmed(error))
        }
        // If an outcome is unknown, settling it applies the rest.
        guard state.withLock({ $0.refusal == nil }) else { return .outdated(isConfirmed: false) }
        snapshot = following { try recover(from: nil) }
        return .outdated(isConfirmed: true)
    }

    /// Makes batches smaller if other processes always append first, and larger again after that.
    func noteContention(_ batch: Batch, _ failure: AppendFailure?) {
        if batch.isLazy, failure == nil { noteHome() }
        guard !batch.isLazy else { return }
        if case .conflict = failure {
            state.withLock { state in
                state.queue.noteLoss(ofBatch: batch.entries.count)
                state.contention.noteLoss(at: .now)
            }
            noteHome()
        } else if failure == nil, !batch.commits.isEmpty {
            state.withLock { state in
                state.queue.noteSuccess()
                state.contention.noteSuccess()
            }
            noteHome()
        }
    }

    /// Refuses writes until the outcome of an append is known.
    func awaitOutcome(_ error: StrataError) {
        state.withLock { state in
            if state.refusal == nil { (state.refusal, state.isUnsettled) = (error, true) }
            state.losses += 1
        }
    }

    /// Finds out what became of the append whose outcome is unknown. The caller has both turns, and this gives them up.
    func settle() {
        let start = ContinuousClock.now
        if (try? log.settle(milliseconds: Self.settlingMilliseconds)) != nil {
            // IMPORTANT: Do this before writes are accepted: from then on, other threads rely on a state that has all
            // commits.
            applyOthers()
            state.withLock { state in
                if state.isUnsettled { (state.refusal, state.isUnsettled) = (nil, false) }
            }
            wakeBuilder()
            return returnTurns()
        }
        // If the outcome is still unknown, pause before the next attempt.
        state.withLock { $0.isSettlingPaused = true }
        returnTurns()
        // Long enough for another thread to answer the requests that wait.
        let left = max(100, Self.settlingMilliseconds - Int(start.duration(to: .now) / .milliseconds(1)))
        state.wait(milliseconds: left) { $0.isClosed ? () : nil }
        state.withLock { $0.isSettlingPaused = false }
    }
}

extension Batch.Outcome {
    /// True for an answer to a request that wrote nothing, which depends on the state.
    fileprivate var isJudgment: Bool {
        switch self {
        case .nothing, .repeats, .failed: true
        case .commit, .poisoned, .unavailable, .waiting: false
        }
    }
}
