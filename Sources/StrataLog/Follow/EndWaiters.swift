import StrataSystem

/// Tasks that wait for a log's end to move.
package final class EndWaiters: Sendable {
    private struct Waiter {
        var past: UInt64
        var continuation: CheckedContinuation<Void, Never>
    }

    private struct State {
        var waiters: [UInt64: Waiter] = [:]
        var nextTicket: UInt64 = 0
    }

    private let state = Lock(State())

    package init() {}

    /// Returns once ``wake(end:isClosed:)`` was called with an end after `offset` or for a closed log, or once the task
    /// is canceled.
    /// - Parameter isReached: returns true if there is nothing to wait for. The end must move before `wake` is called,
    ///   so that no move is missed.
    package func wait(past offset: UInt64, unless isReached: @Sendable () -> Bool) async {
        let ticket = state.withLock { state in
            state.nextTicket += 1
            return state.nextTicket
        }
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let isReady = state.withLock { state in
                    // If the task was canceled first, nothing would remove the waiter.
                    if isReached() || Task.isCancelled { return true }
                    state.waiters[ticket] = Waiter(past: offset, continuation: continuation)
                    return false
                }
                if isReady { continuation.resume() }
            }
        } onCancel: {
            state.withLock { $0.waiters.removeValue(forKey: ticket) }?.continuation.resume()
        }
    }

    package func wake(end: UInt64, isClosed: Bool) {
        let ready = state.withLock { state -> [Waiter] in
            if state.waiters.isEmpty { return [] }
            let keys = state.waiters.filter { isClosed || $0.value.past < end }.keys
            return keys.compactMap { state.waiters.removeValue(forKey: $0) }
        }
        // Outside the lock, which a resumed task may want immediately.
        for waiter in ready { waiter.continuation.resume() }
    }
}
