import StrataModel

/// Builds keys whose byte order is the order of their parts (docs/format-keys.md §2).
///
/// ```swift
/// var key = KeyWriter()
/// key.append(number: zone)
/// key.append(lastRecordName: name)
/// ```
@usableFromInline
package struct KeyWriter: Sendable {
    /// The largest number that takes a single byte.
    @usableFromInline static let largestSingle: UInt64 = 246

    /// The byte before an escaped 0 or 1 in a text, so that the only 0 is the terminator.
    @usableFromInline static let escape: UInt8 = 1

    @usableFromInline var written: [UInt8] = []

    @inlinable package var bytes: [UInt8] { written }

    /// - Parameter count: the number of bytes for which room is made at once.
    package init(reserving count: Int = 0) {
        if count > 0 { written.reserveCapacity(count) }
    }

    package mutating func removeAll() { written.removeAll(keepingCapacity: true) }

    /// Shortens the key to its first `count` bytes.
    package mutating func cut(to count: Int) { written.removeLast(written.count - count) }

    @inlinable
    package mutating func append(byte: UInt8) { written.append(byte) }

    /// Inverts all bits from an offset on, so that these bytes sort in descending order.
    package mutating func turnBits(from start: Int) {
        for index in start..<written.count { written[index] = ~written[index] }
    }

    @inlinable
    package mutating func append(number: UInt64) {
        guard number > Self.largestSingle else {
            written.append(UInt8(number))
            return
        }
        let count = (71 - number.leadingZeroBitCount) / 8
        written.append(UInt8(Self.largestSingle) + UInt8(count))
        for index in (0..<count).reversed() { written.append(UInt8(truncatingIfNeeded: number >> UInt64(8 * index))) }
    }

    package mutating func append(text: UnsafeRawBufferPointer) {
        guard text.allSatisfy({ $0 > Self.escape }) else { return append(text: Array(text)) }
        written.append(contentsOf: text)
        written.append(0)
    }

    @inlinable
    package mutating func append(text: some Sequence<UInt8>) {
        for byte in text {
            if byte > Self.escape {
                written.append(byte)
            } else {
                written.append(Self.escape)
                written.append(byte + 1)
            }
        }
        written.append(0)
    }

    /// Valid only at the end of a key.
    @inlinable
    package mutating func append(lastText text: some Sequence<UInt8>) { written.append(contentsOf: text) }

    /// Appends a name. If it is too long for a key, the key holds its short form, and its row or record the full name.
    package mutating func append(name: String) { Self.withKeyName(name) { append(text: $0) } }

    /// Valid only at the end of a key.
    package mutating func append(lastName name: String) { Self.withKeyName(name) { append(lastText: $0) } }

    /// Appends a record's name as ``append(name:)`` does, in its packed form (``PackedName``).
    package mutating func append(recordName name: String) { Self.withPackedName(name) { append(text: $0) } }

    /// Valid only at the end of a key.
    package mutating func append(lastRecordName name: String) { Self.withPackedName(name) { append(lastText: $0) } }

    package mutating func append(lastRecordName name: UnsafeRawBufferPointer) {
        Self.withPackedName(name) { append(lastText: $0) }
    }

    /// Calls `body` with the packed form of a record's name, as keys hold it.
    package static func withPackedName<Result>(
        _ name: String, _ body: (UnsafeRawBufferPointer) throws -> Result
    ) rethrows -> Result {
        var name = name
        return try name.withUTF8 { try withPackedName(UnsafeRawBufferPointer($0), body) }
    }

    private static func withPackedName<Result>(
        _ name: UnsafeRawBufferPointer, _ body: (UnsafeRawBufferPointer) throws -> Result
    ) rethrows -> Result {
        try withKeyName(name) { try PackedName.withPacked($0, body) }
    }

    private static func withKeyName(_ name: String, _ body: (UnsafeRawBufferPointer) -> Void) {
        var name = name
        name.withUTF8 { withKeyName(UnsafeRawBufferPointer($0), body) }
    }

    private static func withKeyName<Result>(
        _ name: UnsafeRawBufferPointer, _ body: (UnsafeRawBufferPointer) throws -> Result
    ) rethrows -> Result {
        if name.count <= RecordState.longestKeyName { return try body(name) }
        return try shortForm(of: name).withUnsafeBytes(body)
    }

    /// Returns a form one byte longer than the longest name that is stored whole, so that the length distinguishes
    /// them.
    private static func shortForm(of name: UnsafeRawBufferPointer) -> [UInt8] {
        let hash = DigestHash.hash(0, name)
        let kept = name.prefix(RecordState.longestKeyName + 1 - MemoryLayout.size(ofValue: hash))
        return kept + withUnsafeBytes(of: hash.littleEndian) { [UInt8]($0) }
    }

    /// Returns true if a name that was read from a key, and unpacked, is a short form.
    package static func isShortForm(_ name: UnsafeRawBufferPointer) -> Bool { name.count > RecordState.longestKeyName }

    package mutating func append(int64 number: Int64) { append(bits: UInt64(bitPattern: number) ^ 1 << 63) }

    package mutating func append(double number: Double) {
        let bits = number.isNaN ? 0x7FF8_0000_0000_0000 : number == 0 ? 0 : number.bitPattern
        append(bits: bits >> 63 == 1 ? ~bits : bits | 1 << 63)
    }

    private mutating func append(bits: UInt64) {
        withUnsafeBytes(of: bits.bigEndian) { written.append(contentsOf: $0) }
    }
}
