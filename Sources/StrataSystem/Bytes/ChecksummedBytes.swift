import StrataModel

/// Bytes that leave the store and come back, such as tokens. A CRC-32C at their end shows whether they are intact.
package enum ChecksummedBytes {
    private static let checksumBytes = 4

    package static func seal(_ writer: ByteWriter) -> [UInt8] {
        var writer = writer
        writer.append(writer.bytes.withUnsafeBytes { CRC32C.checksum($0) })
        return writer.bytes
    }

    /// Reads sealed bytes, all of which `body` must consume.
    ///
    /// - Throws: ``StrataError`` if the bytes are too short, too long, or do not match their checksum.
    package static func open<Result>(
        _ bytes: [UInt8], _ what: StaticString, atMost maximumBytes: Int,
        _ body: (inout ByteReader, UnsafeRawBufferPointer) throws -> Result
    ) throws -> Result {
        guard (checksumBytes + 1...maximumBytes).contains(bytes.count) else {
            throw StrataError(
                .malformed, "The checksummed bytes have an invalid length.",
                .init(expected: "\(what)", found: "\(bytes.count) bytes"))
        }
        return try bytes.withUnsafeBytes { bytes in
            let end = bytes.count - checksumBytes
            let sum = UInt32(littleEndian: bytes.loadUnaligned(fromByteOffset: end, as: UInt32.self))
            let content = UnsafeRawBufferPointer(rebasing: bytes[..<end])
            guard CRC32C.checksum(content) == sum else {
                throw StrataError(
                    .malformed, "The checksummed bytes are corrupt: their checksum does not match.",
                    .init(expected: "\(what)"))
            }
            var reader = ByteReader(content)
            let result = try body(&reader, content)
            try reader.expectEnd(what)
            return result
        }
    }
}
