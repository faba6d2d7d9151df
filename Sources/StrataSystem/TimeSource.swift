import Glibc
import Synchronization

/// A source of the time, in microseconds since 1970. It may jump in either direction.
package protocol TimeSource: Sendable {
    func nowMicroseconds() -> Int64
}

/// The clock of this machine.
package struct SystemTime: TimeSource {
    package init() {}

    package func nowMicroseconds() -> Int64 {
        var now = timespec()
        clock_gettime(CLOCK_REALTIME, &now)
        return Self.microseconds(seconds: Int64(now.tv_sec), nanoseconds: Int64(now.tv_nsec))
    }

    /// Saturates at the limits of the number, some 292,000 years from 1970.
    static func microseconds(seconds: Int64, nanoseconds: Int64) -> Int64 {
        let (product, overflows) = seconds.multipliedReportingOverflow(by: 1_000_000)
        let (sum, overflowsToo) = product.addingReportingOverflow(nanoseconds / 1_000)
        return overflows || overflowsToo ? (seconds < 0 ? .min : .max) : sum
    }
}

/// A clock that moves only when advanced, for reproducible results.
///
/// ```swift
/// let time = ManualTime(microseconds: 0)
/// time.advance(byMicroseconds: 1_000_000)
/// ```
package final class ManualTime: TimeSource {
    private let microseconds: Atomic<Int64>

    package init(microseconds: Int64) { self.microseconds = Atomic(microseconds) }

    package func nowMicroseconds() -> Int64 { microseconds.load(ordering: .sequentiallyConsistent) }

    /// Advances the clock, saturating at the limits of the number.
    package func advance(byMicroseconds step: Int64) {
        var isDone = false
        var now = nowMicroseconds()
        while !isDone {
            let (sum, overflows) = now.addingReportingOverflow(step)
            let next = overflows ? (step < 0 ? .min : .max) : sum
            (isDone, now) = microseconds.compareExchange(
                expected: now, desired: next, ordering: .sequentiallyConsistent)
        }
    }
}
