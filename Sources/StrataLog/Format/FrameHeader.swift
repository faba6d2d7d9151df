import StrataModel
import StrataSystem

/// The 64 bytes before every frame's body (docs/format.md §4).
package struct FrameHeader: Sendable, Equatable {
    package enum Kind: UInt8, Sendable, CaseIterable { case commit = 1, part, seal, mark }
    package enum Codec: UInt8, Sendable, CaseIterable { case stored = 0, lz4 = 1 }

    /// The flag bits that a reader must know; the others may be ignored.
    static let mandatoryFlags: UInt16 = 0x00FF

    package var kind: Kind
    package var codec: Codec
    package var offset: UInt64
    package var id: Identifier
    package var time: Int64
    package var rawLength: UInt32
    package var storedLength: UInt32
    package var chain: UInt32
    /// The number of commits up to this one that were not known to be durable when it was written; `.max` if unknown.
    package var undurable: UInt32
    package var bodyChecksum: UInt32

    /// The size of header, body and padding.
    package var frameBytes: Int { LogFormat.frameHeaderBytes + LogFormat.padded(Int(storedLength)) }

    /// Everything up to this offset had been synced before the frame was written; nil if the frame does not say.
    var witnessedOffset: UInt64? {
        undurable < UInt32.max && offset >= UInt64(undurable) ? offset - UInt64(undurable) : nil
    }

    /// The checksum of the header of a frame or block, which has these bytes except for the last four, at `position`.
    static func checksum(_ header: UnsafeRawBufferPointer, salt: UInt32, position: Int) -> UInt32 {
        // The capacity is a constant, so that the bytes are on the stack.
        withUnsafeTemporaryAllocation(byteCount: 12 + LogFormat.frameHeaderBytes, alignment: 8) { bytes in
            bytes.storeBytes(of: salt.littleEndian, as: UInt32.self)
            bytes.storeBytes(of: UInt64(position).littleEndian, toByteOffset: 4, as: UInt64.self)
            UnsafeMutableRawBufferPointer(rebasing: bytes[12...])
                .copyMemory(from: UnsafeRawBufferPointer(rebasing: header.dropLast(4)))
            return CRC32C.checksum(UnsafeRawBufferPointer(rebasing: bytes[..<(8 + header.count)]))
        }
    }

    /// Writes the 64 bytes; `position` is their place in the file.
    func encode(into target: UnsafeMutableRawBufferPointer, salt: UInt32, position: Int) {
        precondition(target.count == LogFormat.frameHeaderBytes, "a frame header has 64 bytes")
        target.storeBytes(of: LogFormat.frameMagic.littleEndian, as: UInt32.self)
        target.storeBytes(of: kind.rawValue, toByteOffset: 4, as: UInt8.self)
        target.storeBytes(of: codec.rawValue, toByteOffset: 5, as: UInt8.self)
        target.storeBytes(of: 0, toByteOffset: 6, as: UInt16.self)
        target.storeBytes(of: offset.littleEndian, toByteOffset: 8, as: UInt64.self)
        target.storeBytes(of: id.high.bigEndian, toByteOffset: 16, as: UInt64.self)
        target.storeBytes(of: id.low.bigEndian, toByteOffset: 24, as: UInt64.self)
        target.storeBytes(of: time.littleEndian, toByteOffset: 32, as: Int64.self)
        target.storeBytes(of: rawLength.littleEndian, toByteOffset: 40, as: UInt32.self)
        target.storeBytes(of: storedLength.littleEndian, toByteOffset: 44, as: UInt32.self)
        target.storeBytes(of: chain.littleEndian, toByteOffset: 48, as: UInt32.self)
        target.storeBytes(of: undurable.littleEndian, toByteOffset: 52, as: UInt32.self)
        target.storeBytes(of: bodyChecksum.littleEndian, toByteOffset: 56, as: UInt32.self)
        let checksum = Self.checksum(UnsafeRawBufferPointer(target), salt: salt, position: position)
        target.storeBytes(of: checksum.littleEndian, toByteOffset: 60, as: UInt32.self)
    }

    /// The result of decoding 64 bytes.
    enum Decoded {
        case valid(FrameHeader)
        /// The magic, checksum or length is wrong: the write was not completed, or the bytes decayed.
        case invalid(StrataError)
        /// The checksum is right, but a newer version wrote it.
        case unsupported(StrataError)
    }

    static func decode(_ bytes: UnsafeRawBufferPointer, salt: UInt32, position: Int) -> Decoded {
        func number<Number: FixedWidthInteger>(_ place: Int, _: Number.Type) -> Number {
            Number(littleEndian: bytes.loadUnaligned(fromByteOffset: place, as: Number.self))
        }
        func error(_ code: StrataError.Code, _ message: StaticString, expected: String, found: String)
            -> StrataError
        {
            StrataError(code, message, .init(position: UInt64(position), expected: expected, found: found))
        }
        let magic = number(0, UInt32.self)
        guard magic == LogFormat.frameMagic else {
            return .invalid(
                error(
                    .wrongMagic, "No frame begins at this position.", expected: hexadecimal(LogFormat.frameMagic),
                    found: hexadecimal(magic)))
        }
        let stored = number(60, UInt32.self)
        let checksum = checksum(bytes, salt: salt, position: position)
        guard stored == checksum else {
            return .invalid(
                error(
                    .badChecksum, "The checksum of a frame's header does not match.", expected: hexadecimal(checksum),
                    found: hexadecimal(stored)))
        }
        guard let kind = Kind(rawValue: bytes[4]), let codec = Codec(rawValue: bytes[5]),
            number(6, UInt16.self) & mandatoryFlags == 0
        else {
            return .unsupported(
                error(
                    .newerFormat, "A frame has a kind, codec or flag unknown to this version.",
                    expected: "kind 1 to 4, codec 0 or 1, no flags",
                    found: "kind \(bytes[4]), codec \(bytes[5]), flags \(number(6, UInt16.self))"))
        }
        let header = FrameHeader(
            kind: kind, codec: codec, offset: number(8, UInt64.self),
            id: Identifier(
                high: UInt64(bigEndian: bytes.loadUnaligned(fromByteOffset: 16, as: UInt64.self)),
                low: UInt64(bigEndian: bytes.loadUnaligned(fromByteOffset: 24, as: UInt64.self))),
            time: number(32, Int64.self), rawLength: number(40, UInt32.self), storedLength: number(44, UInt32.self),
            chain: number(48, UInt32.self), undurable: number(52, UInt32.self), bodyChecksum: number(56, UInt32.self))
        guard header.hasPossibleLengths else {
            return .invalid(
                error(
                    .impossibleLength, "The lengths in a frame's header are invalid.",
                    expected: "at most \(LogFormat.maximumPieceBytes) bytes raw, and stored as the codec allows",
                    found: "raw \(header.rawLength), stored \(header.storedLength)"))
        }
        return .valid(header)
    }

    private var hasPossibleLengths: Bool {
        let prefix = kind == .part ? LogFormat.partPrefixBytes : 0
        let stored = Int(storedLength) - prefix
        switch kind {
        case .seal, .mark: return rawLength == 0 && storedLength == 0 && codec == .stored && undurable == 0
        case .commit, .part:
            guard rawLength <= LogFormat.maximumPieceBytes, stored >= 0 else { return false }
            return codec == .stored ? stored == Int(rawLength) : stored < Int(rawLength)
        }
    }
}

extension FrameHeader {
    /// Nil if the bytes are fewer than 64, or not a valid header.
    init?(valid bytes: UnsafeRawBufferPointer, salt: UInt32, position: Int) {
        guard bytes.count == LogFormat.frameHeaderBytes,
            case .valid(let header) = Self.decode(bytes, salt: salt, position: position)
        else { return nil }
        self = header
    }
}
