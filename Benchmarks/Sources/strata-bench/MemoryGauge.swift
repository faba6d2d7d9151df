import CRocksDB
import Glibc
import StrataSystem

/// The memory that a piece of work needs beyond what was in use before it, in MiB.
struct MemoryGauge {
    private let before: Double

    init() {
        // Sets the high-water mark back to what is in use now.
        if let file = fopen("/proc/self/clear_refs", "w") {
            fputs("5", file)
            fclose(file)
        }
        before = Self.read("VmRSS:")
    }

    var extraMebibytes: Double { before.isFinite ? max(0, Self.read("VmHWM:") - before) : .infinity }

    /// The memory of this process that is no file's, now.
    static var anonymousMebibytes: Double { read("RssAnon:") }

    /// The same after what was freed has been given back.
    static var anonymousAtRest: Double {
        malloc_trim(0)
        return anonymousMebibytes
    }

    /// Returns the most anonymous memory that was in use while `body` ran, beyond what was in use before.
    ///
    /// The high-water mark of the system would count the pages of mapped files.
    static func peakOfAnonymous<Result>(
        beyond before: Double, _ body: () throws -> Result
    ) throws -> (Result, mebibytes: Double) {
        let peak = Lock(before)
        let hasEnded = Lock(false)
        let watcher = try WorkerThread(name: "memory") {
            while !hasEnded.withLock({ $0 }) {
                let now = anonymousMebibytes
                peak.withLock { $0 = max($0, now) }
                usleep(50_000)
            }
        }
        defer { watcher.join() }
        defer { hasEnded.withLock { $0 = true } }
        let result = try body()
        return (result, peak.withLock { $0 } - before)
    }

    private static func read(_ key: String) -> Double {
        let kibibytes = ProcessUsage.readNumber(key, in: "/proc/self/status")
        // If nothing was measured, no bar may be met.
        return kibibytes.isNaN ? .infinity : kibibytes / 1_024
    }
}

/// The most that any piece of work needed.
final class MemoryLedger {
    private(set) var highest = 0.0

    func note(_ gauge: MemoryGauge) { highest = max(highest, gauge.extraMebibytes) }
}
