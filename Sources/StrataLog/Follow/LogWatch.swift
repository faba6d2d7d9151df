import StrataSystem

/// Tasks that wait for a reader's log to grow, and the thread that looks for them, so that nothing that blocks runs on
/// the cooperative pool.
final class LogWatch: Sendable {
    private struct State {
        var waitingCount = 0
        /// Why the last look failed; cleared when nobody is left who has not heard of it.
        var failure: (any Error)?
        var hasThread = false
        var isStopping = false
    }

    /// How long one look of the thread may take: it keeps the reader meanwhile.
    private static let lookMilliseconds = 250

    private let state = Monitor(State())
    private let waiters = EndWaiters()

    /// Returns once the reader sees a commit behind `offset`, or nobody is to wait any more, or the task is cancelled.
    func wait(past offset: UInt64, of reader: LogReader) async throws {
        guard try begin(reader) else { return }
        defer { end() }
        let state = state
        await waiters.wait(past: offset) {
            reader.end.offset > offset || state.withLock { $0.failure != nil || $0.isStopping }
        }
        if reader.end.offset <= offset, let failure = state.withLock({ $0.failure }) { throw failure }
    }

    func wake(end: UInt64) { waiters.wake(end: end, isClosed: false) }

    /// Nobody waits any more. The thread ends as soon as it can, and nobody waits for that.
    func stop() {
        state.withLock { $0.isStopping = true }
        state.notifyAll()
        waiters.wake(end: 0, isClosed: true)
    }

    /// - Returns: false if nobody is to wait any more.
    private func begin(_ reader: LogReader) throws -> Bool {
        let needsThread = state.withLock { state -> Bool? in
            if state.isStopping { return nil }
            if state.waitingCount == 0 { state.failure = nil }
            state.waitingCount += 1
            defer { state.hasThread = true }
            return !state.hasThread
        }
        state.notifyAll()
        guard let needsThread else { return false }
        if needsThread { try startThread(reader) }
        return true
    }

    private func startThread(_ reader: LogReader) throws {
        do {
            try WorkerThread(name: "strata-follow") { [weak reader, self] in run { reader } }.detach()
        } catch {
            state.withLock { state in
                state.hasThread = false
                state.waitingCount -= 1
            }
            throw error
        }
    }

    private func end() { state.withLock { $0.waitingCount -= 1 } }

    /// - Parameter reader: held during a look only, so that the thread does not keep it.
    private func run(_ reader: () -> LogReader?) {
        while isNeeded(), let reader = reader() {
            do {
                _ = try reader.wait(past: reader.end.offset, milliseconds: Self.lookMilliseconds)
            } catch {
                state.withLock { $0.failure = error }
                waiters.wake(end: 0, isClosed: true)
            }
        }
    }

    /// Waits until somebody waits; false if the reader has gone.
    private func isNeeded() -> Bool {
        state.wait { state in
            if state.isStopping { return false }
            return state.waitingCount > 0 && state.failure == nil ? true : nil
        }
    }
}
