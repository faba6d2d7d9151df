import StrataLog
import StrataModel
import StrataRules
import StrataTree
import StrataViews

/// Writes and publishes batches, and builds the answers. The caller has the turn to append.
extension Pipeline {
    typealias Answers = [(Submission, Result<Answer, any Error>)]

    func append(_ batch: inout Batch) -> Answers {
        let (positions, failure) = write(batch)
        let isAsPlanned =
            failure == nil
            && positions.enumerated().allSatisfy { index, position in
                position.offset == batch.firstOffset + UInt64(index)
            }
        var snapshot = views.pages.snapshot()
        if let fork = batch.fork, isAsPlanned {
            snapshot = following { try publish(batch, fork) }
        } else if !batch.commits.isEmpty {
            batch.fork = nil
            snapshot = following { try recover(from: failure) }
        }
        var standing = Standing.confirmed
        if isShared {
            noteContention(batch, failure)
            standing = self.standing(of: batch, positions, failure, &snapshot)
        }
        // A lazy batch changes nothing, so no reader waits for it, unless another process's commits came first.
        if !batch.isLazy || failure != nil { publication.announce(snapshot.foldedOffset(ViewTree.records)) }
        reader.context.replacements?.forgetUnused()
        return answers(batch, positions, failure, standing, showing: snapshot)
    }

    /// Returns the state that the body publishes. If the body fails, rebuilds the views; if that fails too, stops
    /// accepting writes and returns the newest state.
    func following(_ body: () throws -> Snapshot) -> Snapshot {
        do { return try body() } catch {
            if let rebuilt = rebuilt(after: error) { return rebuilt }
            if isShared, let error = error as? StrataError, error.code == .newerFormat { return stop(before: error) }
            // The commits are in the log, but no state shows them, so no request can be decided.
            refuse(StrataError(.refusingWrites, "The views could not follow the log.", cause: error))
            return views.pages.snapshot()
        }
    }

    /// Writes all commits, or a prefix, and returns why it stopped. Continues with the rest if the log accepts only a
    /// part.
    private func write(_ batch: Batch) -> (positions: [Position], failure: AppendFailure?) {
        let commits = batch.commits
        var positions: [Position] = []
        var end = state.withLock { $0.end }
        assert(holdsTurnToAppend, "only the thread with the turn to append writes")
        assert(commits.isEmpty || acceptsWrites, "nothing is written after a refusal")
        assert(commits.isEmpty || batch.firstOffset == end.offset + 1, "batches are appended as they were decided")
        while positions.count < commits.count {
            let rest = positions.isEmpty ? commits : Array(commits[positions.count...])
            do throws(AppendFailure) {
                positions +=
                    try batch.isLazy
                    ? log.appendLazily(rest, expecting: end).positions : log.append(rest, expecting: end).positions
                end = positions.last ?? end
            } catch {
                advance(to: end, commits.prefix(positions.count).last?.time)
                return (positions, error)
            }
        }
        advance(to: end, commits.last?.time)
        return (positions, nil)
    }

    private func advance(to end: Position, _ time: Int64?) {
        state.withLock { state in
            assert(state.turns.isMineToAppend && end.offset >= state.end.offset, "the end moves forward, in a turn")
            state.end = end
            state.endTime = time ?? state.endTime
        }
    }

    /// Makes the views follow a log that differs from the plan. Everything that was decided is decided again.
    func recover(from failure: AppendFailure?) throws -> Snapshot {
        let known = state.withLock { state in
            assert(state.turns.isMineToAppend, "only the thread with the turn to append publishes")
            state.losses += 1
            return state.end
        }
        let before = views.pages.snapshot()
        let bytes: Int
        if case .unknown(let error) = failure {
            if isShared { refuseUntilSettled(error) } else { refuse(error) }
            // Shows the commits acknowledged before; the rest of the log may contain anything.
            bytes = try Replay(log: log, pages: views.pages).run(upTo: known.offset)
        } else {
            // In this order, because the end of a shared log may move: a time that is too late harms nothing.
            let end = log.end
            let time = log.endTime
            bytes = try Replay(log: log, pages: views.pages).run(upTo: end.offset)
            state.withLock { state in
                state.end = end
                state.endTime = time ?? state.endTime
            }
        }
        return try show(bytes, over: before)
    }

    /// Publishes the state that was folded from the log.
    func show(_ bytes: Int, over before: Snapshot) throws -> Snapshot {
        let snapshot = views.pages.snapshot()
        reader.newestReaders.take(snapshot)
        let commits = snapshot.foldedOffset(ViewTree.records) - before.foldedOffset(ViewTree.records)
        if commits > 0 { noteFolded(commits, bytes: bytes, in: snapshot) }
        try noteCatalog(snapshot, over: before)
        return snapshot
    }

    func refuse(_ error: StrataError) {
        state.withLock { state in
            if state.refusal?.isUnsettled ?? true { state.refusal = .forGood(error) }
            state.losses += 1
        }
    }

    // MARK: Answers

    private func answers(
        _ batch: Batch, _ positions: [Position], _ failure: AppendFailure?, _ standing: Standing,
        showing snapshot: Snapshot
    ) -> Answers {
        var answers: Answers = []
        answers.reserveCapacity(batch.entries.count)
        var again: [Submission] = []
        var audits: [Audit] = []
        /// True if an earlier commit was lost on which later decisions may be based.
        var mustRetryRest = false
        for entry in batch.entries {
            func answer(_ result: Result<Answer, any Error>) { answers.append((entry.submission, result)) }
            if let audit = entry.submission.audit {
                guard case .commit(let index, _) = entry.outcome, index >= positions.count else { continue }
                mustRetryRest = true
                audits.append(audit)
                continue
            }
            switch entry.outcome {
            case .commit(let index, let decision) where index < positions.count:
                let offset = positions[index].offset
                assert(offset <= snapshot.foldedOffset(ViewTree.records) || !acceptsWrites, "an answer is shown first")
                answer(
                    .success(
                        Answer(result: decision.result(at: offset), offset: offset, snapshot: reader.make(snapshot))))
            case .commit(_, let decision):
                mustRetryRest = true
                if let refusal = refusal(for: failure, decision) {
                    answer(.failure(refusal))
                } else {
                    again.append(entry.submission)
                }
            case .waiting: again.append(entry.submission)
            case .poisoned(let error), .unavailable(let error): answer(.failure(error))
            case .nothing, .repeats, .failed:
                switch standing {
                case .confirmed where !mustRetryRest: answer(settled(entry.outcome, snapshot))
                case .confirmed: again.append(entry.submission)
                case .outdated(let confirmedEnd):
                    var submission = entry.submission
                    submission.confirmedEnd = confirmedEnd ?? submission.confirmedEnd
                    again.append(submission)
                case .unconfirmed(let error): answer(.failure(error))
                }
            }
        }
        if !again.isEmpty { putBack(again) }
        // If it is not known which are in the log, nothing more is written.
        if acceptsWrites { self.audits.putBack(audits) }
        return answers
    }

    /// Returns the refusal of a request whose commit was not appended; nil if the request is to be judged again.
    private func refusal(for failure: AppendFailure?, _ decision: Decision) -> Refusal? {
        switch failure {
        case .unknown(let error):
            Refusal(
                .serverResponseLost, "The request may or may not have been applied: \(error)",
                retryAfterSeconds: isShared ? Refusal.serverRetrySeconds : nil)
        case .notWritten(let error):
            Refusal(
                .serviceUnavailable, "Nothing was written: \(error)",
                retryAfterSeconds: isShared && error.code == .unreachable ? Refusal.serverRetrySeconds : nil)
        case .tooLarge(let limit):
            Refusal(
                .limitExceeded, "\(decision.eventCount) changes take more than the \(limit) bytes of a commit.")
        case .conflict, nil: nil
        }
    }

    /// Puts back requests to be judged again, here or at the home writer: others might append first forever.
    private func putBack(_ submissions: [Submission]) {
        let own = front?.takeBack(submissions) ?? submissions
        state.withLock { $0.queue.putBack(own) }
    }

    /// Returns the answer to a request that wrote nothing, or repeats one that did.
    ///
    /// - Parameter request: the request that the commit must be of; nil if this process found the commit.
    func settled(
        _ outcome: Batch.Outcome, _ snapshot: Snapshot, as request: Request? = nil
    ) -> Result<Answer, any Error> {
        switch outcome {
        case .nothing(let decision):
            return .success(Answer(result: decision.result(at: 0), offset: nil, snapshot: reader.make(snapshot)))
        case .repeats(let offset):
            return Result {
                guard offset > log.floor.offset, let commit = try log.commit(at: offset) else {
                    throw Refusal(
                        .serverRejectedRequest,
                        "This request was applied earlier, but its result is no longer in the log.")
                }
                return Answer(
                    result: try RequestResult(of: commit, as: request), offset: offset, snapshot: reader.make(snapshot))
            }
        case .failed(let error): return .failure(error)
        case .commit, .poisoned, .unavailable, .waiting: preconditionFailure("an outcome that is answered elsewhere")
        }
    }
}
