import StrataLog
import StrataModel
import StrataSystem

/// Appends the commits of many threads and tasks to a log in groups: all commits that wait share one write and one
/// sync.
///
/// ```swift
/// let queue = try CommitQueue(log)
/// let position = try await queue.commit(envelope.encoded()[...])
/// ```
///
/// A thread that finds nobody else at work commits on its own, without a hop; tasks never block the cooperative pool.
/// When more than 32 MiB wait, further callers wait before they are let in.
package final class CommitQueue: Sendable {
    private static let maximumWaitingBytes = 32 << 20
    /// A batch takes at most about this many bytes, so that its callers do not wait for much more than their own.
    private static let maximumBatchBytes = 8 << 20

    private struct Waiting {
        var commit: NewCommit
        var reply: Reply<Position>
    }

    private struct State {
        var waiting: [Waiting] = []
        var waitingBytes = 0
        var admissions: [Admission] = []
        /// Somebody is committing: the thread below, or a caller on its own.
        var isBusy = false
        var isClosed = false
    }

    private let log: any EventLog
    private let platform: Platform
    private let state = Monitor(State())
    private let thread: WorkerHandle = WorkerHandle()

    package init(_ log: any EventLog, platform: Platform = Platform()) throws {
        self.log = log
        self.platform = platform
        try thread.start(name: "strata-commit") { [self] in run() }
    }

    /// Commits a payload; returns once it is as durable as the log promises.
    package func commit(_ payload: ArraySlice<UInt8>) throws -> Position {
        var commit = newCommit(payload)
        try prepare(&commit)
        if state.withLock({ Self.takeTurn(&$0) }) {
            defer { giveUpTurn() }
            return try append([commit])[0].get()
        }
        let ticket = Ticket<Position>()
        while let gate = try enqueueOrGate(Waiting(commit: commit, reply: .ticket(ticket))) { gate.wait() }
        return try ticket.wait()
    }

    /// As the other `commit`, suspending instead of blocking.
    package func commit(_ payload: ArraySlice<UInt8>) async throws -> Position {
        var commit = newCommit(payload)
        try prepare(&commit)
        let prepared = commit
        return try await withCheckedThrowingContinuation { continuation in
            enqueue(Waiting(commit: prepared, reply: .continuation(continuation)))
        }
    }

    /// Lets in nobody new, finishes what waits, and ends the thread; the log stays open.
    package func close() {
        let admissions = state.withLock { state in
            state.isClosed = true
            defer { state.admissions = [] }
            return state.admissions
        }
        for admission in admissions { admission.open() }
        state.notifyAll()
        thread.join()
    }

    private func newCommit(_ payload: ArraySlice<UInt8>) -> NewCommit {
        NewCommit(id: platform.random.nextIdentifier(), time: 0, payload: payload)
    }

    /// Fails as appending would: who calls must not need to know whether others were there first.
    private func prepare(_ commit: inout NewCommit) throws(AppendFailure) {
        do { try log.prepare(&commit) } catch let failure as AppendFailure { throw failure } catch {
            throw .notWritten(
                error as? StrataError
                    ?? StrataError(.invalidArgument, "The touches of the payload cannot be determined.", cause: error))
        }
    }

    // MARK: Getting in

    private static func takeTurn(_ state: inout State) -> Bool {
        guard !state.isClosed, !state.isBusy, state.waiting.isEmpty else { return false }
        state.isBusy = true
        return true
    }

    private func giveUpTurn() {
        let threadIsNeeded = state.withLock { state in
            state.isBusy = false
            return !state.waiting.isEmpty || state.isClosed
        }
        if threadIsNeeded { state.notifyAll() }
    }

    private enum Entry {
        case entered(wakesThread: Bool)
        case full
        case closed
    }

    private static func enter(_ state: inout State, _ waiting: Waiting) -> Entry {
        if state.isClosed { return .closed }
        if state.waitingBytes > maximumWaitingBytes { return .full }
        state.waiting.append(waiting)
        state.waitingBytes += waiting.commit.payload.count
        return .entered(wakesThread: !state.isBusy && state.waiting.count == 1)
    }

    /// nil once the commit waits in the queue; a gate to wait at while there is no room.
    private func enqueueOrGate(_ waiting: Waiting) throws -> Gate? {
        let gate = Gate()
        let entry = state.withLock { state in
            let entry = Self.enter(&state, waiting)
            if case .full = entry { state.admissions.append(.gate(gate)) }
            return entry
        }
        switch entry {
        case .entered(let wakesThread):
            if wakesThread { state.notifyAll() }
            return nil
        case .full: return gate
        case .closed: throw Self.closedError
        }
    }

    private func enqueue(_ waiting: Waiting) {
        let entry = state.withLock { state in
            let entry = Self.enter(&state, waiting)
            if case .full = entry { state.admissions.append(.retry { [self] in enqueue(waiting) }) }
            return entry
        }
        switch entry {
        case .entered(let wakesThread): if wakesThread { state.notifyAll() }
        case .full: break
        case .closed: waiting.reply.resume(.failure(Self.closedError))
        }
    }

    private static var closedError: StrataError { StrataError(.closed, "The commit queue has been closed.") }

    // MARK: Committing

    private func run() {
        while let (batch, admissions) = state.wait({ Self.nextBatch(&$0) }) {
            for admission in admissions { admission.open() }
            if batch.isEmpty { break }
            let results = append(batch.map(\.commit))
            state.withLock { $0.isBusy = false }
            // Outside the lock, which those who wake up will want.
            for (waiting, result) in zip(batch, results) { waiting.reply.resume(result) }
        }
    }

    /// Waits on nil; an empty batch is the end.
    private static func nextBatch(_ state: inout State) -> (batch: [Waiting], admissions: [Admission])?? {
        if state.isBusy { return nil }
        if state.waiting.isEmpty { return state.isClosed ? .some(([], [])) : nil }
        var bytes = 0
        let count =
            1
            + state.waiting.dropFirst().prefix { waiting in
                bytes += waiting.commit.payload.count
                return bytes <= maximumBatchBytes
            }.count
        let batch: [Waiting]
        if count == state.waiting.count {
            batch = state.waiting
            state.waiting = []
            state.waiting.reserveCapacity(count)
        } else {
            batch = Array(state.waiting.prefix(count))
            state.waiting.removeFirst(count)
        }
        state.waitingBytes -= batch.reduce(0) { $0 + $1.commit.payload.count }
        state.isBusy = true
        let admissions = state.admissions
        state.admissions = []
        return (batch, admissions)
    }

    /// Appends all of them, going on behind a prefix or somebody else's append; a result for each.
    private func append(_ commits: [NewCommit]) -> [Result<Position, any Error>] {
        var commits = commits
        var results: [Result<Position, any Error>] = []
        results.reserveCapacity(commits.count)
        while results.count < commits.count {
            let time = max(platform.time.nowMicroseconds(), log.endTime ?? Int64.min)
            for index in results.count..<commits.count { commits[index].time = time }
            let rest = results.isEmpty ? commits : Array(commits[results.count...])
            do throws(AppendFailure) {
                results += try log.append(rest, expecting: log.end).positions.map { .success($0) }
            } catch {
                if case .conflict = error { continue }
                results += rest.map { _ in .failure(error) }
            }
        }
        return results
    }
}
