import StrataSystem

/// The thread that carries out the erasures of other processes in this process's files (docs/replication.md §14).
final class ErasureFollower: Sendable {
    /// The pause before a failed erasure is tried again, for example because the disk is full. It doubles each time.
    private static let retryMilliseconds = 500
    private static let maximumDoublings = 7

    private let signal = WorkSignal(hasWork: true)
    /// Called after erasures were carried out.
    private let watchers = Lock<[@Sendable () -> Void]>([])
    private let worker = WorkerHandle()

    /// - Parameter work: carries out the erasures that are due.
    func start(_ work: @escaping @Sendable () throws -> Void) throws {
        try worker.start(name: "strata-erase") { [self] in
            var failures = 0
            while signal.wait(milliseconds: Self.pause(after: failures)) {
                do {
                    try work()
                    failures = 0
                } catch { failures += 1 }
            }
        }
    }

    /// Returns the time after which failed work is tried again; nil if none has failed.
    private static func pause(after failures: Int) -> Int? {
        failures == 0 ? nil : retryMilliseconds << min(failures - 1, maximumDoublings)
    }

    func wake() { signal.wake() }

    func watch(_ body: @escaping @Sendable () -> Void) { watchers.withLock { $0.append(body) } }

    /// Calls the watchers.
    func announce() { for body in watchers.withLock({ $0 }) { body() } }

    /// Waits until a running erasure has ended. The next opening of the store does the rest.
    func stop() {
        signal.end()
        worker.join()
    }
}
