import Foundation
import StrataSystem

extension CloudStore {
    /// The source of a store's time.
    public protocol Clock: Sendable {
        /// The current time; it may jump.
        var now: Date { get }
    }

    /// The source of a store's random numbers.
    public protocol RandomNumbers: Sendable {
        /// Returns the next number; all 2⁶⁴ values are equally likely.
        func next() -> UInt64
    }

    /// The system clock.
    public struct SystemClock: Clock {
        public init() {}
        public var now: Date { Date() }
    }

    /// The operating system's random number generator.
    public struct SystemRandomNumbers: RandomNumbers {
        public init() {}
        public func next() -> UInt64 { SystemRandom().next() }
    }

    /// A generator that produces the same numbers for the same seed, on every machine.
    public final class SeededRandomNumbers: RandomNumbers {
        private let source: SeededRandom

        /// Creates a generator from a seed.
        public init(seed: UInt64) { source = SeededRandom(seed: seed) }

        public func next() -> UInt64 { source.next() }
    }
}
