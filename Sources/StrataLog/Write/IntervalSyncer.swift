import StrataSystem

/// Calls something again and again, on a thread of its own, until it is stopped.
final class IntervalSyncer: Sendable {
    private struct State {
        var isStopping = false
        var thread: WorkerThread?
    }

    private let state = Monitor(State())

    func start(milliseconds: Int, _ body: @escaping @Sendable () -> Void) throws {
        let state = self.state
        let thread = try WorkerThread(name: "strata-sync") {
            while state.wait(milliseconds: milliseconds, { $0.isStopping ? true : nil }) == nil { body() }
        }
        state.withLock { $0.thread = thread }
    }

    func stop() {
        let thread = state.withLock { state in
            state.isStopping = true
            defer { state.thread = nil }
            return state.thread
        }
        state.notifyAll()
        thread?.join()
    }
}
