import StrataModel
import StrataSystem

/// The 48 bytes before the body of every block of a sealed segment (docs/format.md §25).
package struct BlockHeader: Sendable, Equatable {
    package enum Kind: UInt8, Sendable, CaseIterable { case commits = 1, changes, filter, names, index, end, state }

    static let byteCount = 48
    /// The size of a whole end block.
    static let endBlockBytes = byteCount + 16
    static let magic: UInt32 = 0x6B42_7453  // "StBk" in the order of the bytes
    /// The size of one commit of the largest size, with its row in the table.
    static let maximumRawBytes = LogFormat.maximumCommitBytes + 4_096
    private static let erasuresFlag: UInt16 = 1

    package var kind: Kind
    package var codec: FrameHeader.Codec = .stored
    /// For commits: true if data was erased from the payload of at least one.
    package var hasErasures = false
    /// For commits, the first one's offset; for an end, the last one's; for a state, the number of the payload in its
    /// base; for changes, a zone.
    package var first: UInt64 = 0
    package var count: UInt32 = 0
    package var rawLength: UInt32 = 0
    package var storedLength: UInt32 = 0
    package var chain: UInt32 = 0
    package var time: Int64 = 0
    package var bodyChecksum: UInt32 = 0

    /// The size of header, body and padding.
    var blockBytes: Int { Self.byteCount + LogFormat.padded(Int(storedLength)) }

    init(kind: Kind) { self.kind = kind }

    /// Writes the 48 bytes; `position` is their place in the file.
    func encode(into target: UnsafeMutableRawBufferPointer, salt: UInt32, position: Int) {
        precondition(target.count == Self.byteCount, "a block header has 48 bytes")
        target.storeBytes(of: Self.magic.littleEndian, as: UInt32.self)
        target.storeBytes(of: kind.rawValue, toByteOffset: 4, as: UInt8.self)
        target.storeBytes(of: codec.rawValue, toByteOffset: 5, as: UInt8.self)
        let flags = hasErasures ? Self.erasuresFlag : 0
        target.storeBytes(of: flags.littleEndian, toByteOffset: 6, as: UInt16.self)
        target.storeBytes(of: first.littleEndian, toByteOffset: 8, as: UInt64.self)
        target.storeBytes(of: count.littleEndian, toByteOffset: 16, as: UInt32.self)
        target.storeBytes(of: rawLength.littleEndian, toByteOffset: 20, as: UInt32.self)
        target.storeBytes(of: storedLength.littleEndian, toByteOffset: 24, as: UInt32.self)
        target.storeBytes(of: chain.littleEndian, toByteOffset: 28, as: UInt32.self)
        target.storeBytes(of: time.littleEndian, toByteOffset: 32, as: Int64.self)
        target.storeBytes(of: bodyChecksum.littleEndian, toByteOffset: 40, as: UInt32.self)
        let checksum = FrameHeader.checksum(UnsafeRawBufferPointer(target), salt: salt, position: position)
        target.storeBytes(of: checksum.littleEndian, toByteOffset: 44, as: UInt32.self)
    }

    /// - Parameter position: the place of the bytes in the file.
    /// - Throws: ``StrataError``: `wrongMagic`, `badChecksum`, `newerFormat`, `impossibleLength`.
    init(decoding bytes: UnsafeRawBufferPointer, salt: UInt32, position: Int) throws {
        func number<Number: FixedWidthInteger>(_ place: Int, _: Number.Type) -> Number {
            Number(littleEndian: bytes.loadUnaligned(fromByteOffset: place, as: Number.self))
        }
        func error(_ code: StrataError.Code, _ message: StaticString, expected: String, found: String)
            -> StrataError
        {
            StrataError(code, message, .init(position: UInt64(position), expected: expected, found: found))
        }
        guard bytes.count == Self.byteCount else {
            throw error(
                .impossibleLength, "The file ends inside a block's header.", expected: "\(Self.byteCount) bytes",
                found: "\(bytes.count)")
        }
        let magic = number(0, UInt32.self)
        guard magic == Self.magic else {
            throw error(
                .wrongMagic, "No block begins at this position.", expected: hexadecimal(Self.magic),
                found: hexadecimal(magic))
        }
        let stored = number(44, UInt32.self)
        let checksum = FrameHeader.checksum(bytes, salt: salt, position: position)
        guard stored == checksum else {
            throw error(
                .badChecksum, "The checksum of a block's header does not match.", expected: hexadecimal(checksum),
                found: hexadecimal(stored))
        }
        guard let kind = Kind(rawValue: bytes[4]), let codec = FrameHeader.Codec(rawValue: bytes[5]),
            number(6, UInt16.self) & FrameHeader.mandatoryFlags & ~(kind == .commits ? Self.erasuresFlag : 0) == 0
        else {
            throw error(
                .newerFormat, "A block has a kind, codec or flag unknown to this version.",
                expected: "kind 1 to 7, codec 0 or 1, no flags except 1 for commits",
                found: "kind \(bytes[4]), codec \(bytes[5]), flags \(number(6, UInt16.self))")
        }
        self.init(kind: kind)
        self.codec = codec
        hasErasures = number(6, UInt16.self) & Self.erasuresFlag != 0
        first = number(8, UInt64.self)
        count = number(16, UInt32.self)
        rawLength = number(20, UInt32.self)
        storedLength = number(24, UInt32.self)
        chain = number(28, UInt32.self)
        time = number(32, Int64.self)
        bodyChecksum = number(40, UInt32.self)
        let isPossible = codec == .stored ? storedLength == rawLength : storedLength < rawLength
        guard isPossible, rawLength <= Self.maximumRawBytes else {
            throw error(
                .impossibleLength, "The lengths in a block's header are invalid.",
                expected: "at most \(Self.maximumRawBytes) bytes raw, and stored as the codec allows",
                found: "raw \(rawLength), stored \(storedLength)")
        }
    }
}
