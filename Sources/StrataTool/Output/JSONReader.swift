import Foundation
import StrataModel

/// Parses JSON value by value. Skipped values are never built.
///
/// ```swift
/// var reader = JSONReader(bytes)
/// try reader.readObject { key, reader in
///     if key == "offset" { offset = try reader.readNumber(UInt64.self) } else { try reader.skip() }
/// }
/// ```
struct JSONReader {
    /// More than any export needs. Without a limit a file could exhaust the stack.
    private static let maximumDepth = 64

    // Valid only inside the `withUnsafeBytes` that created it. Every access below is checked against its count.
    private let bytes: UnsafeRawBufferPointer
    private(set) var position = 0
    private var depth = 0

    /// `bytes` must stay alive as long as the reader is used.
    init(_ bytes: UnsafeRawBufferPointer) { self.bytes = bytes }

    // MARK: Objects and arrays

    /// - Parameter body: reads the value of a key, or skips it.
    mutating func readObject(_ body: (_ key: String, inout JSONReader) throws -> Void) throws {
        try open("{", "an object")
        if take("}") { return close() }
        repeat {
            let key = try readString()
            try expect(":")
            try body(key, &self)
        } while take(",")
        try expect("}")
        close()
    }

    mutating func readArray(_ body: (inout JSONReader) throws -> Void) throws {
        try open("[", "an array")
        if take("]") { return close() }
        repeat { try body(&self) } while take(",")
        try expect("]")
        close()
    }

    private mutating func open(_ bracket: Unicode.Scalar, _ what: String) throws {
        guard take(bracket), depth < Self.maximumDepth else { throw error(what) }
        depth += 1
    }

    private mutating func close() { depth -= 1 }

    // MARK: Values

    mutating func readString() throws -> String {
        let (range, hasEscapes) = try stringRange()
        let piece = UnsafeRawBufferPointer(rebasing: bytes[range])
        let text = hasEscapes ? unescaped(range) : String(validating: piece, as: UTF8.self)
        guard let text else { throw error("text in UTF-8") }
        return text
    }

    mutating func readBase64() throws -> [UInt8] {
        let (range, hasEscapes) = try stringRange()
        guard !hasEscapes, let value = Base64.bytes(UnsafeRawBufferPointer(rebasing: bytes[range])) else {
            throw error("bytes as base64")
        }
        return value
    }

    mutating func readNumber<Number: LosslessStringConvertible>(_: Number.Type) throws -> Number {
        skipBlanks()
        let start = position
        while let byte = peek(), Self.isInNumber(byte) { position += 1 }
        let text = String(decoding: bytes[start..<position], as: UTF8.self)
        guard let number = Number(text) else {
            position = start
            throw error("a number")
        }
        return number
    }

    mutating func readBool() throws -> Bool {
        if take(word: "true") { return true }
        if take(word: "false") { return false }
        throw error("true or false")
    }

    /// Returns true and skips the value if the next value is null.
    mutating func takeNull() -> Bool { take(word: "null") }

    /// Returns true if the next value is a text.
    mutating func isAtString() -> Bool {
        skipBlanks()
        return peek() == UInt8(ascii: "\"")
    }

    /// Skips a value of any kind.
    mutating func skip() throws {
        skipBlanks()
        switch peek() {
        case UInt8(ascii: "{"): try readObject { try $1.skip() }
        case UInt8(ascii: "["): try readArray { try $0.skip() }
        case UInt8(ascii: "\""): _ = try stringRange()
        case UInt8(ascii: "t"), UInt8(ascii: "f"): _ = try readBool()
        case UInt8(ascii: "n") where takeNull(): break
        default: _ = try readNumber(Double.self)
        }
    }

    mutating func expectEnd() throws {
        skipBlanks()
        guard position == bytes.count else { throw error("the end of the line") }
    }

    // MARK: Bytes

    func error(_ expected: String) -> StrataError {
        let found = peek().map { $0 < 0x80 ? "'\(Unicode.Scalar($0))'" : "byte \(hexadecimal($0))" } ?? "the end"
        return StrataError(
            .malformed, "The JSON does not have the expected form.",
            .init(expected: expected, found: found, column: position + 1))
    }

    private func peek() -> UInt8? { position < bytes.count ? bytes[position] : nil }

    private static func isInNumber(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "+"), UInt8(ascii: "."),
            UInt8(ascii: "e"), UInt8(ascii: "E"):
            true
        default: false
        }
    }

    private mutating func skipBlanks() {
        while let byte = peek(), byte == 0x20 || byte == 0x09 || byte == 0x0A || byte == 0x0D { position += 1 }
    }

    private mutating func take(_ sign: Unicode.Scalar) -> Bool {
        skipBlanks()
        guard let byte = peek(), UInt32(byte) == sign.value else { return false }
        position += 1
        return true
    }

    private mutating func take(word: StaticString) -> Bool {
        skipBlanks()
        let end = position + word.utf8CodeUnitCount
        guard end <= bytes.count,
            UnsafeRawBufferPointer(start: word.utf8Start, count: word.utf8CodeUnitCount)
                .elementsEqual(bytes[position..<end])
        else { return false }
        position = end
        return true
    }

    private mutating func expect(_ sign: Unicode.Scalar) throws {
        guard take(sign) else { throw error("'\(sign)'") }
    }

    // MARK: Texts

    /// Returns the range between the quotes.
    private mutating func stringRange() throws -> (Range<Int>, hasEscapes: Bool) {
        try expect("\"")
        let start = position
        var hasEscapes = false
        while let byte = peek() {
            switch byte {
            case UInt8(ascii: "\""):
                position += 1
                return (start..<position - 1, hasEscapes)
            case UInt8(ascii: "\\"):
                hasEscapes = true
                position += 2
            case 0..<0x20: throw error("a string without control characters")
            default: position += 1
            }
        }
        throw error("the end of a string")
    }

    /// Returns nil for an invalid escape.
    private func unescaped(_ range: Range<Int>) -> String? {
        let quoted = bytes[range.lowerBound - 1...range.upperBound]
        return try? JSONDecoder().decode(String.self, from: Data(quoted))
    }
}
