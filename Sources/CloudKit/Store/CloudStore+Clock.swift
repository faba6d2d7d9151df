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
