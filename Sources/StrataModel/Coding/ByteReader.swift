/// Reads the encodings of docs/format.md from untrusted bytes: every read is bounded, and an invalid one throws.
// Functions called for every event and entry are inlinable: unspecialized, a byte costs as much as a commit should.
@usableFromInline
package struct ByteReader {
    // Valid only inside the `withUnsafeBytes` call that provided it; every access below is checked against its count.
    @usableFromInline let bytes: UnsafeRawBufferPointer
    @usableFromInline package var position: Int

    /// Creates a reader. `bytes` must stay alive as long as the reader is used.
    @inlinable
    package init(_ bytes: UnsafeRawBufferPointer, at position: Int = 0) {
        self.bytes = bytes
        self.position = position
    }

    @inlinable package var remaining: Int { bytes.count - position }

    @inlinable
    @inline(__always)
    package mutating func read<Number: FixedWidthInteger>(_: Number.Type, _ what: StaticString) throws -> Number {
        guard remaining >= MemoryLayout<Number>.size else { throw short(what, MemoryLayout<Number>.size) }
        defer { position += MemoryLayout<Number>.size }
        return Number(littleEndian: bytes.loadUnaligned(fromByteOffset: position, as: Number.self))
    }

    package mutating func readIdentifier(_ what: StaticString) throws -> Identifier {
        Identifier(
            high: UInt64(bigEndian: try read(UInt64.self, what)), low: UInt64(bigEndian: try read(UInt64.self, what)))
    }

    @inlinable
    @inline(__always)
    package mutating func readVarint(_ what: StaticString) throws -> UInt64 {
        guard position + 1 < bytes.count else { return try readLongVarint(what) }
        let low = bytes[position]
        if low < 0x80 {
            position += 1
            return UInt64(low)
        }
        // Two-byte lengths and ordinals are too frequent for a function call each.
        let high = bytes[position + 1]
        guard high < 0x80, high > 0 else { return try readLongVarint(what) }
        position += 2
        return UInt64(low & 0x7F) | UInt64(high) << 7
    }

    @inline(never) @usableFromInline
    mutating func readLongVarint(_ what: StaticString) throws -> UInt64 {
        let start = position
        var number: UInt64 = 0
        for index in 0..<10 {
            guard start + index < bytes.count else { throw short(what, index + 1) }
            let byte = bytes[start + index]
            if index == 9, byte > 1 { break }
            number |= UInt64(byte & 0x7F) << UInt64(7 * index)
            if byte < 0x80 {
                if byte == 0, index > 0 { break }
                position = start + index + 1
                return number
            }
        }
        throw malformed(what, expected: "a varint in its shortest form of at most 10 bytes")
    }

    /// Reads a varint with an upper bound, for counts and ordinals.
    @inlinable
    @inline(__always)
    package mutating func readVarint(_ what: StaticString, atMost limit: UInt64) throws -> UInt64 {
        let start = position
        let number = try readVarint(what)
        guard number <= limit else {
            position = start
            throw malformed(what, expected: "at most \(limit)", found: "\(number)")
        }
        return number
    }

    /// Returns the range of the next `count` bytes and skips them.
    @inlinable
    @inline(__always)
    package mutating func readRange(count: UInt64, _ what: StaticString) throws -> Range<Int> {
        guard count <= UInt64(remaining) else { throw short(what, Int(clamping: count)) }
        defer { position += Int(count) }
        return position..<position + Int(count)
    }

    package mutating func readBytes(count: UInt64, _ what: StaticString) throws -> [UInt8] {
        Array(bytes[try readRange(count: count, what)])
    }

    /// Returns the range of a string's bytes, which are not validated as UTF-8.
    @inlinable
    @inline(__always)
    package mutating func readStringRange(_ what: StaticString, atMost limit: Int) throws -> Range<Int> {
        let count = try readVarint(what, atMost: UInt64(limit))
        return try readRange(count: count, what)
    }

    package mutating func readString(_ what: StaticString, atMost limit: Int) throws -> String {
        let start = position
        return try text(in: try readStringRange(what, atMost: limit), what, start)
    }

    /// Reads whether there is a value, then the value.
    package mutating func readOptional<Value>(_ body: (inout ByteReader) throws -> Value) throws -> Value? {
        try read(UInt8.self, "whether there is a value") == 0 ? nil : try body(&self)
    }

    /// Reads the remaining bytes as text.
    package mutating func readRemainingText(_ what: StaticString, atMost limit: Int) throws -> String {
        guard remaining <= limit else {
            throw malformed(what, expected: "at most \(limit) bytes", found: "\(remaining)")
        }
        let start = position
        return try text(in: try readRange(count: UInt64(remaining), what), what, start)
    }

    private mutating func text(in range: Range<Int>, _ what: StaticString, _ start: Int) throws -> String {
        guard let text = String(utf8: UnsafeRawBufferPointer(rebasing: bytes[range])) else {
            position = start
            throw malformed(what, expected: "valid UTF-8")
        }
        return text
    }

    package func expectEnd(_ what: StaticString) throws {
        guard remaining == 0 else { throw malformed(what, expected: "the end", found: "\(remaining) more bytes") }
    }

    @usableFromInline
    package func malformed(_ what: StaticString, expected: String, found: String? = nil) -> StrataError {
        StrataError(
            .malformed, "Bytes do not follow the format.",
            .init(position: UInt64(position), expected: "\(what) to be \(expected)", found: found))
    }

    @usableFromInline
    func short(_ what: StaticString, _ count: Int) -> StrataError {
        malformed(what, expected: "\(count) bytes", found: "\(max(remaining, 0)) bytes")
    }
}

extension ArraySlice<UInt8> {
    /// Calls `body` with a reader of the bytes.
    package func reading<Result>(_ body: (inout ByteReader) throws -> Result) rethrows -> Result {
        try withUnsafeBytes { bytes in
            var reader = ByteReader(bytes)
            return try body(&reader)
        }
    }
}

extension ByteReader {
    /// Creates a reader of a part of the bytes. Its positions count from the start of all bytes, for errors.
    init(_ bytes: UnsafeRawBufferPointer, in range: Range<Int>) {
        self.init(UnsafeRawBufferPointer(rebasing: bytes[..<range.upperBound]), at: range.lowerBound)
    }

    /// Returns a reader of the next `count` bytes, which this reader skips.
    mutating func readReader(count: UInt64, _ what: StaticString) throws -> ByteReader {
        ByteReader(bytes, in: try readRange(count: count, what))
    }

    package mutating func readRemainingBytes() -> ArraySlice<UInt8> {
        defer { position = bytes.count }
        return ArraySlice(bytes[position...])
    }
}
