import StrataLog
import StrataModel
import StrataRules
import StrataTree
import StrataViews

/// Decides waiting requests. The caller has the turn to decide.
extension Pipeline {
    func decide(_ submissions: [Submission], _ batch: inout Batch) {
        for (index, submission) in submissions.enumerated() {
            let mayWait = index > 0 && submission.audit == nil && log.assignsNextOffset
            let isEnd = mayWait && batch.isLate && !batch.isGrowing
            if isEnd, putBack(submissions[index...]) { return }
            batch.requestBytes += submission.byteCount
            if batch.isBroken {
                batch.entries.append(.init(submission: submission, outcome: .waiting))
                continue
            }
            var submission = submission
            let outcome = outcome(of: &submission, &batch)
            batch.entries.append(.init(submission: submission, outcome: outcome))
        }
    }

    /// Leaves requests to the next batch; returns false if no thread would decide them any more.
    private func putBack(_ submissions: ArraySlice<Submission>) -> Bool {
        state.withLock { state in
            if state.isClosed { return false }
            state.queue.putBack(Array(submissions))
            return true
        }
    }

    /// Returns the current line, or a new one on the published state, to which no other thread is adding then.
    func currentLine() throws -> SpeculativeState {
        assert(holdsTurnToDecide, "the line belongs to the thread with the turn to decide")
        if let line { return line }
        let line = try state.withLock { state in
            try SpeculativeState(on: views, after: state.end, time: state.endTime, losses: state.losses)
        }
        self.line = line
        return line
    }

    private func outcome(of submission: inout Submission, _ batch: inout Batch) -> Batch.Outcome {
        do {
            if let refusal = state.withLock({ $0.refusal }) { return .unavailable(refusal.ofRequests) }
            if let fullness {
                return .unavailable(
                    Refusal(
                        .serviceUnavailable, "Nothing was written: \(fullness)",
                        retryAfterSeconds: Refusal.serverRetrySeconds))
            }
            let line = try currentLine()
            var context = RequestContext(
                actor: submission.actor, time: line.time(submission.audit?.time ?? platform.time.nowMicroseconds()),
                operation: submission.operation, commitID: platform.random.nextIdentifier())
            let decision: Decision
            switch submission.content {
            case .request(let request), .forwarded(let request):
                submission.judgedOn = line.fold.offset
                try reader.context.keys.requireKept(request)
                decision = try rules.decide(request, line.view, context)
            case .audit(let audit):
                context.judgedOn = audit.judgedOn
                decision = try rules.note(audit.event, of: audit.kind, line.view, context)
            }
            switch decision.outcome {
            case .nothing: return .nothing(decision)
            case .repeats(let offset): return .repeats(offset)
            case .commit(let payload):
                guard payload.count <= log.maximumCommitBytes else {
                    throw Refusal(
                        .limitExceeded,
                        "The request's changes take \(payload.count) bytes, more than a commit may have.")
                }
                return try add(decision, payload, by: context, on: line, to: &batch)
            }
        } catch {
            noteDamage(error)
            guard line?.view.fold.isPartial == true else { return .failed(error) }
            // The earlier decisions of the batch are based on the same fork.
            batch.isBroken = true
            return .poisoned(error)
        }
    }

    private func noteDamage(_ error: any Error) {
        if let line { live.note(error, in: line.views) }
    }

    private func add(
        _ decision: Decision, _ payload: [UInt8], by context: RequestContext, on line: SpeculativeState,
        to batch: inout Batch
    ) throws -> Batch.Outcome {
        do {
            let offset = try line.apply(decision, payload, time: context.time)
            if batch.commits.isEmpty { batch.firstOffset = offset }
        } catch {
            // The fork may contain half of the commit.
            batch.isBroken = true
            noteDamage(error)
            return .poisoned(error)
        }
        batch.commits.append(
            NewCommit(
                id: context.commitID, time: context.time, payload: payload[...], touches: decision.touches))
        batch.byteCount += payload.count
        var answered = decision
        // They are no longer needed, and a batch may wait for some time.
        answered.found = FoundStates()
        answered.touches = []
        return .commit(batch.commits.count - 1, answered)
    }

    /// Fails all requests of the batch.
    func fail(_ batch: inout Batch, _ error: any Error) {
        noteDamage(error)
        line = nil
        audits.putBack(batch.removeAudits(includingPoisoned: live.isDamaged))
        batch.commits = []
        for index in batch.entries.indices { batch.entries[index].outcome = .failed(error) }
    }
}
