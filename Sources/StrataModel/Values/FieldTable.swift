/// A view of an encoded field table, which finds values by their field's ordinal without decoding (docs/format.md §16).
///
/// Creating one reads only a few bytes. The order of the ordinals is checked by functions that visit all of them.
///
/// ```swift
/// let table = try FieldTable(bytes, in: range)
/// if let place = try table.range(of: titleField) { title = try FieldValue(decoding: bytes, in: place) }
/// ```
@usableFromInline
package struct FieldTable {
    package static let maximumCount = 65_535
    package static let maximumOrdinal = UInt64(UInt32.max)

    // Valid only inside the `withUnsafeBytes` call that provided it; `init` checked that all reads below are in bounds.
    @usableFromInline let bytes: UnsafeRawBufferPointer
    /// The number of entries, including removed keys.
    @usableFromInline package let count: Int
    @usableFromInline let ordinals: Int
    @usableFromInline let ends: Int
    @usableFromInline let values: Int
    @usableFromInline let ordinalBytes: Int
    @usableFromInline let endBytes: Int
    let start: Int
    @usableFromInline let end: Int

    /// Creates a view of the table that fills `range` of the bytes, which must stay alive as long as the table is used.
    @inline(__always)
    package init(_ bytes: UnsafeRawBufferPointer, in range: Range<Int>) throws {
        var reader = ByteReader(bytes, in: range)
        self.bytes = bytes
        start = range.lowerBound
        end = range.upperBound
        count = Int(try reader.readVarint("the number of fields", atMost: UInt64(Self.maximumCount)))
        guard count > 0 else {
            try reader.expectEnd("a field table")
            (ordinals, ends, values, ordinalBytes, endBytes) = (end, end, end, 1, 1)
            return
        }
        let widths = try reader.read(UInt8.self, "the widths of a field table")
        (ordinalBytes, endBytes) = (Int(widths & 0x0F), Int(widths >> 4))
        guard Self.isWidth(ordinalBytes), Self.isWidth(endBytes) else {
            throw reader.malformed("the widths of a field table", expected: "1, 2 or 4 bytes each", found: "\(widths)")
        }
        ordinals = try reader.readRange(count: UInt64(count * ordinalBytes), "the ordinals of fields").lowerBound
        ends = try reader.readRange(count: UInt64(count * endBytes), "the ends of values").lowerBound
        values = reader.position
        let length = Self.load(bytes, ends + (count - 1) * endBytes, endBytes)
        guard Int(length) == range.upperBound - values else {
            throw reader.malformed("the last end", expected: "\(range.upperBound - values)", found: "\(length)")
        }
        guard ordinalBytes == Self.width(of: ordinal(at: count - 1)), endBytes == Self.width(of: length) else {
            throw reader.malformed("the widths of a field table", expected: "as narrow as possible")
        }
    }

    @inline(__always)
    private static func isWidth(_ number: Int) -> Bool { number == 1 || number == 2 || number == 4 }

    @inline(__always)
    static func width(of number: UInt32) -> Int { number < 1 << 8 ? 1 : number < 1 << 16 ? 2 : 4 }

    @inlinable
    @inline(__always)
    static func load(_ bytes: UnsafeRawBufferPointer, _ place: Int, _ width: Int) -> UInt32 {
        switch width {
        case 1: UInt32(bytes[place])
        case 2: UInt32(UInt16(littleEndian: bytes.loadUnaligned(fromByteOffset: place, as: UInt16.self)))
        default: UInt32(littleEndian: bytes.loadUnaligned(fromByteOffset: place, as: UInt32.self))
        }
    }

    /// Returns the field of the entry at an index, which must be below ``count``.
    @inlinable
    @inline(__always)
    package func ordinal(at index: Int) -> UInt32 {
        precondition(index >= 0 && index < count, "the index is outside the field table")
        return Self.load(bytes, ordinals + index * ordinalBytes, ordinalBytes)
    }

    /// Returns the range of an entry's value in the bytes; empty for a removed key.
    @inlinable
    @inline(__always)
    package func range(at index: Int) throws -> Range<Int> {
        precondition(index >= 0 && index < count, "the index is outside the field table")
        let lower = index == 0 ? values : values + Int(Self.load(bytes, ends + (index - 1) * endBytes, endBytes))
        let upper = values + Int(Self.load(bytes, ends + index * endBytes, endBytes))
        guard lower <= upper, upper <= end else { throw invalidEnd(upper, at: index) }
        return lower..<upper
    }

    @inline(never) @usableFromInline
    func invalidEnd(_ upper: Int, at index: Int) -> StrataError {
        ByteReader(bytes, at: ends + index * endBytes)
            .malformed(
                "the end of a value", expected: "between the previous and the last end", found: "\(upper - values)")
    }

    /// Returns the index of a field's entry; nil if there is none.
    package func index(of field: UInt32) -> Int? {
        var (low, high) = (0, count)
        while low < high {
            let middle = (low + high) / 2
            if ordinal(at: middle) < field { low = middle + 1 } else { high = middle }
        }
        return low < count && ordinal(at: low) == field ? low : nil
    }

    /// Returns the range of a field's value in the bytes; nil if the field has no entry, empty if it is removed.
    package func range(of field: UInt32) throws -> Range<Int>? {
        try index(of: field).map { try range(at: $0) }
    }

    /// Returns the value of a field; nil if it has none or is removed.
    package func value(of field: UInt32) throws -> FieldValue? {
        guard let range = try range(of: field), !range.isEmpty else { return nil }
        return try FieldValue(decoding: bytes, in: range)
    }

    /// Returns the kind of an entry's value without decoding it; nil for a removed key.
    package func kind(at index: Int) throws -> FieldKind? {
        let range = try range(at: index)
        return range.isEmpty ? nil : FieldKind(rawValue: bytes[range.lowerBound])
    }

    /// Returns the bitwise OR of all values' kinds. Reads one byte of each value.
    package func kindBits() throws -> UInt8 {
        var bits: UInt8 = 0
        for index in 0..<count {
            let range = try range(at: index)
            if !range.isEmpty { bits |= bytes[range.lowerBound] }
        }
        return bits
    }

    /// Throws unless the field of an entry is above the previous one.
    @inline(__always)
    func checkOrder(at index: Int) throws {
        let before = index == 0 ? 0 : ordinal(at: index - 1)
        guard before < ordinal(at: index) else {
            throw ByteReader(bytes, at: ordinals + index * ordinalBytes)
                .malformed("the ordinals of fields", expected: "ascending", found: "\(ordinal(at: index))")
        }
    }

    /// Returns all entries, decoded.
    package func changes() throws -> [FieldChange] {
        try (0..<count).map { index in
            try checkOrder(at: index)
            let range = try range(at: index)
            return FieldChange(
                ordinal(at: index), range.isEmpty ? nil : try FieldValue(decoding: bytes, in: range))
        }
    }
}

/// A sent key, with its new value; nil removes the key.
package struct FieldChange: Sendable, Hashable {
    package var field: UInt32
    package var value: FieldValue?

    package init(_ field: UInt32, _ value: FieldValue?) {
        self.field = field
        self.value = value
    }

    /// The kind of the value; nil if the key is removed. Reading it from an array copies no value.
    package var kind: FieldKind? {
        switch value {
        case .some(let value): value.kind
        case .none: nil
        }
    }

    /// The bytes of the value that count toward a record's size.
    package var chargedBytes: Int {
        switch value {
        case .some(let value): value.chargedBytes
        case .none: 0
        }
    }

    /// Appends the encoded value; nothing if the key is removed.
    func encode(into writer: inout ByteWriter) throws {
        switch value {
        case .some(let value): try value.encode(into: &writer)
        case .none: break
        }
    }
}

extension [FieldChange] {
    /// True if a key is removed.
    package var hasRemovals: Bool {
        for index in indices where self[index].kind == nil { return true }
        return false
    }
}
