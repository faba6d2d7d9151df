import StrataModel
import StrataSystem

/// Puts the frames of a batch behind one another, so that they are written with one call.
struct FrameAssembler: ~Copyable {
    /// A buffer that grew beyond this for one large commit is given back.
    private static let keptBytes = 8 << 20

    private let buffer = RawBuffer(count: 64 << 10)
    private(set) var count = 0

    var bytes: UnsafeRawBufferPointer { UnsafeRawBufferPointer(rebasing: buffer.bytes[..<count]) }

    mutating func clear() {
        count = 0
        buffer.shrink(to: Self.keptBytes)
    }

    /// Where frames will stand, and what they continue.
    struct Place {
        var salt: UInt32
        /// Of the first byte of the buffer in the file.
        var position: Int
        var durableOffset: UInt64
    }

    /// Adds a commit's frames; returns its chain value.
    mutating func add(_ commit: NewCommit, _ prepared: PreparedPayload, after end: Position, at place: Place) -> UInt32 {
        let offset = end.offset + 1
        buffer.ensure(count + prepared.frameBytes, keeping: count)
        return commit.payload.withUnsafeBytes { payload in
            var chain = Chain.begin(
                after: end.chain, offset: offset, time: commit.time, payloadBytes: payload.count)
            for (index, piece) in prepared.pieces.enumerated() {
                chain.update(UnsafeRawBufferPointer(rebasing: payload[piece.raw]))
                let header = FrameHeader(
                    kind: prepared.pieces.count == 1 ? .commit : .part, codec: piece.codec, offset: offset,
                    id: commit.id, time: commit.time, rawLength: UInt32(piece.raw.count), storedLength: 0,
                    chain: chain.value, undurable: UInt32(clamping: offset - place.durableOffset), bodyChecksum: 0)
                let prefix = PartPrefixBytes(payloadBytes: payload.count, index: index, count: prepared.pieces.count)
                if let compressed = piece.compressed {
                    compressed.withUnsafeBytes { addFrame(header, prefix, body: $0, at: place) }
                } else {
                    addFrame(header, prefix, body: UnsafeRawBufferPointer(rebasing: payload[piece.raw]), at: place)
                }
            }
            return chain.value
        }
    }

    /// Adds a seal or a mark.
    mutating func addClosing(_ kind: FrameHeader.Kind, end: Position, time: Int64, at place: Place) {
        buffer.ensure(count + LogFormat.frameHeaderBytes, keeping: count)
        let header = FrameHeader(
            kind: kind, codec: .stored, offset: end.offset, id: .zero, time: time, rawLength: 0, storedLength: 0,
            chain: end.chain, undurable: 0, bodyChecksum: 0)
        addFrame(header, PartPrefixBytes(payloadBytes: 0, index: 0, count: 1), body: .init(start: nil, count: 0), at: place)
    }

    private struct PartPrefixBytes {
        var payloadBytes: Int
        var index: Int
        var count: Int

        var byteCount: Int { count > 1 ? LogFormat.partPrefixBytes : 0 }
    }

    private mutating func addFrame(
        _ header: FrameHeader, _ prefix: PartPrefixBytes, body: UnsafeRawBufferPointer, at place: Place
    ) {
        var header = header
        header.storedLength = UInt32(prefix.byteCount + body.count)
        let frame = UnsafeMutableRawBufferPointer(rebasing: buffer.bytes[count..<count + header.frameBytes])
        let padded = UnsafeMutableRawBufferPointer(rebasing: frame[LogFormat.frameHeaderBytes...])
        if prefix.byteCount > 0 {
            padded.storeBytes(of: UInt64(prefix.payloadBytes).littleEndian, as: UInt64.self)
            padded.storeBytes(of: UInt32(prefix.index).littleEndian, toByteOffset: 8, as: UInt32.self)
            padded.storeBytes(of: UInt32(prefix.count).littleEndian, toByteOffset: 12, as: UInt32.self)
        }
        if body.count > 0 {
            UnsafeMutableRawBufferPointer(rebasing: padded[prefix.byteCount...]).copyMemory(from: body)
        }
        for index in Int(header.storedLength)..<padded.count { padded[index] = 0 }
        header.bodyChecksum = CRC32C.checksum(UnsafeRawBufferPointer(padded))
        header.encode(
            into: UnsafeMutableRawBufferPointer(rebasing: frame[..<LogFormat.frameHeaderBytes]), salt: place.salt,
            position: place.position + count)
        count += header.frameBytes
    }
}
