import StrataModel
import StrataSystem

/// A block of a sealed segment or base, checked and decompressed.
struct Block: Sendable {
    let header: BlockHeader
    /// The position of the block in the file.
    let position: Int
    /// The raw body.
    let bytes: [UInt8]

    /// - Parameter stored: header, body and padding, as stored in the file.
    init(decoding stored: UnsafeRawBufferPointer, salt: UInt32, position: Int) throws {
        let headerBytes = UnsafeRawBufferPointer(rebasing: stored[..<min(stored.count, BlockHeader.byteCount)])
        let header = try BlockHeader(decoding: headerBytes, salt: salt, position: position)
        self.header = header
        self.position = position
        guard stored.count >= header.blockBytes else {
            throw StrataError(
                .impossibleLength, "The file ends inside a block.",
                .init(
                    position: UInt64(position), expected: "\(header.blockBytes) bytes", found: "\(stored.count)"))
        }
        let padded = UnsafeRawBufferPointer(rebasing: stored[BlockHeader.byteCount..<header.blockBytes])
        let checksum = CRC32C.checksum(padded)
        guard checksum == header.bodyChecksum else {
            throw StrataError(
                .badChecksum, "The checksum of a block's body does not match.",
                .init(
                    position: UInt64(position), expected: hexadecimal(header.bodyChecksum),
                    found: hexadecimal(checksum)))
        }
        let body = UnsafeRawBufferPointer(rebasing: padded[..<Int(header.storedLength)])
        guard header.codec == .lz4 else {
            bytes = [UInt8](body)
            return
        }
        bytes = try [UInt8](unsafeUninitializedCapacity: Int(header.rawLength)) { target, count in
            count = Int(header.rawLength)
            let target = UnsafeMutableRawBufferPointer(rebasing: UnsafeMutableRawBufferPointer(target)[..<count])
            guard LZ4.decompress(body, into: target) else {
                count = 0
                throw StrataError(
                    .malformed, "A block does not decompress to the length in its header.",
                    .init(position: UInt64(position), expected: "\(header.rawLength) bytes"))
            }
        }
    }

    /// Returns the two numbers of an end block; nil if the body has another size.
    func endNumbers() -> (first: UInt64, second: UInt64)? {
        guard bytes.count == 16 else { return nil }
        return bytes.withUnsafeBytes { bytes in
            (
                UInt64(littleEndian: bytes.loadUnaligned(as: UInt64.self)),
                UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: 8, as: UInt64.self))
            )
        }
    }

    /// Returns the names of a block of names.
    func internedNames() throws -> [InternedName] {
        try bytes.withUnsafeBytes { bytes in
            var reader = ByteReader(bytes)
            // The count comes from the file, so no memory is reserved for it.
            var names: [InternedName] = []
            for _ in 0..<header.count {
                let count = try reader.readVarint("the length of a name")
                let body = try reader.readRange(count: count, "a name")
                names.append(try InternedName(decoding: ArraySlice(UnsafeRawBufferPointer(rebasing: bytes[body]))))
            }
            try reader.expectEnd("a block of names")
            return names
        }
    }

    /// Returns an error about the content of the body.
    func malformed(_ message: StaticString, expected: String? = nil, found: String? = nil) -> StrataError {
        StrataError(.malformed, message, .init(position: UInt64(position), expected: expected, found: found))
    }
}

/// Appends blocks to a file that has no readers yet.
struct BlockWriter: ~Copyable {
    /// The size of the pieces that are passed to the system, so that a sync at the end has little left to do.
    private static let pieceBytes = 1 << 20

    private let file: any File
    private let salt: UInt32
    private var compressor = LZ4Strong()
    private var buffer = ByteWriter(reserving: pieceBytes + (128 << 10))
    private var written: Int

    /// - Parameter position: the position of the first block.
    init(_ file: any File, salt: UInt32, at position: Int) {
        self.file = file
        self.salt = salt
        written = position
    }

    var position: Int { written + buffer.bytes.count }

    /// Appends a block with this raw body and returns its size in the file.
    ///
    /// - Parameters:
    ///   - header: complete except for lengths, codec and checksums.
    ///   - end: the last `count` bytes of the raw body as an LZ4 block, which is kept.
    @discardableResult
    mutating func append(
        _ header: BlockHeader, _ raw: [UInt8], end: (lz4: UnsafeRawBufferPointer, count: Int)? = nil,
        compresses: Bool = true
    ) throws -> Int {
        var header = header
        let (start, place) = (buffer.bytes.count, position)
        header.rawLength = UInt32(raw.count)
        buffer.appendZeros(BlockHeader.byteCount + raw.count + LogFormat.frameAlignment)
        raw.withUnsafeBytes { raw in
            let count = buffer.withMutableBytes { buffer in
                // Worthwhile only if it saves something.
                let body = UnsafeMutableRawBufferPointer(rebasing: buffer[(start + BlockHeader.byteCount)...])
                let limit = UnsafeMutableRawBufferPointer(rebasing: body[..<max(0, raw.count - 1)])
                let compressed =
                    if let end {
                        LZ4.prepend(.init(rebasing: raw.dropLast(end.count)), to: end.lz4, into: limit)
                    } else { compresses && raw.count >= 64 ? compressor.compress(raw, into: limit) : nil }
                if let count = compressed {
                    header.codec = .lz4
                    header.storedLength = UInt32(count)
                    // Bytes that the compressor left after its result must not stay in the padding.
                    for index in count..<LogFormat.padded(count) { body[index] = 0 }
                } else {
                    header.storedLength = UInt32(raw.count)
                    body.copyMemory(from: raw)
                }
                let padded = UnsafeMutableRawBufferPointer(
                    rebasing: body[..<LogFormat.padded(Int(header.storedLength))])
                header.bodyChecksum = CRC32C.checksum(UnsafeRawBufferPointer(padded))
                let target = UnsafeMutableRawBufferPointer(rebasing: buffer[start..<start + BlockHeader.byteCount])
                header.encode(into: target, salt: salt, position: place)
                return header.blockBytes
            }
            buffer.truncate(to: start + count)
        }
        if buffer.bytes.count >= Self.pieceBytes { try flush() }
        return header.blockBytes
    }

    mutating func flush() throws {
        guard !buffer.bytes.isEmpty else { return }
        try file.write(buffer.bytes, at: written)
        file.finishWriteback(written..<position)
        written = position
        buffer.removeAll()
    }
}
