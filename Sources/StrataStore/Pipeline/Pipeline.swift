import StrataLog
import StrataModel
import StrataRules
import StrataSystem
import StrataTree
import StrataViews

/// Validates requests and commits the results (docs/architecture.md §7).
///
/// Two turns make a pipeline of depth two. The thread with the turn to *decide* validates the waiting requests on top
/// of a state that may not be published yet. The thread with the turn to *append* writes a batch, publishes its state
/// and answers. A thread takes the first turn, then the second, and releases the first. Two worker threads do so, and a
/// synchronous caller that finds the pipeline idle.
// @unchecked: `line` and `indexDamage` are used only by the thread with the turn to decide, `lastSlice` only by the
// thread that builds indexes.
final class Pipeline: @unchecked Sendable {
    static let maximumWaitingBytes = 32 << 20
    /// The approximate number of request bytes that are validated before a batch is written.
    static let maximumBatchBytes = 8 << 20
    /// The maximum time that a batch waits for a checkpoint to make room.
    private static let maximumRoomMilliseconds = 10_000

    struct State {
        var queue = SubmissionQueue()
        var admissions: [Admission] = []
        var isDeciding = false
        var isAppending = false
        var isClosed = false
        /// The number of threads that wait for a turn and must be woken when one is free.
        var turnWaiters = 0
        /// The number of these threads that go before waiting requests.
        var claims = 0
        /// The number of times that a batch did not reach the log as decided. Lines that began before are invalid.
        var losses = 0
        /// The reason why nothing can be written until the store is opened again.
        var refusal: StrataError?
        /// The end of the log as far as this pipeline wrote it.
        var end: Position
        var endTime: Int64
        var indexes: IndexState
        var rebuilds = ViewsRebuilds()
        var audits = AuditQueue(AuditPolicy())

        /// True if there will be work on the indexes once nothing else comes.
        var awaitsQuiet: Bool { indexes.isDue && refusal == nil }

        /// Gives up the turn to append; returns true if a waiting thread must be woken.
        mutating func endAppending() -> Bool {
            isAppending = false
            // Evaluated every time, or it would not notice that they were not due in between.
            let haveBecomeDue = indexes.hasBecomeDue()
            return isDeciding || !queue.isEmpty || isClosed || turnWaiters > 0 || indexes.isUrgent || haveBecomeDue
                || audits.isDue
        }
    }

    let log: any EventLog
    /// Replaced by the thread with the turn to append, under the lock of `state`.
    let working: Lock<WorkingViews>
    /// Nil if the views are in memory.
    let rebuilder: ViewsRebuilder?
    let rules: Rules
    let platform: Platform
    let reader: SnapshotBuilder
    let publication: Publication
    let state: Monitor<State>
    var line: SpeculativeState?
    /// The damage that prevented bringing the indexes of the line up to date.
    var indexDamage: ViewsDamage?
    /// Separate from `state`, so that the builder is not woken by every request.
    let building = Monitor(IndexBuilding())
    let builder = WorkerHandle()
    /// The number of events published by the end of the last slice of a build, and the duration of the slice.
    var lastSlice: (events: UInt64, microseconds: Int64) = (0, 0)
    /// The memory for rows that are being sorted.
    let buildMemoryBytes: Int
    let auditPolicy: AuditPolicy
    private let workers = [WorkerHandle(), WorkerHandle()]

    init(
        log: any EventLog, working: WorkingViews, indexes: IndexState, rules: Rules, platform: Platform,
        reader: SnapshotBuilder, rebuilder: ViewsRebuilder?, buildMemoryBytes: Int,
        audits: AuditPolicy
    ) throws {
        self.log = log
        self.buildMemoryBytes = buildMemoryBytes
        auditPolicy = audits
        self.working = Lock(working)
        self.rebuilder = rebuilder
        self.rules = rules
        self.platform = platform
        self.reader = reader
        publication = Publication(offset: working.views.pages.snapshot().foldedOffset(ViewTree.records))
        state = Monitor(State(end: log.end, endTime: log.endTime ?? .min, indexes: indexes, audits: AuditQueue(audits)))
        for (worker, name) in zip(workers, ["strata-commit-a", "strata-commit-b"]) {
            try worker.start(name: name) { [self] in run() }
        }
        if indexes.hasBuilds { wakeBuilder() }
    }

    var views: Views { working.withLock { $0.views } }
    var checkpointer: Checkpointer? { working.withLock { $0.checkpointer } }

    // MARK: Submitting

    func submit(_ request: Request, as actor: Actor, _ operation: OperationInfo) throws -> Answer {
        let ticket = Ticket<Answer>()
        let submission = Submission(request, actor, operation, .ticket(ticket))
        if state.withLock({ Self.takeTurn(&$0) }) {
            // The pipeline is idle: no hop to another thread.
            work(on: [submission])
            return try ticket.wait()
        }
        while let gate = try enqueueOrGate(submission) { gate.wait() }
        return try ticket.wait()
    }

    func submit(_ request: Request, as actor: Actor, _ operation: OperationInfo) async throws -> Answer {
        try await withCheckedThrowingContinuation { continuation in
            enqueue(Submission(request, actor, operation, .continuation(continuation)))
        }
    }

    private static func takeTurn(_ state: inout State) -> Bool {
        let isFree = !state.isDeciding && !state.isAppending && state.claims == 0
        guard !state.isClosed, isFree, state.queue.isEmpty else { return false }
        state.isDeciding = true
        return true
    }

    private enum Entry {
        case entered(wakesWorker: Bool)
        case full
        case closed
    }

    private static func enter(_ state: inout State, _ submission: Submission) -> Entry {
        if state.isClosed { return .closed }
        if state.queue.byteCount > maximumWaitingBytes { return .full }
        state.queue.append(submission)
        // A thread that is deciding checks the queue again before it writes, so no other must be woken.
        return .entered(wakesWorker: state.queue.count == 1 && (!state.isDeciding || state.isAppending))
    }

    /// Returns nil once the request waits in the queue, or a gate to wait at while there is no room.
    private func enqueueOrGate(_ submission: Submission) throws -> Gate? {
        let gate = Gate()
        let entry = state.withLock { state in
            let entry = Self.enter(&state, submission)
            if case .full = entry { state.admissions.append(.gate(gate)) }
            return entry
        }
        switch entry {
        case .entered(let wakesWorker):
            if wakesWorker { state.notifyAll() }
            return nil
        case .full: return gate
        case .closed: throw StoreGate.error
        }
    }

    private func enqueue(_ submission: Submission) {
        let entry = state.withLock { state in
            let entry = Self.enter(&state, submission)
            if case .full = entry { state.admissions.append(.retry { [self] in enqueue(submission) }) }
            return entry
        }
        switch entry {
        case .entered(let wakesWorker): if wakesWorker { state.notifyAll() }
        case .full: break
        case .closed: submission.reply.resume(.failure(StoreGate.error))
        }
    }

    /// Admits no new requests, and returns once all waiting work is done.
    func close() {
        let admissions = state.withLock { state in
            state.isClosed = true
            defer { state.admissions = [] }
            return state.admissions
        }
        for admission in admissions { admission.open() }
        building.withLock { $0.isStopping = true }
        building.notifyAll()
        state.notifyAll()
        builder.join()
        for worker in workers { worker.join() }
        // A caller may be working on its own thread.
        state.wait { $0.isDeciding || $0.isAppending ? nil : () }
        // A caller on its own thread may have put back what it could not write.
        let left = state.withLock { $0.queue.take(byteCount: .max) }
        for submission in left { submission.reply.resume(.failure(StoreGate.error)) }
        writeLastAudits()
        completeIndexes()
        line = nil
    }

    // MARK: Turns

    private enum Work {
        case requests([Submission], [Admission])
        case indexes
        case audits
        case end
    }

    private func run() {
        while true {
            switch awaitWork() {
            case .requests(let submissions, let admissions):
                for admission in admissions { admission.open() }
                work(on: submissions)
            case .indexes: catchUpIndexes()
            case .audits:
                writeAudits()
                releaseDeciding()
                releaseAppending()
            case .end: return
            }
        }
    }

    /// Waits for work. Indexes that are due but not urgent wait until nothing has been published for a while.
    private func awaitWork() -> Work {
        while true {
            let (published, audits) = state.withLock { state in
                state.audits.isTimed = !state.audits.isEmpty
                return (state.awaitsQuiet ? state.indexes.publishedEvents : nil, state.audits.pause)
            }
            let quiet = published == nil ? nil : IndexState.quietMilliseconds
            guard let pause = [quiet, audits].compactMap({ $0 }).min() else {
                let work = state.wait { state -> Work?? in
                    if let work = nextWork(&state) { return work }
                    return state.awaitsQuiet || !state.audits.isEmpty ? .some(nil) : nil
                }
                if let work { return work }
                continue
            }
            let work = state.wait(milliseconds: pause) { nextWork(&$0) }
            if let work { return work }
            guard pause == quiet else { continue }
            if let work = state.withLock({ nextWork(&$0, quietSince: published) }) { return work }
        }
    }

    private func nextWork(_ state: inout State, quietSince events: UInt64? = nil) -> Work? {
        // If the next offset is not certain, a commit is decided only when the one before it is in the log.
        if state.isDeciding || state.claims > 0 || !log.assignsNextOffset && state.isAppending { return nil }
        if !state.queue.isEmpty {
            state.isDeciding = true
            let room = log.assignsNextOffset ? Self.maximumBatchBytes : 0
            defer { state.admissions = [] }
            return .requests(state.queue.take(byteCount: room), state.admissions)
        }
        if state.isClosed { return .end }
        if state.audits.isDue, state.refusal == nil, !state.isAppending {
            (state.isDeciding, state.isAppending) = (true, true)
            return .audits
        }
        let isTime = state.indexes.isUrgent || state.indexes.isDue && state.indexes.publishedEvents == events
        guard isTime, state.refusal == nil, !state.isAppending else { return nil }
        (state.isDeciding, state.isAppending) = (true, true)
        return .indexes
    }

    /// Decides and appends. The caller has the turn to decide.
    private func work(on submissions: [Submission]) {
        var batch = Batch()
        awaitRoom()
        stepIndexes(for: &batch)
        decide(submissions, &batch)
        while let more = moreOrTurn(batch) {
            for admission in more.admissions { admission.open() }
            decide(more.submissions, &batch)
        }
        complete(&batch)
        decideAgainIfDamaged(&batch)
        releaseDeciding()
        let answers = append(&batch)
        noteRefusals(answers)
        releaseAppending()
        // Outside both turns: a resumed caller may submit more immediately.
        for (submission, answer) in answers { submission.reply.resume(answer) }
    }

    /// Slows writers down to the pace of checkpoints. If these fail there is nothing to wait for: the log keeps
    /// growing, and so does the memory that waits for them.
    func awaitRoom() {
        guard let checkpointer, checkpointer.failure == nil else { return }
        _ = views.pages.awaitRoom(milliseconds: Self.maximumRoomMilliseconds)
    }

    /// Gives a batch its resulting state. The caller has both turns.
    func complete(_ batch: inout Batch) {
        decideAgainIfBroken(&batch)
        addAudits(to: &batch)
        // The audits are back in their queue, and come with another batch.
        decideAgainIfBroken(&batch)
        stack(&batch)
    }

    /// Gives a batch the fork with its commits. The caller has both turns.
    func stack(_ batch: inout Batch) {
        do {
            batch.fork = batch.commits.isEmpty ? nil : try line?.fold.stack()
            if batch.fork != nil, let line {
                (batch.indexes, batch.changesIndexes) = (line.indexes, line.changesIndexes)
                line.changesIndexes = false
            }
        } catch { fail(&batch, error) }
    }

    /// Decides a batch again if it is broken, or if an earlier batch on which it was based was lost. The caller has
    /// both turns.
    private func decideAgainIfBroken(_ batch: inout Batch) {
        while batch.isBroken || line.map({ line in state.withLock { $0.losses } != line.losses }) ?? false {
            line = nil
            putBackAudits(of: &batch, written: 0)
            var again = Batch()
            again.damage = batch.damage
            var waiting: [Submission] = []
            for entry in batch.entries {
                if case .poisoned = entry.outcome {
                    again.entries.append(entry)
                } else {
                    waiting.append(entry.submission)
                }
            }
            decide(waiting, &again)
            batch = again
        }
    }

    func releaseDeciding() {
        let isAwaited = state.withLock { state in
            state.isDeciding = false
            return !state.queue.isEmpty || state.isClosed || state.turnWaiters > 0
        }
        if isAwaited { state.notifyAll() }
    }

    func releaseAppending() {
        if state.withLock({ $0.endAppending() }) { state.notifyAll() }
    }

    /// Returns the requests that came while another batch is being written; nil once this batch has the turn to append.
    private func moreOrTurn(_ batch: Batch) -> (submissions: [Submission], admissions: [Admission])? {
        state.wait { state -> (submissions: [Submission], admissions: [Admission])?? in
            if !state.isAppending {
                state.isAppending = true
                return .some(nil)
            }
            let room = Self.maximumBatchBytes - batch.byteCount
            guard !state.queue.isEmpty, room > 0, log.assignsNextOffset else { return nil }
            defer { state.admissions = [] }
            return .some((state.queue.take(byteCount: room), state.admissions))
        }
    }
}
