import StrataModel
import StrataSystem

/// The message that makes an object whole (docs/replication-internals.md §10): what the object has, where its pieces
/// are, and its last bytes.
struct WholeObject {
    private static let magic: UInt32 = 0x624F_7453  // "StOb" in the order of the bytes
    private static let version: UInt16 = 1
    static let headerBytes = 76

    let hash: ContentHash
    let byteCount: UInt64
    /// The ID under which the pieces before the last bytes were sent.
    let upload: Identifier
    let pieceCount: UInt32
    let pieceBytes: UInt32
    let lastBytes: [UInt8]

    init(_ hash: ContentHash, _ upload: Identifier, pieceCount: Int, pieceBytes: Int, lastBytes: [UInt8]) {
        (self.hash, self.upload, self.lastBytes) = (hash, upload, lastBytes)
        (self.pieceCount, self.pieceBytes) = (UInt32(pieceCount), UInt32(pieceBytes))
        byteCount = UInt64(pieceCount * pieceBytes + lastBytes.count)
    }

    /// - Throws: `.badChecksum` or `.malformed` if the message is damaged, `.newerFormat` if a later release wrote it.
    init(decoding bytes: [UInt8]) throws {
        self = try bytes.withUnsafeBytes { bytes in
            var reader = ByteReader(bytes)
            return try WholeObject(&reader, bytes)
        }
    }

    private init(_ reader: inout ByteReader, _ bytes: UnsafeRawBufferPointer) throws {
        let magic = try reader.read(UInt32.self, "an object")
        let version = try reader.read(UInt16.self, "an object's version")
        let flags = try reader.read(UInt16.self, "an object's flags")
        hash = ContentHash(
            first: try reader.read(UInt128.self, "an object's hash"),
            second: try reader.read(UInt128.self, "an object's hash"))
        byteCount = try reader.read(UInt64.self, "an object's length")
        upload = try reader.readIdentifier("an upload's id")
        pieceCount = try reader.read(UInt32.self, "the number of pieces")
        pieceBytes = try reader.read(UInt32.self, "the length of pieces")
        let checksum = CRC32C.checksum(UnsafeRawBufferPointer(rebasing: bytes[..<reader.position]))
        guard try magic == Self.magic && reader.read(UInt32.self, "an object's checksum") == checksum else {
            throw StrataError(.badChecksum, "The final message of an object is damaged.")
        }
        guard version == Self.version, flags == 0 else {
            throw StrataError(.newerFormat, "A later release of Strata wrote the object.")
        }
        lastBytes = Array(reader.readRemainingBytes())
        guard UInt64(pieceCount) * UInt64(pieceBytes) + UInt64(lastBytes.count) == byteCount else {
            throw StrataError(.malformed, "The final message of an object does not match its header.")
        }
    }

    func encoded() -> [UInt8] {
        var writer = ByteWriter(reserving: Self.headerBytes + lastBytes.count)
        writer.append(Self.magic)
        writer.append(Self.version)
        writer.append(0 as UInt16)
        writer.append(hash.first)
        writer.append(hash.second)
        writer.append(byteCount)
        writer.append(upload)
        writer.append(pieceCount)
        writer.append(pieceBytes)
        writer.append(writer.bytes.withUnsafeBytes { CRC32C.checksum($0) })
        writer.append(bytes: lastBytes)
        return writer.bytes
    }
}
