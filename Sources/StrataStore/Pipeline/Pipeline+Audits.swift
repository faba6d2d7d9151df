import StrataLog
import StrataModel
import StrataRules
import StrataTree
import StrataViews

/// Lazy commits: what is noted beside the requests. They get their places in the log when a batch is complete, behind
/// its commits, so that nothing is decided on top of them that could be lost without them.
extension Pipeline {
    // MARK: Noting

    /// Requests that came to nothing. The caller has the turn to append.
    func noteRefusals(_ answers: Answers) {
        guard auditPolicy.recordsRefusals else { return }
        let time = platform.time.nowMicroseconds()
        let audits = answers.compactMap { submission, answer in
            Audit(submission.request, submission.actor, submission.operation, time, answer)
        }
        keep(audits)
    }

    /// What somebody reads. Who reads faster than it can be noted waits.
    func noteFetch(_ event: FetchedEvent, _ kind: EnvelopeHeader.OperationKind, by actor: Actor) {
        guard let event = try? event.event() else { return }
        keep([
            Audit(
                actor: actor, operation: OperationInfo(), kind: kind, time: platform.time.nowMicroseconds(),
                event: event)
        ])
        guard state.withLock({ $0.audits.isFull }) else { return }
        state.withLock { $0.turnWaiters += 1 }
        let limit = auditPolicy.delayMilliseconds
        _ = state.wait(milliseconds: limit) { !$0.audits.isFull || $0.isClosed || $0.refusal != nil ? () : nil }
        state.withLock { $0.turnWaiters -= 1 }
    }

    /// What a client met with that never reached the store as a request.
    func noteFault(_ note: ConsoleNote) {
        guard let event = try? ConsoleActedEvent(note).event() else { return }
        keep([
            Audit(
                actor: .service, operation: OperationInfo(), kind: .console,
                time: platform.time.nowMicroseconds(), event: event)
        ])
    }

    private func keep(_ audits: [Audit]) {
        guard !audits.isEmpty else { return }
        let wakes = state.withLock { state in
            if state.refusal != nil { return false }
            state.audits.add(audits)
            defer { state.audits.isTimed = true }
            return !state.audits.isTimed || state.audits.isFull
        }
        if wakes { state.notifyAll() }
    }

    // MARK: Writing

    /// Puts what waits behind the commits of a batch. Both turns are the caller's.
    ///
    /// - Parameter always: also where there is no commit to ride with.
    func addAudits(to batch: inout Batch, always: Bool = false) {
        let audits = state.withLock { state in
            guard state.refusal == nil, always || !batch.commits.isEmpty || state.audits.isFull else {
                return [Audit]()
            }
            return state.audits.take()
        }
        batch.auditStart = batch.commits.count
        for (index, audit) in audits.enumerated() {
            do {
                try add(audit, to: &batch)
                batch.audits.append(audit)
            } catch {
                // Whatever it is, it must not stand in the way of the next batch too.
                state.withLock { $0.audits.putBack(batch.audits + audits[(index + 1)...]) }
                batch.audits = []
                batch.isBroken = true
                if let line, batch.damage == nil { batch.damage = ViewsDamage(error, line.views) }
                return
            }
        }
    }

    private func add(_ audit: Audit, to batch: inout Batch) throws {
        let line = currentLine()
        let time = line.time(audit.time)
        let context = RequestContext(actor: audit.actor, time: time, operation: audit.operation)
        let decision = try rules.note(audit.event, of: audit.kind, line.view, context)
        guard case .commit(let payload) = decision.outcome else { return }
        guard payload.count <= log.maximumCommitBytes else {
            throw StrataError(.tooLarge, "An audit is more than a commit may have.", .init(found: "\(payload.count)"))
        }
        let offset = try line.apply(decision, payload, time: time)
        if batch.commits.isEmpty { batch.firstOffset = offset }
        batch.commits.append(NewCommit(id: platform.random.nextIdentifier(), time: time, payload: payload[...]))
        batch.byteCount += payload.count
    }

    /// What of a batch did not get into the log waits again. Where nobody knows what did, nothing is written any more.
    func putBackAudits(of batch: inout Batch, written: Int) {
        let rest = batch.audits.dropFirst(max(0, written - batch.auditStart))
        batch.audits = []
        guard !rest.isEmpty else { return }
        state.withLock { state in
            if state.refusal == nil { state.audits.putBack(Array(rest)) }
        }
    }

    /// Audits alone, without a sync. The caller has both turns, and keeps them.
    func writeAudits() {
        awaitRoom()
        if line.map({ line in state.withLock { $0.losses } != line.losses }) ?? false { line = nil }
        var batch = Batch()
        batch.isLazy = true
        addAudits(to: &batch, always: true)
        if batch.isBroken {
            line = nil
            if let damage = batch.damage, rebuilder != nil { try? rebuildViews(damage) }
            return
        }
        guard !batch.commits.isEmpty else { return }
        stack(&batch)
        _ = append(&batch)
    }

    /// The last ones. Nobody else has a turn any more.
    func writeLastAudits() {
        for _ in 0..<3 where state.withLock({ !$0.audits.isEmpty && $0.refusal == nil }) { writeAudits() }
    }
}
