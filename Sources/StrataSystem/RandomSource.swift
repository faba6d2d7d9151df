import StrataModel
import Synchronization

/// A source of random numbers.
package protocol RandomSource: Sendable {
    func next() -> UInt64
}

extension RandomSource {
    /// Returns `count` random bytes.
    package func nextBytes(count: Int) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(count + 7)
        while bytes.count < count { withUnsafeBytes(of: next().littleEndian) { bytes.append(contentsOf: $0) } }
        bytes.removeLast(bytes.count - count)
        return bytes
    }

    package func nextIdentifier() -> Identifier { Identifier(high: next(), low: next()) }

    /// Returns a number from 0 up to, but not including, `bound`.
    package func next(below bound: UInt64) -> UInt64 {
        // The high half of the product is uniform enough: the bias is bound / 2⁶⁴.
        next().multipliedFullWidth(by: bound).high
    }
}

/// The operating system's random numbers.
package struct SystemRandom: RandomSource {
    package init() {}

    package func next() -> UInt64 {
        var generator = SystemRandomNumberGenerator()
        return generator.next()
    }
}

/// A generator of the same sequence for the same seed, on every machine (SplitMix64).
package final class SeededRandom: RandomSource {
    private let state: Atomic<UInt64>

    package init(seed: UInt64) { state = Atomic(seed) }

    package func next() -> UInt64 {
        var value = state.wrappingAdd(0x9E37_79B9_7F4A_7C15, ordering: .relaxed).newValue
        value = (value ^ (value >> 30)) &* 0xBF58_476D_1CE4_E5B9
        value = (value ^ (value >> 27)) &* 0x94D0_49BB_1331_11EB
        return value ^ (value >> 31)
    }
}
