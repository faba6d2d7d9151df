import StrataModel
import StrataSystem

/// Concatenates the frames of a batch, so that they are written with one call.
struct FrameAssembler: ~Copyable {
    /// The size to which the buffer shrinks after a large commit.
    private static let keptBytes = 8 << 20

    private let buffer = RawBuffer(count: 256 << 10)
    private(set) var count = 0

    var bytes: UnsafeRawBufferPointer { UnsafeRawBufferPointer(rebasing: buffer.bytes[..<count]) }

    mutating func clear() {
        count = 0
        buffer.shrink(to: Self.keptBytes)
    }

    /// Removes what was added last.
    mutating func drop(to count: Int) {
        precondition(count <= self.count, "only added bytes can be dropped")
        self.count = count
    }

    /// The place of frames in a segment, and the durable end at that time.
    struct Place {
        var salt: UInt32
        /// The position of the buffer's first byte in the file.
        var position: Int
        var durableOffset: UInt64
    }

    /// Adds a commit's frames, compressed where that pays; returns the commit's chain value.
    mutating func add(_ commit: NewCommit, after end: Position, at place: Place) -> UInt32 {
        let offset = end.offset + 1
        return commit.payload.withUnsafeBytes { payload in
            var chain = Chain.begin(after: end.chain, offset: offset, time: commit.time, payloadBytes: payload.count)
            let pieceCount = Pieces.count(payloadBytes: payload.count)
            for index in 0..<pieceCount {
                let piece = UnsafeRawBufferPointer(rebasing: payload[Pieces.range(index, payloadBytes: payload.count)])
                chain.update(piece)
                let prefixBytes = pieceCount > 1 ? LogFormat.partPrefixBytes : 0
                let body = room(for: prefixBytes + piece.count)
                if prefixBytes > 0 {
                    body.storeBytes(of: UInt64(payload.count).littleEndian, as: UInt64.self)
                    body.storeBytes(of: UInt32(index).littleEndian, toByteOffset: 8, as: UInt32.self)
                    body.storeBytes(of: UInt32(pieceCount).littleEndian, toByteOffset: 12, as: UInt32.self)
                }
                let target = UnsafeMutableRawBufferPointer(rebasing: body[prefixBytes...])
                let (codec, storedBytes) = Self.store(piece, into: target)
                finish(
                    FrameHeader(
                        kind: pieceCount > 1 ? .part : .commit, codec: codec, offset: offset, id: commit.id,
                        time: commit.time, rawLength: UInt32(piece.count),
                        storedLength: UInt32(prefixBytes + storedBytes), chain: chain.value,
                        undurable: UInt32(clamping: offset - place.durableOffset), bodyChecksum: 0), at: place)
            }
            return chain.value
        }
    }

    /// Adds a seal or a mark.
    mutating func addClosing(_ kind: FrameHeader.Kind, end: Position, time: Int64, at place: Place) {
        _ = room(for: 0)
        finish(
            FrameHeader(
                kind: kind, codec: .stored, offset: end.offset, id: .zero, time: time, rawLength: 0, storedLength: 0,
                chain: end.chain, undurable: 0, bodyChecksum: 0), at: place)
    }

    private static func store(
        _ piece: UnsafeRawBufferPointer, into target: UnsafeMutableRawBufferPointer
    ) -> (FrameHeader.Codec, Int) {
        if let count = Pieces.compress(piece, into: target) { return (.lz4, count) }
        target.copyMemory(from: piece)
        return (.stored, piece.count)
    }

    /// Returns the memory for a body of at most `bodyBytes` after the next header.
    private mutating func room(for bodyBytes: Int) -> UnsafeMutableRawBufferPointer {
        let start = count + LogFormat.frameHeaderBytes
        let limit = start + LogFormat.padded(bodyBytes)
        buffer.ensure(limit, keeping: count)
        return UnsafeMutableRawBufferPointer(rebasing: buffer.bytes[start..<limit])
    }

    /// Pads the body that is in place, and writes the header before it.
    private mutating func finish(_ header: FrameHeader, at place: Place) {
        var header = header
        let frame = UnsafeMutableRawBufferPointer(rebasing: buffer.bytes[count..<count + header.frameBytes])
        let padded = UnsafeMutableRawBufferPointer(rebasing: frame[LogFormat.frameHeaderBytes...])
        for index in Int(header.storedLength)..<padded.count { padded[index] = 0 }
        header.bodyChecksum = CRC32C.checksum(UnsafeRawBufferPointer(padded))
        header.encode(
            into: UnsafeMutableRawBufferPointer(rebasing: frame[..<LogFormat.frameHeaderBytes]), salt: place.salt,
            position: place.position + count)
        count += header.frameBytes
    }
}
