import StrataModel

/// Builds keys whose byte order is the order of their parts (docs/format-keys.md §2).
///
/// ```swift
/// var key = KeyWriter()
/// key.append(number: zone)
/// key.append(lastName: name)
/// ```
public struct KeyWriter: Sendable {
    /// The largest number that takes a single byte.
    static let largestSingle: UInt64 = 246

    /// The byte before an escaped 0 or 1 in a text, so that the only 0 is the terminator.
    static let escape: UInt8 = 1

    public private(set) var bytes: [UInt8] = []

    public init() {}

    public mutating func removeAll() { bytes.removeAll(keepingCapacity: true) }

    /// Shortens the key to its first `count` bytes.
    public mutating func cut(to count: Int) { bytes.removeLast(bytes.count - count) }

    public mutating func append(byte: UInt8) { bytes.append(byte) }

    /// Inverts all bits from an offset on, so that these bytes sort in descending order.
    public mutating func turnBits(from start: Int) { for index in start..<bytes.count { bytes[index] = ~bytes[index] } }

    public mutating func append(number: UInt64) {
        guard number > Self.largestSingle else {
            bytes.append(UInt8(number))
            return
        }
        let count = (71 - number.leadingZeroBitCount) / 8
        bytes.append(UInt8(Self.largestSingle) + UInt8(count))
        for index in (0..<count).reversed() { bytes.append(UInt8(truncatingIfNeeded: number >> UInt64(8 * index))) }
    }

    public mutating func append(text: UnsafeRawBufferPointer) {
        guard text.allSatisfy({ $0 > Self.escape }) else { return append(text: Array(text)) }
        bytes.append(contentsOf: text)
        bytes.append(0)
    }

    public mutating func append(text: some Sequence<UInt8>) {
        for byte in text {
            if byte > Self.escape {
                bytes.append(byte)
            } else {
                bytes.append(Self.escape)
                bytes.append(byte + 1)
            }
        }
        bytes.append(0)
    }

    /// Valid only at the end of a key.
    public mutating func append(lastText text: some Sequence<UInt8>) { bytes.append(contentsOf: text) }

    /// Appends a name. If it is too long for a key, the key holds its short form, and its row or record the full name.
    public mutating func append(name: String) { Self.withKeyName(name) { append(text: $0) } }

    /// Valid only at the end of a key.
    public mutating func append(lastName name: String) { Self.withKeyName(name) { append(lastText: $0) } }

    public mutating func append(lastName name: UnsafeRawBufferPointer) {
        if name.count <= RecordState.longestKeyName {
            append(lastText: name)
        } else {
            append(lastText: Self.shortForm(of: name))
        }
    }

    private static func withKeyName(_ name: String, _ body: (UnsafeRawBufferPointer) -> Void) {
        var name = name
        name.withUTF8 { name in
            let name = UnsafeRawBufferPointer(name)
            if name.count <= RecordState.longestKeyName { return body(name) }
            shortForm(of: name).withUnsafeBytes(body)
        }
    }

    /// Returns a form one byte longer than the longest name that is stored whole, so that the length distinguishes
    /// them.
    private static func shortForm(of name: UnsafeRawBufferPointer) -> [UInt8] {
        let hash = DigestHash.hash(0, name)
        let kept = name.prefix(RecordState.longestKeyName + 1 - MemoryLayout.size(ofValue: hash))
        return kept + withUnsafeBytes(of: hash.littleEndian) { [UInt8]($0) }
    }

    /// Returns true if a name that was read from a key is a short form.
    static func isShortForm(_ name: UnsafeRawBufferPointer) -> Bool { name.count > RecordState.longestKeyName }

    public mutating func append(int64 number: Int64) { append(bits: UInt64(bitPattern: number) ^ 1 << 63) }

    public mutating func append(double number: Double) {
        let bits = number.isNaN ? 0x7FF8_0000_0000_0000 : number == 0 ? 0 : number.bitPattern
        append(bits: bits >> 63 == 1 ? ~bits : bits | 1 << 63)
    }

    private mutating func append(bits: UInt64) {
        withUnsafeBytes(of: bits.bigEndian) { bytes.append(contentsOf: $0) }
    }
}
