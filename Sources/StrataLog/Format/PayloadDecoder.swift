import StrataModel
import StrataSystem

/// Decodes the body of a frame into a piece of a payload.
enum PayloadDecoder {
    struct PartPrefix: Equatable {
        var payloadBytes: UInt64
        var index: UInt32
        var count: UInt32

        init(_ body: UnsafeRawBufferPointer) {
            payloadBytes = UInt64(littleEndian: body.loadUnaligned(as: UInt64.self))
            index = UInt32(littleEndian: body.loadUnaligned(fromByteOffset: 8, as: UInt32.self))
            count = UInt32(littleEndian: body.loadUnaligned(fromByteOffset: 12, as: UInt32.self))
        }

        /// The range of a part's piece in the payload; nil for a prefix that no writer produces.
        var pieceRange: Range<Int>? {
            guard payloadBytes > UInt64(LogFormat.maximumPieceBytes), payloadBytes <= LogFormat.maximumCommitBytes,
                Int(count) == Pieces.count(payloadBytes: Int(payloadBytes)), index < count
            else { return nil }
            return Pieces.range(Int(index), payloadBytes: Int(payloadBytes))
        }
    }

    /// - Parameter padded: the body and its padding, as stored in the file.
    static func checkBody(_ padded: UnsafeRawBufferPointer, of header: FrameHeader, position: Int) throws {
        let checksum = CRC32C.checksum(padded)
        guard padded.count == LogFormat.padded(Int(header.storedLength)), checksum == header.bodyChecksum else {
            throw StrataError(
                .badChecksum, "The checksum of a frame's body does not match.",
                .init(
                    offset: header.offset, position: UInt64(position), expected: hexadecimal(header.bodyChecksum),
                    found: hexadecimal(checksum)))
        }
    }

    /// - Parameters:
    ///   - stored: the body without a part's prefix and without padding.
    ///   - target: the memory for the payload, exactly `rawLength` bytes.
    static func decode(
        _ stored: UnsafeRawBufferPointer, codec: FrameHeader.Codec, into target: UnsafeMutableRawBufferPointer,
        offset: UInt64, position: Int
    ) throws {
        switch codec {
        case .stored: target.copyMemory(from: stored)
        case .lz4:
            guard LZ4.decompress(stored, into: target) else {
                throw StrataError(
                    .malformed, "A frame's body does not decompress to the length in its header.",
                    .init(offset: offset, position: UInt64(position), expected: "\(target.count) bytes"))
            }
        }
    }
}
