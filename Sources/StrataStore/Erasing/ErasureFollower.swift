import StrataSystem

/// The thread that carries out the erasures of other processes in this process's files (docs/replication.md §14).
final class ErasureFollower: Sendable {
    /// The pause before a failed erasure is tried again, for example because the disk is full. It doubles each time.
    private static let retryMilliseconds = 500
    private static let maximumDoublings = 7

    private struct State {
        var isDue = true
        var isStopping = false
        /// Called after erasures were carried out.
        var watchers: [@Sendable () -> Void] = []
    }

    private let state = Monitor(State())
    private let worker = WorkerHandle()

    /// - Parameter work: carries out what there is to do.
    func start(_ work: @escaping @Sendable () throws -> Void) throws {
        try worker.start(name: "strata-erase") { [self] in
            var failures = 0
            while awaitWork(after: failures) {
                do {
                    try work()
                    failures = 0
                } catch { failures += 1 }
            }
        }
    }

    /// Returns false once the store closes.
    private func awaitWork(after failures: Int) -> Bool {
        func next(_ state: inout State) -> Bool? {
            if state.isStopping { return false }
            defer { state.isDue = false }
            return state.isDue ? true : nil
        }
        if failures == 0 { return state.wait { next(&$0) } }
        let pause = Self.retryMilliseconds << min(failures - 1, Self.maximumDoublings)
        return state.wait(milliseconds: pause) { next(&$0) } ?? true
    }

    func wake() {
        state.withLock { $0.isDue = true }
        state.notifyAll()
    }

    func watch(_ body: @escaping @Sendable () -> Void) { state.withLock { $0.watchers.append(body) } }

    /// Tells those who watch that erasures were carried out.
    func announce() { for body in state.withLock({ $0.watchers }) { body() } }

    /// Waits for what is being carried out; the next opening of the store does the rest.
    func stop() {
        state.withLock { $0.isStopping = true }
        state.notifyAll()
        worker.join()
    }
}
