/// Fields that later releases may extend: key, length and value, with ascending numbers (docs/format.md §18).
///
/// A key is the field's number × 2, plus 1 if a reader that does not know the field may skip it.
struct KeyedFields {
    /// A field whose value is either read to its end or skipped.
    struct Field {
        let key: UInt64
        let position: Int
        var value: ByteReader

        /// Skips a field whose key this release does not know.
        func skip() throws {
            guard key % 2 == 1 else {
                throw StrataError(
                    .newerFormat, "A mandatory field is unknown to this version.",
                    .init(position: UInt64(position), found: "field \(key / 2)"))
            }
        }

        /// Reads a number whose default, 0, is never encoded.
        mutating func number(_ what: StaticString, atMost limit: UInt64 = .max) throws -> UInt64 {
            let number = try value.readVarint(what, atMost: limit)
            guard number != 0 else { throw value.malformed(what, expected: "left out when it is 0") }
            try value.expectEnd(what)
            return number
        }

        mutating func time(_ what: StaticString) throws -> Int64 {
            let time = try value.read(Int64.self, what)
            try value.expectEnd(what)
            return time
        }

        mutating func text(_ what: StaticString, atMost limit: Int) throws -> String {
            try value.readRemainingText(what, atMost: limit)
        }

        mutating func bytes(_ what: StaticString, atMost limit: Int) throws -> [UInt8] {
            guard value.remaining <= limit else {
                throw value.malformed(what, expected: "at most \(limit) bytes", found: "\(value.remaining)")
            }
            return Array(value.readRemainingBytes())
        }
    }

    private var reader: ByteReader
    private var lastNumber: UInt64 = 0

    /// Reads the fields up to the end of the reader.
    init(_ reader: ByteReader) { self.reader = reader }

    /// Reads the fields up to the end of `reader`, which skips them.
    init(restOf reader: inout ByteReader) {
        self.reader = reader
        reader.position = reader.bytes.count
    }

    /// Reads the fields after their length; `reader` skips both.
    init(from reader: inout ByteReader, _ what: StaticString) throws {
        let length = try reader.readVarint(what)
        self.init(try reader.readReader(count: length, what))
    }

    mutating func next() throws -> Field? {
        guard reader.remaining > 0 else { return nil }
        let start = reader.position
        let key = try reader.readVarint("a field's key")
        guard key / 2 > lastNumber else { throw reader.malformed("field keys", expected: "ascending") }
        lastNumber = key / 2
        let length = try reader.readVarint("the length of a field")
        return Field(key: key, position: start, value: try reader.readReader(count: length, "a field"))
    }

    /// Reads the one field that this release knows, if it is there, and skips all others.
    mutating func read(only key: UInt64, _ body: (inout Field) throws -> Void) throws {
        while var field = try next() { if field.key == key { try body(&field) } else { try field.skip() } }
    }

    /// Skips all fields, none of which this release knows.
    mutating func skipAll() throws {
        while let field = try next() { try field.skip() }
    }
}

extension ByteWriter {
    /// Appends a number, unless it is 0.
    mutating func appendField(_ key: UInt64, _ number: UInt64) {
        guard number != 0 else { return }
        appendVarint(key)
        appendVarint(UInt64(Self.varintBytes(number)))
        appendVarint(number)
    }

    mutating func appendField(_ key: UInt64, time: Int64?) {
        guard let time else { return }
        appendVarint(key)
        appendVarint(8)
        append(time)
    }

    mutating func appendField(_ key: UInt64, text: String?) {
        guard let text else { return }
        appendVarint(key)
        appendString(text)
    }

    mutating func appendField(_ key: UInt64, bytes: [UInt8]?) {
        guard let bytes else { return }
        appendVarint(key)
        append(counted: bytes)
    }

    mutating func appendField(_ key: UInt64, raw bytes: UnsafeRawBufferPointer) {
        appendVarint(key)
        appendVarint(UInt64(bytes.count))
        append(raw: bytes)
    }

    mutating func appendField(_ key: UInt64, _ body: (inout ByteWriter) throws -> Void) rethrows {
        appendVarint(key)
        try appendMeasured(body)
    }
}

/// Zigzag encoding: numbers near 0, of either sign, become small unsigned numbers.
package func zigzag(_ number: Int64) -> UInt64 { UInt64(bitPattern: number << 1 ^ number >> 63) }
package func unzigzag(_ number: UInt64) -> Int64 { Int64(bitPattern: number >> 1) ^ -Int64(bitPattern: number & 1) }

/// Returns true if two strings have the same UTF-8 bytes. Names and values are always compared this way, since Swift's
/// `==` treats composed and decomposed letters as equal.
package func isSameText(_ left: String, _ right: String) -> Bool {
    // Strings of the same two words are the same: short texts are in them, and longer ones at the address in them.
    typealias Words = (UInt, UInt)
    if unsafeBitCast(left, to: Words.self) == unsafeBitCast(right, to: Words.self) { return true }
    // Nearly all texts are contiguous, and are equal or differ in length.
    let areSame = left.utf8.withContiguousStorageIfAvailable { left in
        right.utf8.withContiguousStorageIfAvailable { areSameBytes(.init(left), .init($0)) }
    }
    return (areSame ?? nil) ?? left.utf8.elementsEqual(right.utf8)
}

private func areSameBytes(_ left: UnsafeRawBufferPointer, _ right: UnsafeRawBufferPointer) -> Bool {
    guard left.count == right.count else { return false }
    var place = 0
    while place + 8 <= left.count {
        let part = left.loadUnaligned(fromByteOffset: place, as: UInt64.self)
        if part != right.loadUnaligned(fromByteOffset: place, as: UInt64.self) { return false }
        place += 8
    }
    while place < left.count {
        if left[place] != right[place] { return false }
        place += 1
    }
    return true
}

extension StrataError {
    /// Returns the error for a value that is too large for the format.
    package static func tooLarge(_ what: StaticString, limit: Int, found: Int) -> StrataError {
        StrataError(
            .tooLarge, "A value is larger than the format allows.",
            .init(expected: "\(what) to be at most \(limit)", found: "\(found)"))
    }

    /// Throws the error for a value that is too large, if it is.
    package static func check(_ what: StaticString, count: Int, atMost limit: Int) throws {
        guard count <= limit else { throw tooLarge(what, limit: limit, found: count) }
    }

    static func checkName(_ name: String, _ what: StaticString) throws {
        try check(what, count: name.utf8.count, atMost: Envelope.maximumNameBytes)
    }
}
