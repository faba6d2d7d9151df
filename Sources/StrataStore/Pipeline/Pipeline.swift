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
/// ``IndexBuilder``. The values ``SubmissionQueue`` and ``Turns`` change under its lock. A ``PipelineFront`` sends
/// requests to other processes, and ``AuditQueue`` has submissions for which no caller waits.
///
/// Invariants, which debug builds check where these things change:
/// 1. At most one thread has the turn to decide, and at most one the turn to append. Turns change only under the lock
///    of `state`.
/// 2. A thread with only the turn to append never waits for the turn to decide, so the two cannot wait for each other.
///    ``claimTurns()`` waits with no turn.
/// 3. `line` belongs to the thread with the turn to decide. A line is valid while its `losses` equal those of `state`;
///    a thread that makes the log or the views differ from the line increments them.
/// 4. Only the thread with the turn to append writes to the log, publishes states, replaces the views and moves `end`.
///    Batches are appended in the order in which they were decided. A store that is only read has no batches; its
///    readers fold the log under the lock of ``LiveViews/refreshes``.
/// 5. A published state shows only commits that are in the log, and an answer comes after the state that shows it.
/// 6. Once `refusal` is set nothing more is written. It stays, unless a shared log settles the append that caused it:
///    the log knows what is unknown, and the pipeline asks it.
/// 7. The lock of `state` is taken before the locks of `live` and of the trees, never after them. Callers, admissions
///    and waiting threads are woken without any lock.
// @unchecked: `line` is used only by the thread with the turn to decide (3).
final class Pipeline: @unchecked Sendable {
    static let maximumWaitingBytes = 32 << 20
    /// The approximate number of bytes of a batch that grows while another one is being written.
    static let maximumBatchBytes = 8 << 20
    /// The approximate number of request bytes after which a batch takes no more requests; the time is in ``Batch``. A
    /// request that comes meanwhile waits no longer than that, and has its turn in the next batch.
    static let maximumTurnBytes = 32 << 10
    /// The time after which a batch that waits for another one grows beyond that.
    private static let slowWriteMilliseconds = 2
    /// The maximum time that a batch waits for a flush to make room.
    private static let maximumRoomMilliseconds = 10_000

    enum Phase: Comparable {
        case open
        /// No more requests are admitted.
        case closing
        /// The workers end when nothing waits.
        case closed
    }

    struct State {
        var queue = SubmissionQueue()
        var admissions: [Admission] = []
        var turns = Turns()
        var phase = Phase.open
        /// The number of times that a batch did not reach the log as decided. Lines that began before are invalid.
        var losses = 0
        var refusal: WriteRefusal?
        /// The end of the log as far as this pipeline wrote it.
        var end: Position
        var endTime: Int64
        /// True if indexes of the newest state have yet to be built or removed.
        var hasUnfinishedIndexes: Bool
        /// The reason why they are not; cleared when the catalog changes.
        var buildFailure: (any Error)?

        var isClosing: Bool { phase >= .closing }
        var isClosed: Bool { phase == .closed }
        var isUnsettled: Bool { refusal?.isUnsettled ?? false }
        var hasBuilds: Bool { hasUnfinishedIndexes && buildFailure == nil }

        /// Gives up the turn to append; returns true if a waiting thread must be woken.
        mutating func endAppending() -> Bool {
            turns.releaseAppending()
            return turns.isDeciding || !queue.isEmpty || isClosed || turns.waiters > 0
        }
    }

    let log: any EventLog
    /// True if other processes append to the log too (docs/replication-internals.md §6).
    let isShared: Bool
    let live: LiveViews
    let rules: Rules
    let platform: Platform
    let reader: SnapshotBuilder
    let publication: Publication
    let state: Monitor<State>
    var line: SpeculativeState?
    let builds = IndexBuilds()
    let audits: AuditQueue
    /// Set before the first request comes, and nil again once no more come.
    private let heldFront = Lock<(any PipelineFront)?>(nil)
    private let workers = [WorkerHandle(), WorkerHandle()]

    init(
        log: any EventLog, live: LiveViews, rules: Rules, platform: Platform, reader: SnapshotBuilder,
        audits: AuditPolicy
    ) throws {
        self.log = log
        isShared = log.isShared
        self.live = live
        self.audits = AuditQueue(audits)
        self.rules = rules
        self.platform = platform
        self.reader = reader
        let snapshot = live.views.trees.snapshot()
        publication = Publication(offset: snapshot.foldedOffset(ViewTree.records))
        let hasUnfinishedIndexes = try Self.hasUnfinishedIndexes(snapshot, of: log)
        state = Monitor(
            State(end: log.end, endTime: log.endTime ?? .min, hasUnfinishedIndexes: hasUnfinishedIndexes))
        live.onDamage { [weak self] in self?.wake() }
        for (worker, name) in zip(workers, ["strata-commit-a", "strata-commit-b"]) {
            try worker.start(name: name) { [self] in run() }
        }
        attend(to: live.working)
        if hasUnfinishedIndexes { wakeBuilder() }
        if isShared { try log.follow { [weak self] in self?.noteNews() } }
    }

    /// Has all waiting threads look again.
    func wake() {
        // Under the lock, so that no thread misses it between its check and its wait.
        state.withLock { _ in }
        state.notifyAll()
    }

    var views: Views { live.views }
    var flusher: Flusher? { live.flusher }
    /// True until the store must be opened again to write.
    var acceptsWrites: Bool { state.withLock { $0.refusal == nil } }
    /// The part that sends requests to other processes; nil if they are only judged here.
    var front: (any PipelineFront)? {
        get { isShared ? heldFront.withLock { $0 } : nil }
        set { heldFront.withLock { $0 = newValue } }
    }

    // MARK: Submitting

    /// Decides a request on the caller's thread if the pipeline is idle, so that it need not wake another one.
    func decideOrEnqueue(_ submission: Submission) {
        let isIdle = state.withLock { state in
            guard !state.isClosing, !mustFollow(&state), state.turns.areFree, state.turns.claims == 0,
                state.queue.isEmpty
            else { return false }
            state.turns.takeDeciding()
            return true
        }
        if isIdle { work(on: [submission]) } else { enqueue(submission) }
    }

    func enqueue(_ submission: Submission) {
        let (wakes, isClosed) = state.withLock { state -> (Bool, Bool) in
            if state.isClosing { return (false, true) }
            guard state.queue.byteCount <= Self.maximumWaitingBytes else {
                state.admissions.append { [self] in enqueue(submission) }
                return (false, false)
            }
            state.queue.append(submission)
            // The deciding thread wakes a worker for the queue when it releases its turn. If it waits for the turn to
            // append, it is woken itself, to add the request to its batch.
            return (state.queue.count == 1 && (!state.turns.isDeciding || state.turns.isAppending), false)
        }
        if wakes { state.notifyAll() }
        if isClosed { submission.reply.resume(.failure(StoreGate.error)) }
    }

    /// Admits no new requests, and returns once all waiting work is done.
    func close() {
        let admissions = state.withLock { state in
            state.phase = .closing
            defer { state.admissions = [] }
            return state.admissions
        }
        for admission in admissions { admission() }
        awaitIdle()
        // They need the turns, and those of the last requests are there now.
        for _ in 0..<3 where !audits.isEmpty && writeAudits() {}
        audits.close()
        state.withLock { $0.phase = .closed }
        live.stopWaiting()
        builds.beginStopping()
        state.notifyAll()
        builds.join()
        for worker in workers { worker.join() }
        state.wait { state -> Void? in
            guard state.turns.areFree else { return nil }
            state.turns.takeBoth()
            return ()
        }
        assert(state.withLock { $0.queue.isEmpty }, "no request is left without an answer")
        front = nil
        line = nil
    }

    /// Waits until no request waits or is being decided.
    private func awaitIdle() {
        state.withLock { $0.turns.waiters += 1 }
        state.notifyAll()
        state.wait { state -> Void? in
            guard state.queue.isEmpty, state.turns.areFree else { return nil }
            state.turns.waiters -= 1
            return ()
        }
    }

    // MARK: Turns

    private enum Work {
        case requests([Submission], [Admission])
        /// The views must follow the log: they are damaged, other processes appended, or the outcome of an append is
        /// known now.
        case following
        case end
    }

    private func run() {
        while true {
            switch state.wait({ nextWork(&$0) }) {
            case .requests(let submissions, let admissions):
                for admission in admissions { admission() }
                work(on: submissions)
            case .following:
                followLog()
                returnTurns()
            case .end: return
            }
        }
    }

    private func nextWork(_ state: inout State) -> Work? {
        // If the next offset is not certain, a commit is decided only when the one before it is in the log.
        if state.turns.isDeciding || state.turns.claims > 0 || !log.assignsNextOffset && state.turns.isAppending {
            return nil
        }
        // Before requests, which are all refused while an outcome is unknown.
        if !state.turns.isAppending, mustFollow(&state) {
            state.turns.takeBoth()
            return .following
        }
        if !state.queue.isEmpty {
            state.turns.takeDeciding()
            let room = log.assignsNextOffset ? Self.maximumTurnBytes : 0
            defer { state.admissions = [] }
            return .requests(state.queue.take(byteCount: room), state.admissions)
        }
        return state.isClosed ? .end : nil
    }

    /// Decides and appends. The caller has the turn to decide.
    private func work(on submissions: [Submission]) {
        var batch = Batch()
        awaitRoom()
        decide(submissions, &batch)
        while case .more(let more, let admissions) = awaitTurnToAppend(&batch) {
            for admission in admissions { admission() }
            decide(more, &batch)
        }
        complete(&batch)
        putBackIfDamaged(&batch)
        releaseDeciding()
        let answers = append(&batch)
        noteRefusals(answers)
        releaseAppending()
        // Outside both turns: a resumed caller may submit more immediately.
        assert(holdsNoTurn, "callers are answered without a turn")
        for (submission, answer) in answers { submission.reply.resume(answer) }
    }

    /// Slows writers down to the pace of flushes and merges. If these fail there is nothing to wait for, and too many
    /// changes in memory are refused.
    func awaitRoom() {
        _ = flusher?.awaitRoom(milliseconds: Self.maximumRoomMilliseconds)
    }

    /// The error of a store whose changes cannot be written for so long that they would use up the memory; nil while
    /// there is room.
    var fullness: StrataError? {
        guard let flusher, flusher.isFull else { return nil }
        return StrataError(
            .refusingWrites, "The changes in memory are not written yet.", cause: flusher.failure)
    }

    /// Gives a batch its resulting state. The caller has both turns.
    func complete(_ batch: inout Batch) {
        assert(holdsBothTurns, "a batch is completed with both turns")
        decideAgainIfBroken(&batch)
        if !batch.commits.isEmpty || audits.isFull { addAudits(to: &batch) }
        // The audits are back in their queue, and come with another batch.
        decideAgainIfBroken(&batch)
        do {
            batch.fork = batch.commits.isEmpty ? nil : try line?.fold.stack()
        } catch { fail(&batch, error) }
    }

    /// Decides a batch again if it is broken, or if an earlier batch on which it was based was lost. The caller has
    /// both turns.
    private func decideAgainIfBroken(_ batch: inout Batch) {
        while batch.isBroken || isLineLost {
            // A lost line or a damaged frame can fail any entry. After damage, the whole batch is put back later.
            let isLost = isLineLost
            line = nil
            audits.putBack(batch.removeAudits(includingPoisoned: isLost || live.isDamaged))
            var again = Batch()
            var waiting: [Submission] = []
            for entry in batch.entries {
                if case .poisoned = entry.outcome, !isLost {
                    again.entries.append(entry)
                } else {
                    waiting.append(entry.submission)
                }
            }
            decide(waiting, &again)
            batch = again
        }
    }

    /// True if the log or the views have become different from the line.
    var isLineLost: Bool {
        guard let line else { return false }
        let losses = state.withLock { $0.losses }
        assert(line.losses <= losses, "losses only grow")
        return line.losses != losses
    }

    // For checks only.
    var holdsNoTurn: Bool { state.withLock { !$0.turns.isMineToDecide && !$0.turns.isMineToAppend } }
    var holdsBothTurns: Bool { state.withLock { $0.turns.isMineToDecide && $0.turns.isMineToAppend } }
    var holdsTurnToDecide: Bool { state.withLock { $0.turns.isMineToDecide } }
    var holdsTurnToAppend: Bool { state.withLock { $0.turns.isMineToAppend } }

    func releaseDeciding() {
        let isAwaited = state.withLock { state in
            state.turns.releaseDeciding()
            return !state.queue.isEmpty || state.isClosed || state.turns.waiters > 0 || mustFollow(&state)
        }
        if isAwaited { state.notifyAll() }
    }

    func releaseAppending() {
        let isAwaited = state.withLock { state in
            let isAwaited = state.endAppending()
            return isAwaited || mustFollow(&state)
        }
        if isAwaited { state.notifyAll() }
    }

    private enum Awaited {
        /// The batch has the turn to append.
        case turn
        /// Requests came while another batch is being written.
        case more([Submission], [Admission])
    }

    private func awaitTurnToAppend(_ batch: inout Batch) -> Awaited {
        assert(state.withLock { $0.turns.isMineToDecide && !$0.turns.isMineToAppend }, "the turns come in this order")
        let present = batch.entries.count
        func next(_ state: inout State, _ room: Int, needsOne: Bool) -> Awaited? {
            if !state.turns.isAppending {
                state.turns.takeAppending()
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
