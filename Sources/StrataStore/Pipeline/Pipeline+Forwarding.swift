import StrataLog
import StrataModel
import StrataSystem
import StrataTree

/// Sends requests to the process that writes most, and judges those of others (docs/replication.md §6).
extension Pipeline {
    /// The time in which the home writer answers; elections of the log's servers count against it.
    private static let answerMilliseconds = 12_000

    // MARK: Sending

    /// Notes which process wrote last.
    func noteHome() {
        guard let forwarding, forwarding.isUsual else { return }
        let home = forwarding.log.home
        state.withLock { $0.home = home }
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
            if state.outbox.isEmpty { return state.isClosed ? .some(nil) : nil }
            defer { state.admissions = [] }
            return (state.outbox.take(byteCount: limit), state.home, state.admissions)
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
        var (sent, encoded, kept): ([Submission], [[UInt8]], [Submission]) = ([], [], [])
        var room = forwarding.carrier.maximumMessageBytes - 16
        for submission in submissions {
            if let bytes = try? ForwardedRequests.encoded(submission), bytes.count <= room {
                room -= bytes.count
                sent.append(submission)
                encoded.append(bytes)
            } else {
                kept.append(submission)
            }
        }
        decideHere(kept)
        guard !sent.isEmpty else { return }
        let message = ForwardedRequests.message(encoded)
        switch forwarding.carrier.ask(home, message, milliseconds: Self.answerMilliseconds) {
        case .undelivered:
            forget(home)
            decideHere(sent)
        case .unknown(let error):
            forget(home)
            resume(sent, with: error)
        case .answer(let bytes) where bytes.isEmpty:
            // A process that could not read the message, or is being closed.
            forget(home)
            decideHere(sent)
        case .answer(let bytes): take(bytes, for: sent, from: home)
        }
    }

    private func take(_ answer: [UInt8], for sent: [Submission], from home: Identifier) {
        do {
            let outcomes = try ForwardedOutcomes(decoding: answer, count: sent.count).outcomes
            let offsets = outcomes.compactMap { if case .committed(let offset) = $0 { offset } else { nil } }
            if let last = offsets.max() { try apply(through: last) }
            let snapshot = views.pages.snapshot()
            var rest: [Submission] = []
            for (submission, outcome) in zip(sent, outcomes) {
                switch outcome {
                case .committed(let offset):
                    submission.reply.resume(settled(.repeats(offset), snapshot))
                case .nothing: rest.append(submission)
                case .unknown:
                    resume([submission], with: StrataError(.outcomeUnknown, "The home writer does not know it."))
                }
            }
            // Refused requests are few, so they are judged twice rather than carried back.
            decideHere(rest)
            if forwarding?.isUsual == false { forget(home) }
        } catch {
            forget(home)
            resume(sent, with: error)
        }
    }

    private func forget(_ home: Identifier) {
        state.withLock { state in
            if state.home == home { state.home = nil }
        }
    }

    private func resume(_ submissions: [Submission], with error: any Error) {
        let refusal = Refusal(
            .serverResponseLost, "Whether the request was applied is not known: \(error)",
            retryAfterSeconds: Self.retrySeconds)
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
