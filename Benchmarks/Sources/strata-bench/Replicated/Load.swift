import Glibc
import StrataSystem

/// The operations of clients that each begin the next one as soon as the last was answered.
struct Load {
    var seconds = 0.0
    /// The processor time of this process, with the threads that follow and without the servers.
    var processorSeconds = 0.0
    var count = 0
    /// The time that each call took.
    var milliseconds: [Double] = []

    var rate: Double { Double(count) / seconds }
    var processorMicroseconds: Double { processorSeconds * 1e6 / Double(max(1, count)) }

    /// Returns the time within which a part of the calls was answered.
    func milliseconds(of part: Double) -> Double {
        let sorted = milliseconds.sorted()
        return sorted.isEmpty ? 0 : sorted[min(sorted.count - 1, Int(Double(sorted.count) * part))]
    }

    /// Returns the loads of clients or processes that worked at the same time as one.
    static func together(_ loads: [Load]) -> Load {
        var sum = Load()
        for load in loads {
            sum.seconds = max(sum.seconds, load.seconds)
            sum.processorSeconds += load.processorSeconds
            sum.count += load.count
            sum.milliseconds += load.milliseconds
        }
        return sum
    }

    /// Runs one client on this thread.
    ///
    /// - Parameter body: does one operation, or several with one call, and returns their number.
    static func alone(seconds: Double, _ body: () throws -> Int) throws -> Load {
        let processor = processorSeconds()
        var load = try timed(seconds: seconds, body)
        load.processorSeconds = processorSeconds() - processor
        return load
    }

    /// Runs several clients, each on a thread of its own.
    static func run(clients: Int, seconds: Double, _ body: @escaping @Sendable () throws -> Int) throws -> Load {
        let results: Lock<[Result<Load, any Error>]> = Lock([])
        let processor = processorSeconds()
        let threads = try (0..<clients).map { _ in
            try WorkerThread(name: "client") {
                let result = Result { try timed(seconds: seconds, body) }
                results.withLock { $0.append(result) }
            }
        }
        for thread in threads { thread.join() }
        var load = together(try results.withLock { $0 }.map { try $0.get() })
        load.processorSeconds = processorSeconds() - processor
        return load
    }

    private static func timed(seconds: Double, _ body: () throws -> Int) throws -> Load {
        var load = Load()
        let start = secondsNow()
        var now = start
        while now - start < seconds {
            load.count += try body()
            let end = secondsNow()
            load.milliseconds.append((end - now) * 1_000)
            now = end
        }
        load.seconds = now - start
        return load
    }

    private static func processorSeconds() -> Double {
        var now = timespec()
        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now)
        return Double(now.tv_sec) + Double(now.tv_nsec) / 1e9
    }
}
