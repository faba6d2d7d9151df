import StrataLog
import StrataModel
import StrataSystem
import StrataTree

/// Sends requests to the home writer, and judges those of others (docs/replication-internals.md §6).
extension Pipeline {
    /// The time in which the home writer answers; elections of the log's servers count against it.
    private static let answerMilliseconds = 12_000

    // MARK: Sending

    /// Notes which process is the home writer, if requests are to be sent to it now.
    func noteHome() {
        guard let forwarding else { return }
        // Under the lock, so that an older answer never replaces a newer one. The log calls nothing under its own.
        state.withLock { $0.home = home(forwarding, $0.contention) }
    }

    private func home(_ forwarding: Forwarding, _ contention: Contention) -> Identifier? {
        guard forwarding.sendsAll || contention.yields(at: .now), forwarding.log.status.failure == nil else {
            return nil
        }
        return forwarding.log.home
    }

    /// Sends the waiting requests to the home writer, until the pipeline is closed.
    func runForwarding() {
        while let (submissions, home, admissions) = awaitOutbox() {
            for admission in admissions { admission.open() }
            guard let home else {
                decideHere(submissions)
                continue
            }
            forward(submissions, to: home)
        }
    }

    private func awaitOutbox() -> (submissions: [Submission], home: Identifier?, admissions: [Admission])? {
        let limit = (forwarding?.carrier.maximumMessageBytes ?? 0) / 2
        return state.wait { state -> ([Submission], Identifier?, [Admission])?? in
            if state.outbox.isEmpty { return state.isClosing ? .some(nil) : nil }
            defer { state.admissions = [] }
            return (state.outbox.take(byteCount: limit), state.destination, state.admissions)
        }
    }

    /// Puts requests into this process's own queue.
    private func decideHere(_ submissions: [Submission]) {
        guard !submissions.isEmpty else { return }
        state.withLock { state in
            for var submission in submissions {
                submission.isKept = true
                state.queue.append(submission)
            }
        }
        state.notifyAll()
    }

    private func forward(_ submissions: [Submission], to home: Identifier) {
        guard let forwarding else { return decideHere(submissions) }
        var (sent, encoded): ([Submission], [[UInt8]]) = ([], [])
        var (kept, later): ([Submission], [Submission]) = ([], [])
        let limit = forwarding.carrier.maximumMessageBytes - 16
        var room = limit
        for submission in submissions {
            guard let bytes = try? ForwardedRequests.encoded(submission), bytes.count <= limit else {
                kept.append(submission)
                continue
            }
            guard later.isEmpty, bytes.count <= room else {
                later.append(submission)
                continue
            }
            room -= bytes.count
            sent.append(submission)
            encoded.append(bytes)
        }
        decideHere(kept)
        if !later.isEmpty {
            state.withLock { $0.outbox.putBack(later) }
            state.notifyAll()
        }
        guard !sent.isEmpty else { return }
        let message = ForwardedRequests.message(encoded)
        switch forwarding.carrier.ask(home, message, milliseconds: Self.answerMilliseconds) {
        case .undelivered:
            forget(home)
            sendAgain(sent)
        case .unknown(let error):
            forget(home)
            resume(sent, with: error)
        case .answer(let bytes) where bytes.isEmpty:
            // A process that could not read the message, or is being closed.
            forget(home)
            sendAgain(sent)
        case .answer(let bytes): take(bytes, for: sent, from: home)
        }
    }

    private func take(_ answer: [UInt8], for sent: [Submission], from home: Identifier) {
        do {
            let outcomes = try ForwardedOutcomes(decoding: answer, count: sent.count).outcomes
            let offsets = outcomes.compactMap { if case .committed(let offset) = $0 { offset } else { nil } }
            if let last = offsets.max() { try show(last) }
            let snapshot = views.pages.snapshot()
            var rest: [Submission] = []
            for (submission, outcome) in zip(sent, outcomes) {
                switch outcome {
                case .committed(let offset):
                    let answer = settled(.repeats(offset), snapshot, as: submission.request)
                    if case .failure(let error as StrataError) = answer {
                        // The commit of another request: the answer is not one of the home writer.
                        forget(home)
                        resume([submission], with: error)
                    } else {
                        submission.reply.resume(answer)
                    }
                case .nothing: rest.append(submission)
                case .unknown:
                    resume(
                        [submission],
                        with: StrataError(
                            .outcomeUnknown, "The home writer does not know whether the request was applied."))
                }
            }
            // Refused requests are few, so they are judged twice rather than carried back.
            decideHere(rest)
        } catch {
            forget(home)
            resume(sent, with: error)
        }
    }

    /// Applies a commit that the home writer named.
    private func show(_ offset: UInt64) throws {
        // While an append of this process is settled, no state can be published.
        state.wait { $0.isUnsettled && !$0.isClosed ? nil : () }
        try apply(through: offset)
        guard publication.offset >= offset else {
            throw StrataError(
                .outcomeUnknown, "The home writer named a commit that this process does not have.",
                .init(offset: offset))
        }
    }

    /// Chooses another home writer, if there is one.
    private func forget(_ home: Identifier) {
        guard let forwarding else { return }
        forwarding.log.forget(home)
        state.withLock { state in
            if state.home == home { state.home = self.home(forwarding, state.contention) }
        }
    }

    /// Sends requests that no process has judged to the next home writer, or judges them here.
    private func sendAgain(_ submissions: [Submission]) {
        let isSent = state.withLock { state in
            guard state.destination != nil else { return false }
            state.outbox.putBack(submissions)
            return true
        }
        if isSent { state.notifyAll() } else { decideHere(submissions) }
    }

    private func resume(_ submissions: [Submission], with error: any Error) {
        let refusal = Refusal(
            .serverResponseLost, "The request may or may not have been applied: \(error)",
            retryAfterSeconds: Refusal.serverRetrySeconds)
        for submission in submissions { submission.reply.resume(.failure(refusal)) }
    }

    // MARK: Judging for others

    /// Judges the requests of another process, and answers with their outcomes.
    func serve(_ message: [UInt8], _ answer: @escaping @Sendable ([UInt8]) -> Void) {
        // A process of a later release judges its requests itself.
        guard let items = try? ForwardedRequests(decoding: message).items, !items.isEmpty else { return answer([]) }
        let outcomes = Lock((known: 0, list: [ForwardedOutcomes.Outcome](repeating: .nothing, count: items.count)))
        for (index, item) in items.enumerated() {
            var submission = Submission(
                item.request, as: item.actor, item.operation,
                reply: .function { result in
                    let list = outcomes.withLock { outcomes in
                        outcomes.list[index] = Self.outcome(of: result)
                        outcomes.known += 1
                        return outcomes.known == items.count ? outcomes.list : nil
                    }
                    if let list { answer(ForwardedOutcomes(list).encoded()) }
                })
            (submission.isKept, submission.isForwarded) = (true, true)
            enqueue(submission)
        }
    }

    private static func outcome(of result: Result<Answer, any Error>) -> ForwardedOutcomes.Outcome {
        switch result {
        case .success(let answer): answer.offset.map { .committed($0) } ?? .nothing
        case .failure(let refusal as Refusal) where refusal.code == .serverResponseLost: .unknown
        case .failure: .nothing
        }
    }
}
