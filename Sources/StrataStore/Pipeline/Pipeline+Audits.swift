import StrataLog
import StrataModel
import StrataRules

/// Audits, which record events other than requests. They follow the commits of a complete batch, so that no decision of
/// the batch is based on a commit that may be lost.
extension Pipeline {
    // MARK: Noting

    /// Notes requests that were refused or changed nothing. The caller has the turn to append.
    func noteRefusals(_ answers: BatchAnswers.List) {
        guard audits.policy.recordsRefusals else { return }
        let time = platform.time.nowMicroseconds()
        keep(audits.admit(answers.compactMap { Audit($0, answeredWith: $1, at: time) }))
    }

    /// Notes a fetch. A reader that is faster than the notes can be written waits.
    func noteFetch(_ event: FetchedEvent, _ kind: EnvelopeHeader.OperationKind, by actor: Actor) {
        keep(try? event.event(), kind, by: actor)
        if audits.isFull, acceptsWrites { audits.awaitRoom() }
    }

    /// Notes a fault that a client met and that never reached the store as a request.
    func noteFault(_ note: ConsoleNote) {
        keep(try? ConsoleActedEvent(note).event(), .console, by: .service)
    }

    private func keep(_ event: Event?, _ kind: EnvelopeHeader.OperationKind, by actor: Actor) {
        guard let event else { return }
        let time = platform.time.nowMicroseconds()
        keep([Audit(actor: actor, operation: OperationInfo(), kind: kind, time: time, event: event)])
    }

    private func keep(_ audits: [Audit]) {
        switch state.withLock({ $0.refusal }) {
        case .forGood: return
        case .unsettled where self.audits.isFull: return
        case .unsettled, nil: break
        }
        self.audits.add(audits) { [self] in
            var isWritten = true
            while self.audits.awaitDue(again: !isWritten) { isWritten = writeAudits() }
        }
    }

    // MARK: Writing

    /// Adds the waiting audits after the requests of a batch. The caller has both turns.
    func addAudits(to batch: inout Batch) {
        guard acceptsWrites else { return }
        // These would arrive in other copies after an erasure that they have carried out.
        if isShared, log.segments?.isErasing == true { audits.removeRequests() }
        decide(audits.take().map { Submission($0) }, &batch)
    }

    /// Writes the waiting audits in a batch of their own, without a sync; returns false if the store takes no writes.
    @discardableResult
    func writeAudits() -> Bool {
        awaitRoom()
        guard claimTurns() else { return false }
        defer { returnTurns() }
        // Another thread may have lost the line.
        if isLineLost { line = nil }
        if live.isDamaged || state.withLock({ mustFollow(&$0) }) { followLog() }
        var batch = Batch()
        addAudits(to: &batch)
        complete(&batch)
        putBackIfDamaged(&batch)
        if !batch.commits.isEmpty { _ = append(&batch) }
        return true
    }
}
