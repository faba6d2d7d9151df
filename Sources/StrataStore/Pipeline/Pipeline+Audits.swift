import StrataLog
import StrataModel
import StrataRules
import StrataTree
import StrataViews

/// Lazy commits, which record events other than requests. They follow the commits of a complete batch, so that no
/// decision of the batch is based on a commit that may be lost.
extension Pipeline {
    // MARK: Noting

    /// Notes requests that were refused or changed nothing. The caller has the turn to append.
    func noteRefusals(_ answers: Answers) {
        guard auditPolicy.recordsRefusals else { return }
        let time = platform.time.nowMicroseconds()
        let audits = answers.compactMap { submission, answer in
            // The process that sent the request judges it again.
            submission.isForwarded ? nil : Audit(submission, answeredWith: answer, at: time)
        }
        if audits.isEmpty { return }
        keep(state.withLock { state in audits.map { state.keptRequests.admit($0) } })
    }

    /// Notes a fetch. A reader that is faster than the notes can be written waits.
    func noteFetch(_ event: FetchedEvent, _ kind: EnvelopeHeader.OperationKind, by actor: Actor) {
        guard let event = try? event.event() else { return }
        keep([
            Audit(
                actor: actor, operation: OperationInfo(), kind: kind, time: platform.time.nowMicroseconds(),
                event: event)
        ])
        guard state.withLock({ $0.audits.isFull }) else { return }
        state.withLock { $0.turns.waiters += 1 }
        let limit = auditPolicy.delayMilliseconds
        _ = state.wait(milliseconds: limit) { !$0.audits.isFull || $0.isClosed || $0.refusal != nil ? () : nil }
        state.withLock { $0.turns.waiters -= 1 }
    }

    /// Notes a fault that a client met and that never reached the store as a request.
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
            if state.refusal != nil, !state.isUnsettled || state.audits.isFull { return false }
            state.audits.add(audits)
            defer { state.audits.isTimed = true }
            return !state.audits.isTimed || state.audits.isFull
        }
        if wakes { state.notifyAll() }
    }

    // MARK: Writing

    /// Adds the waiting audits after the commits of a batch. The caller has both turns.
    ///
    /// - Parameter always: true to add them even if there is no commit to join.
    func addAudits(to batch: inout Batch, always: Bool = false) {
        // These would arrive in other copies after an erasure that they have carried out.
        if isShared, log.segments?.isErasing == true { dropRequestAudits() }
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
                // Whatever the error, this audit must not break the next batch too.
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
        var context = RequestContext(
            actor: audit.actor, time: time, operation: audit.operation, commitID: platform.random.nextIdentifier())
        context.judgedOn = audit.judgedOn
        let decision = try rules.note(audit.event, of: audit.kind, line.view, context)
        guard case .commit(let payload) = decision.outcome else { return }
        guard payload.count <= log.maximumCommitBytes else {
            throw StrataError(
                .tooLarge, "An audit exceeds the size limit of a commit.", .init(found: "\(payload.count)"))
        }
        let offset = try line.apply(decision, payload, time: time)
        if batch.commits.isEmpty { batch.firstOffset = offset }
        batch.commits.append(NewCommit(id: context.commitID, time: time, payload: payload[...]))
        batch.byteCount += payload.count
    }

    /// Drops the waiting audits that contain what requests would have saved.
    func dropRequestAudits() { state.withLock { $0.audits.removeRequests() } }

    /// Puts back the audits of a batch that did not reach the log. If it is unknown which did, nothing more is written.
    func putBackAudits(of batch: inout Batch, written: Int) {
        let rest = batch.audits.dropFirst(max(0, written - batch.auditStart))
        batch.audits = []
        guard !rest.isEmpty else { return }
        state.withLock { state in
            if state.refusal == nil { state.audits.putBack(Array(rest)) }
        }
    }

    /// Writes only audits, without a sync. The caller has both turns and keeps them.
    func writeAudits() {
        awaitRoom()
        if line.map({ line in state.withLock { $0.losses } != line.losses }) ?? false { line = nil }
        var batch = Batch()
        batch.isLazy = true
        addAudits(to: &batch, always: true)
        if batch.isBroken {
            line = nil
            if let damage = batch.damage, live.rebuilder != nil { try? rebuildViews(damage) }
            return
        }
        guard !batch.commits.isEmpty else { return }
        stack(&batch)
        _ = append(&batch)
    }

    /// Writes the last audits. No other thread has a turn now.
    func writeLastAudits() {
        for _ in 0..<3 where state.withLock({ !$0.audits.isEmpty && $0.refusal == nil }) { writeAudits() }
    }
}
