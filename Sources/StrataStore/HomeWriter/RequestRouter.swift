import StrataLog
import StrataModel
import StrataRules
import StrataSystem

/// Sends requests to the pipeline of this process or to the home writer, and judges those of other processes
/// (docs/replication-internals.md §6).
///
/// The home writer is another process that writes the same log. Requests go to it if the options say so, or for a
/// second while other processes always append first.
final class RequestRouter: Sendable, PipelineFront {
    private struct State {
        /// The requests that are to be sent to the home writer.
        var outbox = SubmissionQueue()
        var admissions: [Admission] = []
        /// The home writer, if requests are to be sent to it.
        var home: Identifier?
        /// Decides if requests are to be sent to it when not all are.
        var contention = Contention()
        var isClosing = false
    }

    private let pipeline: Pipeline
    /// Nil if all requests are judged here.
    let forwarding: Forwarding?
    private let state = Monitor(State())
    private let senders = [WorkerHandle(), WorkerHandle()]

    init(_ pipeline: Pipeline, _ forwarding: Forwarding?) throws {
        self.pipeline = pipeline
        self.forwarding = forwarding
        guard let forwarding else { return }
        pipeline.front = self
        noteHome()
        for (sender, name) in zip(senders, ["strata-send-a", "strata-send-b"]) {
            try sender.start(name: name) { [self] in sendWaiting() }
        }
        try forwarding.carrier.serve(forwarding.log.writer) { [weak self] message, answer in
            if let self { serve(message, answer) } else { answer([]) }
        }
    }

    func submit(_ request: Request, as actor: Actor, _ operation: OperationInfo) throws -> Answer {
        let ticket = Ticket<Answer>()
        let submission = Submission(request, as: actor, operation, reply: .ticket(ticket))
        if destination == nil { pipeline.decideOrEnqueue(submission) } else { enqueue(submission) }
        return try ticket.wait()
    }

    func submit(_ request: Request, as actor: Actor, _ operation: OperationInfo) async throws -> Answer {
        try await withCheckedThrowingContinuation { continuation in
            enqueue(Submission(request, as: actor, operation, reply: .continuation(continuation)))
        }
    }

    private func enqueue(_ submission: Submission) {
        guard destination != nil else { return pipeline.enqueue(submission) }
        let isTaken = state.withLock { state in
            if state.isClosing { return false }
            if state.outbox.byteCount > Pipeline.maximumWaitingBytes {
                state.admissions.append { [self] in enqueue(submission) }
            } else {
                state.outbox.append(submission)
            }
            return true
        }
        if isTaken { state.notifyAll() } else { submission.reply.resume(.failure(StoreGate.error)) }
    }

    /// Sends what waits, and takes no more requests for the home writer.
    func close() {
        let admissions = state.withLock { state in
            state.isClosing = true
            defer { state.admissions = [] }
            return state.admissions
        }
        for admission in admissions { admission() }
        state.notifyAll()
        for sender in senders { sender.join() }
    }

    // MARK: The home writer

    /// The process to which requests are sent now; nil if they are judged here.
    private var destination: Identifier? {
        guard let forwarding, pipeline.acceptsWrites else { return nil }
        return state.withLock { destination(forwarding, $0) }
    }

    private func destination(_ forwarding: Forwarding, _ state: State) -> Identifier? {
        forwarding.sendsAll || state.contention.yields(at: .now) ? state.home : nil
    }

    func noteBatch(isAppended: Bool?) {
        switch isAppended {
        case true?: state.withLock { $0.contention.noteSuccess() }
        case false?: state.withLock { $0.contention.noteLoss(at: .now) }
        case nil: break
        }
        noteHome()
    }

    func takeBack(_ submissions: [Submission]) -> [Submission] {
        guard destination != nil else { return submissions }
        let isTaken = state.withLock { state in
            if state.isClosing { return false }
            state.outbox.putBack(submissions.filter { !$0.isForwarded })
            return true
        }
        guard isTaken else { return submissions }
        state.notifyAll()
        return submissions.filter(\.isForwarded)
    }

    /// Notes which process is the home writer, if requests are to be sent to it now.
    private func noteHome() {
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

    // MARK: Sending

    /// Sends the waiting requests to the home writer, until the router is closed.
    private func sendWaiting() {
        while let (submissions, admissions) = awaitOutbox() {
            for admission in admissions { admission() }
            if let forwarding, let home = destination, !isClosing {
                send(submissions, to: home, by: forwarding)
            } else {
                decideHere(submissions)
            }
        }
    }

    private var isClosing: Bool { state.withLock { $0.isClosing } }

    private func awaitOutbox() -> (submissions: [Submission], admissions: [Admission])? {
        let limit = (forwarding?.carrier.maximumMessageBytes ?? 0) / 2
        return state.wait { state -> ([Submission], [Admission])?? in
            if state.outbox.isEmpty { return state.isClosing ? .some(nil) : nil }
            defer { state.admissions = [] }
            return (state.outbox.take(byteCount: limit), state.admissions)
        }
    }

    private func decideHere(_ submissions: [Submission]) {
        for submission in submissions { pipeline.enqueue(submission) }
    }

    private func send(_ submissions: [Submission], to home: Identifier, by forwarding: Forwarding) {
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
        switch forwarding.carrier.ask(home, message, milliseconds: forwarding.log.options.answerMilliseconds) {
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
            if let last = offsets.max() {
                try show(last, waitingMilliseconds: forwarding?.log.options.answerMilliseconds ?? 0)
            }
            let answers = BatchAnswers(pipeline.log, pipeline.reader, showing: pipeline.views.trees.snapshot())
            var rest: [Submission] = []
            for (submission, outcome) in zip(sent, outcomes) {
                switch outcome {
                case .committed(let offset):
                    let answer = answers.committed(at: offset, as: submission.request)
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
    private func show(_ offset: UInt64, waitingMilliseconds: Int) throws {
        // Until the outcome of an append is known, no state can be published.
        guard
            pipeline.state.wait(milliseconds: waitingMilliseconds, { $0.isUnsettled && !$0.isClosed ? nil : () }) != nil
        else {
            throw StrataError(
                .outcomeUnknown, "The home writer named a commit after one whose outcome is still unknown here.",
                .init(offset: offset))
        }
        try pipeline.apply(through: offset)
        guard pipeline.publication.offset >= offset else {
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
    private func sendAgain(_ submissions: [Submission]) { decideHere(takeBack(submissions)) }

    private func resume(_ submissions: [Submission], with error: any Error) {
        let refusal = Refusal(
            .serverResponseLost, "The request may or may not have been applied: \(error)",
            retryAfterSeconds: Refusal.serverRetrySeconds)
        for submission in submissions { submission.reply.resume(.failure(refusal)) }
    }

    // MARK: Judging for others

    /// Judges the requests of another process, and answers with their outcomes.
    private func serve(_ message: [UInt8], _ answer: @escaping @Sendable ([UInt8]) -> Void) {
        // A process of a later release judges its requests itself.
        guard let items = try? ForwardedRequests(decoding: message).items, !items.isEmpty else { return answer([]) }
        let outcomes = Lock((known: 0, list: [ForwardedOutcomes.Outcome](repeating: .nothing, count: items.count)))
        for (index, item) in items.enumerated() {
            let reply = Reply<Answer>.function { result in
                let list = outcomes.withLock { outcomes in
                    outcomes.list[index] = Self.outcome(of: result)
                    outcomes.known += 1
                    return outcomes.known == items.count ? outcomes.list : nil
                }
                if let list { answer(ForwardedOutcomes(list).encoded()) }
            }
            pipeline.enqueue(Submission(forwarded: item.request, as: item.actor, item.operation, reply: reply))
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
