/// A random 128-bit identifier of a store, a segment or a commit.
public struct Identifier: Hashable, Sendable, CustomStringConvertible {
    public var high: UInt64
    public var low: UInt64

    public init(high: UInt64, low: UInt64) {
        self.high = high
        self.low = low
    }

    public static let zero = Identifier(high: 0, low: 0)

    /// The identifier as 32 hexadecimal digits, in the order of the bytes on disk.
    public var description: String { hexadecimal(high) + hexadecimal(low) }
}

/// Returns a number in decimal, with leading zeros up to 20 digits, so that names sort like their numbers.
package func paddedDecimal(_ number: UInt64) -> String {
    let digits = String(number)
    return String(repeating: "0", count: 20 - digits.count) + digits
}

/// Returns a number in lowercase hexadecimal, with leading zeros.
package func hexadecimal<Number: FixedWidthInteger & UnsignedInteger>(_ number: Number) -> String {
    let digits = String(number, radix: 16)
    return String(repeating: "0", count: Number.bitWidth / 4 - digits.count) + digits
}
