import Glibc
import Synchronization

/// Where the time comes from: microseconds since 1970, which may jump in either direction.
public protocol TimeSource: Sendable {
    func nowMicroseconds() -> Int64
}

/// The clock of this machine.
public struct SystemTime: TimeSource {
    public init() {}

    public func nowMicroseconds() -> Int64 {
        var now = timespec()
        clock_gettime(CLOCK_REALTIME, &now)
        return Self.microseconds(seconds: Int64(now.tv_sec), nanoseconds: Int64(now.tv_nsec))
    }

    /// Stops at the ends of what the number can say: some 292,000 years from 1970.
    static func microseconds(seconds: Int64, nanoseconds: Int64) -> Int64 {
        let (product, overflows) = seconds.multipliedReportingOverflow(by: 1_000_000)
        let (sum, overflowsToo) = product.addingReportingOverflow(nanoseconds / 1_000)
        return overflows || overflowsToo ? (seconds < 0 ? .min : .max) : sum
    }
}

/// A clock that stands still until it is told to move, for results that are the same every time.
///
/// ```swift
/// let time = ManualTime(microseconds: 0)
/// time.advance(byMicroseconds: 1_000_000)
/// ```
public final class ManualTime: TimeSource {
    private let microseconds: Atomic<Int64>

    public init(microseconds: Int64) { self.microseconds = Atomic(microseconds) }

    public func nowMicroseconds() -> Int64 { microseconds.load(ordering: .sequentiallyConsistent) }

    /// Stops at the ends of what the number can say.
    public func advance(byMicroseconds step: Int64) {
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
