import Foundation
import StrataSystem

extension CloudStore {
    /// Where a store's time comes from.
    public protocol Clock: Sendable {
        /// The present time; it may jump.
        var now: Date { get }
    }

    /// Where a store's random numbers come from.
    public protocol RandomNumbers: Sendable {
        /// The next number, each of the 2⁶⁴ as likely as the others.
        func next() -> UInt64
    }

    /// The clock of this machine.
    public struct SystemClock: Clock {
        public init() {}
        public var now: Date { Date() }
    }

    /// A clock that stands still until it is told to move, for tests whose dates are the same every time.
    ///
    /// ```swift
    /// let clock = CloudStore.ManualClock()
    /// options.clock = clock
    /// clock.advance(by: .seconds(60))
    /// ```
    public final class ManualClock: Clock {
        private let time: ManualTime

        /// - Parameter date: 1 January 2001 if nothing is said.
        public init(_ date: Date = Date(timeIntervalSinceReferenceDate: 0)) {
            time = ManualTime(microseconds: date.microseconds ?? 0)
        }

        public var now: Date { Date(microseconds: time.nowMicroseconds()) }

        /// Moves the clock, backwards too; it stops at the last date that it can show.
        public func advance(by duration: Duration) {
            let (seconds, attoseconds) = duration.components
            let (whole, overflows) = seconds.multipliedReportingOverflow(by: 1_000_000)
            let (step, exceeds) = whole.addingReportingOverflow(attoseconds / 1_000_000_000_000)
            time.advance(byMicroseconds: overflows || exceeds ? (seconds < 0 ? .min : .max) : step)
        }
    }

    /// The operating system's random numbers.
    public struct SystemRandomNumbers: RandomNumbers {
        public init() {}
        public func next() -> UInt64 { SystemRandom().next() }
    }

    /// The same numbers for the same seed, on every machine.
    public final class SeededRandomNumbers: RandomNumbers {
        private let source: SeededRandom

        /// Numbers that follow from a seed.
        public init(seed: UInt64) { source = SeededRandom(seed: seed) }

        public func next() -> UInt64 { source.next() }
    }
}
