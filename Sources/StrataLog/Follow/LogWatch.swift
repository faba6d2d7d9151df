import StrataSystem

/// The tasks that wait for a reader's log to grow, and a thread that looks for news on their behalf, so that nothing
/// that blocks runs on the cooperative pool.
final class LogWatch: Sendable {
    private struct State {
        var waitingCount = 0
        /// The error of the last look; cleared when a task begins to wait and no other task does.
        var failure: (any Error)?
        var hasThread = false
        var isStopping = false
    }

    /// The maximum time for which the thread looks once. It keeps the reader alive for that time.
    private static let lookMilliseconds = 250

    private let state = Monitor(State())
    private let waiters = EndWaiters()

    /// Returns once a commit after `offset` is seen, waiting was stopped, or the task is canceled.
    ///
    /// - Parameters:
    ///   - end: The offset of the last commit that the reader sees.
    ///   - look: Waits for news for that many milliseconds; returns false once the reader is gone.
    func wait(
        past offset: UInt64, end seen: @escaping @Sendable () -> UInt64,
        look: @escaping @Sendable (_ milliseconds: Int) throws -> Bool
    ) async throws {
        guard try begin(look) else { return }
        defer { end() }
        let state = state
        await waiters.wait(past: offset) {
            seen() > offset || state.withLock { $0.failure != nil || $0.isStopping }
        }
        if seen() <= offset, let failure = state.withLock({ $0.failure }) { throw failure }
    }

    func wake(end: UInt64) { waiters.wake(end: end, isClosed: false) }

    /// Ends all waits, present and future. The thread ends as soon as it can, without being waited for.
    func stop() {
        state.withLock { $0.isStopping = true }
        state.notifyAll()
        waiters.wake(end: 0, isClosed: true)
    }

    /// Registers a waiting task; returns false if waiting was stopped.
    private func begin(_ look: @escaping @Sendable (Int) throws -> Bool) throws -> Bool {
        let needsThread = state.withLock { state -> Bool? in
            if state.isStopping { return nil }
            if state.waitingCount == 0 { state.failure = nil }
            state.waitingCount += 1
            defer { state.hasThread = true }
            return !state.hasThread
        }
        state.notifyAll()
        guard let needsThread else { return false }
        if needsThread { try startThread(look) }
        return true
    }

    private func startThread(_ look: @escaping @Sendable (Int) throws -> Bool) throws {
        do {
            try WorkerThread(name: "strata-follow") { [self] in run(look) }.detach()
        } catch {
            state.withLock { state in
                state.hasThread = false
                state.waitingCount -= 1
            }
            throw error
        }
    }

    private func end() { state.withLock { $0.waitingCount -= 1 } }

    private func run(_ look: (Int) throws -> Bool) {
        while isNeeded() {
            do {
                guard try look(Self.lookMilliseconds) else { return }
            } catch {
                state.withLock { $0.failure = error }
                waiters.wake(end: 0, isClosed: true)
            }
        }
    }

    /// Waits until a task waits; returns false if waiting was stopped.
    private func isNeeded() -> Bool {
        state.wait { state in
            if state.isStopping { return false }
            return state.waitingCount > 0 && state.failure == nil ? true : nil
        }
    }
}
