import CStrata

/// The checksum of the format: CRC-32C, by the processor's instruction where it has one.
///
/// ```swift
/// var checksum = CRC32C()
/// checksum.update(bytes)
/// checksum.value
/// ```
package struct CRC32C: Sendable {
    package private(set) var value: UInt32

    /// Continues from the checksum of the preceding bytes.
    package init(continuing value: UInt32 = 0) { self.value = value }

    package mutating func update(_ bytes: UnsafeRawBufferPointer) {
        value = strata_crc32c(value, bytes.baseAddress, bytes.count)
    }

    @inlinable
    package mutating func update<Number: FixedWidthInteger>(_ number: Number) {
        withUnsafeBytes(of: number.littleEndian) { update($0) }
    }

    package static func checksum(_ bytes: UnsafeRawBufferPointer) -> UInt32 {
        strata_crc32c(0, bytes.baseAddress, bytes.count)
    }

    /// Continues over bytes that are not at hand, given only their number and their checksum.
    package mutating func update(_ byteCount: UInt64, checksum: UInt32) {
        // A checksum is a polynomial modulo that of CRC-32C: each later byte multiplies it by x⁸ and adds its own
        // value.
        var (power, factor, rest) = (Self.one, Self.eighthPower, byteCount)
        while rest > 0 {
            if rest & 1 == 1 { power = Self.product(power, factor) }
            factor = Self.product(factor, factor)
            rest >>= 1
        }
        value = Self.product(value, power) ^ checksum
    }

    /// Polynomials with the highest bit for x⁰, as in the checksum.
    private static let one: UInt32 = 1 << 31
    private static let eighthPower: UInt32 = 1 << 23

    private static func product(_ left: UInt32, _ right: UInt32) -> UInt32 {
        var (sum, right) = (0 as UInt32, right)
        for bit in stride(from: 31, through: 0, by: -1) {
            if left >> UInt32(bit) & 1 == 1 { sum ^= right }
            right = right >> 1 ^ (right & 1 == 1 ? 0x82F6_3B78 : 0)
        }
        return sum
    }
}
