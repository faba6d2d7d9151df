import StrataSystem
import Synchronization

/// Many clients at once, each of which goes on as soon as it has been answered.
struct Clients: Sendable {
    let count: Int
    let seconds: Double

    /// What several clients did together.
    private final class Tally: Sendable {
        let total = Atomic(0)
        let failure = Mutex<String?>(nil)

        func rate(since start: Double) throws -> Double {
            if let message = failure.withLock({ $0 }) { throw BenchError(message: message) }
            return Double(total.load(ordering: .relaxed)) / (secondsNow() - start)
        }
    }

    /// Operations per second of threads.
    ///
    /// - Parameter finish: what belongs to the measured time beside.
    func threads(finish: () throws -> Void = {}, _ body: @escaping @Sendable () throws -> Void) throws -> Double {
        let tally = Tally()
        let start = secondsNow()
        let workers = try (0..<count).map { _ in
            try WorkerThread(name: "client") { [seconds] in
                var done = 0
                do {
                    while secondsNow() - start < seconds {
                        try body()
                        done += 1
                    }
                } catch { tally.failure.withLock { $0 = "\(error)" } }
                tally.total.add(done, ordering: .relaxed)
            }
        }
        for worker in workers { worker.join() }
        try finish()
        return try tally.rate(since: start)
    }

    /// Operations per second of tasks.
    func tasks(
        finish: () throws -> Void = {}, _ body: @escaping @Sendable () async throws -> Void
    ) throws -> Double {
        let tally = Tally()
        let done = Gate()
        let start = secondsNow()
        Task { [count, seconds] in
            await withTaskGroup(of: Void.self) { group in
                for _ in 0..<count {
                    group.addTask {
                        var done = 0
                        do {
                            while secondsNow() - start < seconds {
                                try await body()
                                done += 1
                            }
                        } catch { tally.failure.withLock { $0 = "\(error)" } }
                        tally.total.add(done, ordering: .relaxed)
                    }
                }
            }
            done.open()
        }
        done.wait()
        try finish()
        return try tally.rate(since: start)
    }
}
