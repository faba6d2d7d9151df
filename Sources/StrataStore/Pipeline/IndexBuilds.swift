import StrataSystem

/// Owns the thread that builds indexes.
final class IndexBuilds: Sendable {
    private struct State {
        var isStopping = false
        var hasStarted = false
        /// True if the catalog may require work.
        var hasWork = false
    }

    /// Separate from the pipeline's state, so that the thread is not woken by every request.
    private let state = Monitor(State())
    private let worker = WorkerHandle()

    /// Wakes the thread, since there may be indexes to build or to remove. The first call starts it.
    func wake(_ run: @escaping @Sendable () -> Void) throws {
        let starts = state.withLock { state in
            state.hasWork = true
            defer { state.hasStarted = true }
            return !state.hasStarted && !state.isStopping
        }
        state.notifyAll()
        if starts { try worker.start(name: "strata-indexes", run) }
    }

    func beginStopping() {
        state.withLock { $0.isStopping = true }
        state.notifyAll()
    }

    func join() { worker.join() }

    // MARK: The thread

    /// Waits for work; returns false once the thread must end.
    func awaitWork() -> Bool {
        state.wait { state -> Bool? in
            if state.isStopping { return false }
            defer { state.hasWork = false }
            return state.hasWork ? true : nil
        }
    }

    /// Waits for some time; returns true if the thread must end.
    func rest(milliseconds: Int) -> Bool {
        state.wait(milliseconds: milliseconds) { $0.isStopping ? true : nil } ?? false
    }
}
