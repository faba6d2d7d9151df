/// A value of a record as it is stored, for the duration of a call. Reading a number makes no copy; neither does a look
/// at a text or at data.
///
/// ```swift
/// try record.forEachValue { key, value in
///     if let number = try value.int64 { sum += number }
/// }
/// ```
@frozen
public struct StoredValue: ~Copyable {
    // Valid only during the call that passes the value, which cannot be copied out of it.
    @usableFromInline let bytes: UnsafeRawBufferPointer
    @usableFromInline let range: Range<Int>

    /// - Parameter range: the range of the value in the bytes; not empty.
    @inlinable
    init(_ bytes: UnsafeRawBufferPointer, in range: Range<Int>) {
        self.bytes = bytes
        self.range = range
    }

    @inlinable
    public var kind: FieldKind { FieldKind(rawValue: bytes[range.lowerBound]) }

    // Readers ask for one kind after the other, so the comparison is done where the value is read.
    @inlinable
    @inline(__always)
    func isOf(_ kind: FieldKind) -> Bool { bytes[range.lowerBound] == kind.rawValue }

    @inlinable var content: Range<Int> { range.lowerBound + 1..<range.upperBound }

    /// The number; nil for a value of another kind.
    @inlinable
    public var int64: Int64? {
        get throws { isOf(.int64) ? try storedInt64() : nil }
    }

    /// The number; nil for a value of another kind.
    @inlinable
    public var double: Double? {
        get throws { isOf(.double) ? try storedDouble() : nil }
    }

    /// The date in seconds since 2001-01-01T00:00:00Z; nil for a value of another kind.
    @inlinable
    public var date: Double? {
        get throws { isOf(.date) ? try storedDouble() : nil }
    }

    @usableFromInline
    func storedInt64() throws -> Int64 { try EncodedNumber.int64(bytes, in: content) }

    @usableFromInline
    func storedDouble() throws -> Double { try EncodedNumber.double(bytes, in: content) }

    /// Calls `body` with the text; returns nil for a value of another kind.
    ///
    /// - Throws: ``StrataError`` for bytes that are not valid UTF-8, and what `body` throws.
    @inlinable
    public func withText<Result>(_ body: (UTF8Span) throws -> Result) throws -> Result? {
        guard isOf(.string) else { return nil }
        let isASCII = try checkText()
        // The bytes outlive the call of `body`, and were found valid.
        let span = unsafe RawSpan(_unsafeBytes: bytes[content])._unsafeView(as: UInt8.self)
        return try body(unsafe UTF8Span(unchecked: span, isKnownASCII: isASCII))
    }

    /// Returns true if the text is ASCII, as most are, which takes a fraction of the time of validating UTF-8.
    ///
    /// - Throws: ``StrataError`` for bytes that are not valid UTF-8.
    @usableFromInline
    func checkText() throws -> Bool {
        let content = content
        if UnsafeRawBufferPointer(rebasing: bytes[content]).isASCII { return true }
        // The bytes outlive this call.
        let span = unsafe RawSpan(_unsafeBytes: bytes[content])._unsafeView(as: UInt8.self)
        do { _ = try UTF8Span(validating: span) } catch {
            throw ByteReader(bytes, at: content.lowerBound).malformed("a string", expected: "valid UTF-8")
        }
        return false
    }

    /// Calls `body` with the bytes of a value of kind `data`; returns nil for a value of another kind.
    @inlinable
    public func withData<Result>(_ body: (RawSpan) throws -> Result) rethrows -> Result? {
        guard isOf(.data) else { return nil }
        // The bytes outlive the call of `body`.
        return try body(unsafe RawSpan(_unsafeBytes: bytes[content]))
    }

    /// Returns a copy of the value.
    public func decoded() throws -> FieldValue { try FieldValue(decoding: bytes, in: range) }
}

extension UnsafeRawBufferPointer {
    /// True if no byte has the highest bit.
    var isASCII: Bool {
        let high: UInt64 = 0x8080_8080_8080_8080
        var (bits, place): (UInt64, Int) = (0, 0)
        while place + 32 <= count {
            for word in 0..<4 { bits |= loadUnaligned(fromByteOffset: place + 8 * word, as: UInt64.self) }
            place += 32
        }
        while place + 8 <= count {
            bits |= loadUnaligned(fromByteOffset: place, as: UInt64.self)
            place += 8
        }
        while place < count {
            bits |= UInt64(self[place])
            place += 1
        }
        return bits & high == 0
    }
}

extension FieldTable {
    /// Calls `body` with each field that has a value, in the order of the table.
    @inlinable
    @inline(__always)
    package func forEachValue(_ body: (_ field: UInt32, _ value: borrowing StoredValue) throws -> Void) throws {
        for index in 0..<count {
            let range = try range(at: index)
            if range.isEmpty { continue }
            try body(ordinal(at: index), StoredValue(bytes, in: range))
        }
    }
}
