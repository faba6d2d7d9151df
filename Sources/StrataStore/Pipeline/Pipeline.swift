import StrataLog
import StrataModel
import StrataRules
import StrataSystem
import StrataTree
import StrataViews

/// Owns the queue of requests, the two turns in which threads decide and append them, and the end of the log.
///
/// Two turns make a pipeline of depth two (docs/architecture.md §7). The thread with the turn to *decide* decides the
/// waiting requests on top of a state that may not be published yet. The thread with the turn to *append* writes a
/// batch, publishes its state and answers. A thread takes the first turn, then the second, and releases the first. Two
/// worker threads do this, and so does a synchronous caller that finds the pipeline idle. The chain of decided states
/// that are not published yet is the *line* (``SpeculativeState``).
///
/// ```
///              turn to decide      both turns         turn to append
///   submit     decide              complete           write, publish     no turn
/// ----------> queued ----------> judged on a line --> in a batch ------> in the log -----> answered
///               ^  ^                   |                   |
///               |  |                   | the line is lost: the batch is decided again
///               |  +-------------------+                   |
///               +------------------------------------------+ the log has another commit: put back first
/// ```
/// The pipeline uses ``LiveViews``, which owns the trees and folds them again, and ``IndexBuilds`` with its
/// ``IndexBuilder``. The values ``SubmissionQueue``, ``Turns``, ``IndexState`` and ``AuditQueue`` change under its
/// lock.
///
/// Invariants:
/// 1. At most one thread has the turn to decide, and at most one the turn to append. Turns change only under the lock
///    of `state`.
/// 2. A thread with only the turn to append never waits for the turn to decide, so the two cannot wait for each other.
///    ``claimTurns()`` waits with no turn.
/// 3. `line` and `indexDamage` belong to the thread with the turn to decide. A line is valid while its `losses` equal
///    those of `state`; a thread that makes the log or the views differ from the line increments them.
/// 4. Only the thread with the turn to append writes to the log, publishes states, replaces the views and moves `end`.
///    Batches are appended in the order in which they were decided. A store that is only read has no batches; its
///    readers fold the log under the lock of ``StoreEngine/refreshes``.
/// 5. A published state shows only commits that are in the log, and an answer comes after the state that shows it.
/// 6. While `indexes.isPublishing`, the published indexes may show more than `indexes.mark` says, and readers of
///    indexes wait.
/// 7. Once `refusal` is set nothing more is written. It stays, unless a shared log settles the append that caused it.
/// 8. The lock of `state` is taken before the locks of `live` and of the pages, never after them. Callers, admissions
///    and waiting threads are woken without any lock.
// @unchecked: `line` and `indexDamage` are used only by the thread with the turn to decide (3).
final class Pipeline: @unchecked Sendable {
    static let maximumWaitingBytes = 32 << 20
    /// The approximate number of bytes of a batch that grows while another one is being written.
    static let maximumBatchBytes = 8 << 20
    /// The approximate number of request bytes after which a batch takes no more requests; the time is in ``Batch``. A
    /// request that comes meanwhile waits no longer than that, and has its turn in the next batch.
    static let maximumTurnBytes = 32 << 10
    /// The time after which a batch that waits for another one grows beyond that.
    private static let slowWriteMilliseconds = 2
    /// The maximum time that a batch waits for a checkpoint to make room.
    private static let maximumRoomMilliseconds = 10_000

    struct State {
        var queue = SubmissionQueue()
        var admissions: [Admission] = []
        var turns = Turns()
        /// True once no more requests are admitted.
        var isClosing = false
        /// True once the workers end when nothing waits.
        var isClosed = false
        /// The number of times that a batch did not reach the log as decided. Lines that began before are invalid.
        var losses = 0
        /// The reason why nothing can be written until the store is opened again, or the log is settled.
        var refusal: StrataError?
        /// True while the refusal is an append to a shared log whose outcome is being found out.
        var isUnsettled = false
        /// True during the pause before the next attempt to find it out.
        var isSettlingPaused = false
        /// The last commit of another process that a shared log reported.
        var reportedOffset: UInt64 = 0
        /// The requests that are to be sent to the home writer.
        var outbox = SubmissionQueue()
        /// The home writer, if requests are to be sent to it.
        var home: Identifier?
        /// True if all requests are to be sent to it.
        let sendsAll: Bool
        /// Decides if requests are to be sent to it when `sendsAll` is false.
        var contention = Contention()
        /// The end of the log as far as this pipeline wrote it.
        var end: Position
        var endTime: Int64
        var indexes: IndexState
        var audits = AuditQueue(AuditPolicy())
        var keptRequests = KeptRequests()

        /// The process to which requests are sent now; nil if they are judged here.
        var destination: Identifier? {
            guard let home, refusal == nil, !isClosing, sendsAll || contention.yields(at: .now) else { return nil }
            return home
        }

        /// True if a shared log has commits of other processes that no state shows yet.
        var isBehind: Bool { reportedOffset > end.offset && refusal == nil && !isClosed }

        /// True if it is time to find out about the append without an outcome.
        var mustSettle: Bool { isUnsettled && !isSettlingPaused && !isClosed }

        /// True if there will be work on the indexes once nothing else comes.
        var awaitsQuiet: Bool { indexes.isDue && refusal == nil }

        /// Gives up the turn to append; returns true if a waiting thread must be woken.
        mutating func endAppending() -> Bool {
            turns.isAppending = false
            // Evaluated every time; otherwise it would miss that they were not due in between.
            let haveBecomeDue = indexes.hasBecomeDue()
            return turns.isDeciding || !queue.isEmpty || isClosed || turns.waiters > 0 || indexes.isUrgent
                || haveBecomeDue || audits.isDue || isBehind || mustSettle
        }
    }

    let log: any EventLog
    /// True if other processes append to the log too (docs/replication-internals.md §6).
    let isShared: Bool
    /// Replaced by the thread with the turn to append, under the lock of `state`.
    let live: LiveViews
    let rules: Rules
    let platform: Platform
    let reader: SnapshotBuilder
    let publication: Publication
    let state: Monitor<State>
    var line: SpeculativeState?
    /// The damage that prevented bringing the indexes of the line up to date.
    var indexDamage: ViewsDamage?
    let builds = IndexBuilds()
    /// The memory for rows that are being sorted.
    let buildMemoryBytes: Int
    let auditPolicy: AuditPolicy
    /// Sends requests to other processes; nil if they are only judged here.
    let forwarding: Forwarding?
    private let workers = [WorkerHandle(), WorkerHandle()]
    private let forwarders = [WorkerHandle(), WorkerHandle()]

    init(
        log: any EventLog, live: LiveViews, indexes: IndexState, rules: Rules, platform: Platform,
        reader: SnapshotBuilder, buildMemoryBytes: Int, audits: AuditPolicy, forwarding: Forwarding? = nil
    ) throws {
        self.log = log
        isShared = log.isShared
        self.live = live
        self.buildMemoryBytes = buildMemoryBytes
        auditPolicy = audits
        self.forwarding = forwarding
        self.rules = rules
        self.platform = platform
        self.reader = reader
        publication = Publication(offset: live.views.pages.snapshot().foldedOffset(ViewTree.records))
        state = Monitor(
            State(
                sendsAll: forwarding?.sendsAll ?? false, end: log.end, endTime: log.endTime ?? .min, indexes: indexes,
                audits: AuditQueue(audits)))
        for (worker, name) in zip(workers, ["strata-commit-a", "strata-commit-b"]) {
            try worker.start(name: name) { [self] in run() }
        }
        if indexes.hasBuilds { wakeBuilder() }
        if isShared { try log.follow { [weak self] in self?.noteOthers() } }
        guard let forwarding else { return }
        noteHome()
        for (worker, name) in zip(forwarders, ["strata-send-a", "strata-send-b"]) {
            try worker.start(name: name) { [self] in runForwarding() }
        }
        try forwarding.carrier.serve(forwarding.log.writer) { [weak self] message, answer in
            if let self { serve(message, answer) } else { answer([]) }
        }
    }

    var views: Views { live.views }
    var checkpointer: Checkpointer? { live.checkpointer }
    /// True until the store must be opened again to write.
    var acceptsWrites: Bool { state.withLock { $0.refusal == nil } }

    // MARK: Submitting

    func submit(_ request: Request, as actor: Actor, _ operation: OperationInfo) throws -> Answer {
        let ticket = Ticket<Answer>()
        let submission = Submission(request, as: actor, operation, reply: .ticket(ticket))
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
            enqueue(Submission(request, as: actor, operation, reply: .continuation(continuation)))
        }
    }

    private static func takeTurn(_ state: inout State) -> Bool {
        guard !state.isClosing, !state.mustSettle, state.destination == nil, state.turns.areFree,
            state.turns.claims == 0, state.queue.isEmpty
        else { return false }
        state.turns.isDeciding = true
        return true
    }

    private enum Entry {
        case entered(wakesWorker: Bool)
        case full
        case closed
    }

    private static func enter(_ state: inout State, _ submission: Submission) -> Entry {
        if state.isClosing { return .closed }
        if state.queue.byteCount + state.outbox.byteCount > maximumWaitingBytes { return .full }
        if state.destination != nil, !submission.isKept {
            state.outbox.append(submission)
            return .entered(wakesWorker: true)
        }
        state.queue.append(submission)
        // The deciding thread wakes a worker for the queue when it releases its turn. If it waits for the turn to
        // append, it is woken itself, to add the request to its batch.
        return .entered(wakesWorker: state.queue.count == 1 && (!state.turns.isDeciding || state.turns.isAppending))
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

    func enqueue(_ submission: Submission) {
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
            state.isClosing = true
            defer { state.admissions = [] }
            return state.admissions
        }
        for admission in admissions { admission.open() }
        state.notifyAll()
        // The home writer's last answers are applied by the workers, which must still exist.
        for worker in forwarders { worker.join() }
        state.withLock { $0.isClosed = true }
        builds.beginStopping()
        state.notifyAll()
        builds.join()
        for worker in workers { worker.join() }
        // A caller may be working on its own thread.
        state.wait { $0.turns.areFree ? () : nil }
        // A caller on its own thread may have put back what it could not write.
        let left = state.withLock { $0.queue.takeAll() + $0.outbox.takeAll() }
        for submission in left { submission.reply.resume(.failure(StoreGate.error)) }
        writeLastAudits()
        // Only a checkpoint needs complete indexes.
        if let checkpointer, !checkpointer.leavesRest(indexLag: indexLag) { completeIndexes() }
        line = nil
    }

    // MARK: Turns

    private enum Work {
        case requests([Submission], [Admission])
        case indexes
        case audits
        /// Other processes appended to the log.
        case others
        /// The outcome of an append is unknown.
        case outcome
        /// There is nothing to do yet, but later there will be.
        case pause
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
            case .others:
                applyOthers()
                returnTurns()
            case .outcome: settle()
            case .pause: continue
            case .end: return
            }
        }
    }

    /// Waits for work. Indexes that are due but not urgent wait until nothing has been published for a while.
    private func awaitWork() -> Work {
        let (published, audits) = state.withLock { state in
            state.audits.isTimed = !state.audits.isEmpty
            return (state.awaitsQuiet ? state.indexes.publishedEvents : nil, state.audits.pause)
        }
        let quiet = published == nil ? nil : IndexState.quietMilliseconds
        guard let pause = [quiet, audits].compactMap({ $0 }).min() else {
            return state.wait { state in
                nextWork(&state) ?? (state.awaitsQuiet || !state.audits.isEmpty ? .pause : nil)
            }
        }
        if let work = state.wait(milliseconds: pause, { nextWork(&$0) }) { return work }
        guard pause == quiet else { return .pause }
        return state.withLock { nextWork(&$0, quietSince: published) } ?? .pause
    }

    private func nextWork(_ state: inout State, quietSince events: UInt64? = nil) -> Work? {
        // If the next offset is not certain, a commit is decided only when the one before it is in the log.
        if state.turns.isDeciding || state.turns.claims > 0 || !log.assignsNextOffset && state.turns.isAppending {
            return nil
        }
        if state.isBehind, !state.turns.isAppending {
            state.turns.takeBoth()
            return .others
        }
        // Before requests, which are all refused until this is done.
        if state.mustSettle, !state.turns.isAppending {
            state.turns.takeBoth()
            return .outcome
        }
        if !state.queue.isEmpty {
            state.turns.isDeciding = true
            let room = log.assignsNextOffset ? Self.maximumTurnBytes : 0
            defer { state.admissions = [] }
            return .requests(state.queue.take(byteCount: room), state.admissions)
        }
        if state.isClosed { return .end }
        if state.audits.isDue, state.refusal == nil, !state.turns.isAppending {
            state.turns.takeBoth()
            return .audits
        }
        let isTime = state.indexes.isUrgent || state.indexes.isDue && state.indexes.publishedEvents == events
        guard isTime, state.refusal == nil, !state.turns.isAppending else { return nil }
        state.turns.takeBoth()
        return .indexes
    }

    /// Decides and appends. The caller has the turn to decide.
    private func work(on submissions: [Submission]) {
        var batch = Batch()
        awaitRoom()
        stepIndexes(for: &batch)
        decide(submissions, &batch)
        while case .more(let more, let admissions) = awaitTurnToAppend(&batch) {
            for admission in admissions { admission.open() }
            decide(more, &batch)
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
            let stacked = batch.commits.isEmpty ? nil : try line?.fold.stack()
            (batch.fork, batch.rows) = (stacked?.fork, stacked?.rows)
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
            state.turns.isDeciding = false
            return !state.queue.isEmpty || state.isClosed || state.turns.waiters > 0 || state.isBehind
        }
        if isAwaited { state.notifyAll() }
    }

    func releaseAppending() {
        if state.withLock({ $0.endAppending() }) { state.notifyAll() }
    }

    private enum Awaited {
        /// The batch has the turn to append.
        case turn
        /// Requests came while another batch is being written.
        case more([Submission], [Admission])
    }

    private func awaitTurnToAppend(_ batch: inout Batch) -> Awaited {
        let present = batch.entries.count
        func next(_ state: inout State, _ room: Int, needsOne: Bool) -> Awaited? {
            if !state.turns.isAppending {
                state.turns.isAppending = true
                return .turn
            }
            guard !state.queue.isEmpty, room > 0, present < state.queue.batchCount, log.assignsNextOffset else {
                return nil
            }
            let more = state.queue.take(byteCount: room, present: present, needsOne: needsOne)
            if more.isEmpty { return nil }
            defer { state.admissions = [] }
            return .more(more, state.admissions)
        }
        if !batch.isGrowing {
            let room = batch.isLate ? 0 : Self.maximumTurnBytes - batch.requestBytes
            let soon = state.wait(milliseconds: Self.slowWriteMilliseconds) { next(&$0, room, needsOne: false) }
            if let soon { return soon }
            // The other batch takes its time, so that nothing is gained by a small one.
            batch.isGrowing = true
        }
        let room = batch.byteCount < Self.maximumBatchBytes ? Self.maximumTurnBytes : 0
        return state.wait { next(&$0, room, needsOne: true) }
    }
}
