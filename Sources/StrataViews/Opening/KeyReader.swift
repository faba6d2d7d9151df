import StrataModel

/// Decodes keys. Bytes that are not a key cause an error.
package struct KeyReader {
    // Valid only inside the `withUnsafeBytes` call that provided it; every access below is checked against its count.
    private let bytes: UnsafeRawBufferPointer
    package private(set) var position = 0

    package init(_ bytes: UnsafeRawBufferPointer) { self.bytes = bytes }

    // Not a generic reader of integers: a generic call from another module costs more than the rest of a key.
    package mutating func readByte() throws -> UInt8 {
        guard position < bytes.count else { throw malformed("longer") }
        defer { position += 1 }
        return bytes[position]
    }

    private func malformed(_ expected: String, found: String? = nil) -> StrataError {
        ByteReader(bytes, at: position).malformed("a part of a key", expected: expected, found: found)
    }

    package mutating func readNumber() throws -> UInt64 {
        let first = try readByte()
        guard first > UInt8(KeyWriter.largestSingle) else { return UInt64(first) }
        guard first < 255 else { throw malformed("a number below FF", found: "FF") }
        var number: UInt64 = 0
        let count = Int(first) - Int(KeyWriter.largestSingle)
        for _ in 0..<count { number = number << 8 | UInt64(try readByte()) }
        let least = count == 1 ? KeyWriter.largestSingle + 1 : 1 << UInt64(8 * count - 8)
        guard number >= least else { throw malformed("a number in its shortest form", found: "\(number)") }
        return number
    }

    package mutating func readText() throws -> [UInt8] {
        var text: [UInt8] = []
        while true {
            let byte = try readByte()
            if byte == 0 { return text }
            guard byte == KeyWriter.escape else {
                text.append(byte)
                continue
            }
            let escaped = try readByte()
            guard (1...2).contains(escaped) else { throw malformed("01 or 02 after 01", found: "\(escaped)") }
            text.append(escaped - 1)
        }
    }

    package mutating func skip(_ count: Int) throws {
        guard count <= bytes.count - position else { throw malformed("longer") }
        position += count
    }

    package mutating func skipText() throws { while try readByte() != 0 {} }

    /// Returns the rest of the key.
    package mutating func readLastText() throws -> UnsafeRawBufferPointer {
        defer { position = bytes.count }
        return UnsafeRawBufferPointer(rebasing: bytes[position...])
    }

    package mutating func readDouble() throws -> Double {
        let bits = try readBits()
        return Double(bitPattern: bits >> 63 == 1 ? bits & ~(1 << 63) : ~bits)
    }

    mutating func readBits() throws -> UInt64 {
        guard bytes.count - position >= 8 else { throw malformed("8 bytes") }
        defer { position += 8 }
        return UInt64(bigEndian: bytes.loadUnaligned(fromByteOffset: position, as: UInt64.self))
    }
}
