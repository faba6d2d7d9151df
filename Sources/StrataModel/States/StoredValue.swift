/// A value of a record as it is stored, for the duration of a call. Reading a number makes no copy; neither does a look
/// at a text or at data.
///
/// ```swift
/// try record.forEachValue { key, value in
///     if let number = try value.int64 { sum += number }
/// }
/// ```
public struct StoredValue: ~Copyable {
    // Valid only during the call that passes the value, which cannot be copied out of it.
    private let bytes: UnsafeRawBufferPointer
    private let range: Range<Int>

    /// - Parameter range: the range of the value in the bytes; not empty.
    init(_ bytes: UnsafeRawBufferPointer, in range: Range<Int>) {
        self.bytes = bytes
        self.range = range
    }

    public var kind: FieldKind { FieldKind(rawValue: bytes[range.lowerBound]) }

    private var content: Range<Int> { range.lowerBound + 1..<range.upperBound }

    /// The number; nil for a value of another kind.
    public var int64: Int64? {
        get throws { kind == .int64 ? try EncodedNumber.int64(bytes, in: content) : nil }
    }

    /// The number; nil for a value of another kind.
    public var double: Double? {
        get throws { kind == .double ? try EncodedNumber.double(bytes, in: content) : nil }
    }

    /// The date in seconds since 2001-01-01T00:00:00Z; nil for a value of another kind.
    public var date: Double? {
        get throws { kind == .date ? try EncodedNumber.double(bytes, in: content) : nil }
    }

    /// Calls `body` with the text; returns nil for a value of another kind.
    ///
    /// - Throws: ``StrataError`` for bytes that are not valid UTF-8, and what `body` throws.
    public func withText<Result>(_ body: (UTF8Span) throws -> Result) throws -> Result? {
        guard kind == .string else { return nil }
        // The bytes outlive the call of `body`.
        let span = unsafe RawSpan(_unsafeBytes: bytes[content])._unsafeView(as: UInt8.self)
        let text: UTF8Span
        do { text = try UTF8Span(validating: span) } catch {
            throw ByteReader(bytes, at: content.lowerBound).malformed("a string", expected: "valid UTF-8")
        }
        return try body(text)
    }

    /// Calls `body` with the bytes of a value of kind `data`; returns nil for a value of another kind.
    public func withData<Result>(_ body: (RawSpan) throws -> Result) rethrows -> Result? {
        guard kind == .data else { return nil }
        // The bytes outlive the call of `body`.
        return try body(unsafe RawSpan(_unsafeBytes: bytes[content]))
    }

    /// Returns a copy of the value.
    public func decoded() throws -> FieldValue { try FieldValue(decoding: bytes, in: range) }
}

extension FieldTable {
    /// Calls `body` with each field that has a value, in the order of the table.
    package func forEachValue(_ body: (_ field: UInt32, _ value: borrowing StoredValue) throws -> Void) throws {
        for index in 0..<count {
            let range = try range(at: index)
            if range.isEmpty { continue }
            try body(ordinal(at: index), StoredValue(bytes, in: range))
        }
    }
}
