/// The same random numbers for the same seed, on every machine (SplitMix64), for `random(in:using:)` and its like.
///
/// ```swift
/// var generator = SeededGenerator(seed: 7)
/// let die = Int.random(in: 1...6, using: &generator)
/// ```
package struct SeededGenerator: RandomNumberGenerator, Sendable {
    private var state: UInt64

    package init(seed: UInt64) { state = seed }

    package mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var value = state
        value = (value ^ (value >> 30)) &* 0xBF58_476D_1CE4_E5B9
        value = (value ^ (value >> 27)) &* 0x94D0_49BB_1331_11EB
        return value ^ (value >> 31)
    }

    /// A number from 0 up to, not including, `bound`. The standard library's own may change its method with a release.
    package mutating func next(below bound: Int) -> Int {
        Int(next().multipliedFullWidth(by: UInt64(bound)).high)
    }

    package mutating func nextBytes(_ count: Int) -> [UInt8] {
        [UInt8](unsafeUninitializedCapacity: count) { buffer, initializedCount in
            let bytes = UnsafeMutableRawBufferPointer(buffer)
            var index = 0
            while index + 8 <= count {
                bytes.storeBytes(of: next(), toByteOffset: index, as: UInt64.self)
                index += 8
            }
            while index < count {
                bytes[index] = UInt8(truncatingIfNeeded: next())
                index += 1
            }
            initializedCount = count
        }
    }
}
