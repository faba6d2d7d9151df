import StrataModel

/// The touches of one zone within one segment, in order, encoded as deltas.
///
/// An entry is: offset minus the previous one (varint), event index (varint), kind (1 byte), type (varint), key
/// (string).
struct ChangeList: Sendable {
    /// The approximate size of a chunk. A search reads at most one chunk that it does not need, and no chunk is
    /// copied in order to grow.
    private static let chunkBytes = 4_096
    /// The maximum size of an entry without its key: four numbers of ten bytes each, and the kind.
    private static let maximumFixedBytes = 41

    private struct Chunk {
        /// The offset of the entry before this chunk.
        var offsetBefore: UInt64
        var bytes: [UInt8] = []
    }

    private var chunks: [Chunk] = []
    private var lastOffset: UInt64 = 0
    private(set) var count = 0

    mutating func append(_ touch: Touch, offset: UInt64, payload: UnsafeRawBufferPointer) {
        let last = chunks.count - 1
        if last < 0 || chunks[last].bytes.count >= Self.chunkBytes {
            chunks.append(Chunk(offsetBefore: lastOffset))
            // A list that filled one chunk will probably fill the next; a short list must not cost a whole chunk.
            if last >= 0 { chunks[last + 1].bytes.reserveCapacity(Self.chunkBytes + 128) }
        }
        let place = chunks.count - 1
        // Encoded on the stack and appended in two pieces: one append per byte costs five times as much.
        withUnsafeTemporaryAllocation(byteCount: Self.maximumFixedBytes, alignment: 1) { fixed in
            var count = 0
            Self.put(offset - lastOffset, into: fixed, at: &count)
            Self.put(UInt64(touch.eventIndex), into: fixed, at: &count)
            fixed[count] = touch.kind.rawValue
            count += 1
            Self.put(touch.type, into: fixed, at: &count)
            Self.put(UInt64(touch.key.count), into: fixed, at: &count)
            chunks[place].bytes.append(contentsOf: UnsafeRawBufferPointer(rebasing: fixed[..<count]))
        }
        chunks[place].bytes.append(contentsOf: UnsafeRawBufferPointer(rebasing: payload[touch.key]))
        lastOffset = offset
        count += 1
    }

    /// Calls `body` with the entries in pieces, each with the offset of the entry before it, 0 for the first.
    func forEachPiece(_ body: (_ offsetBefore: UInt64, _ entries: [UInt8]) throws -> Void) rethrows {
        for chunk in chunks { try body(chunk.offsetBefore, chunk.bytes) }
    }

    private static func put(_ number: UInt64, into target: UnsafeMutableRawBufferPointer, at count: inout Int) {
        var rest = number
        while rest >= 0x80 {
            target[count] = UInt8(truncatingIfNeeded: rest) | 0x80
            count += 1
            rest >>= 7
        }
        target[count] = UInt8(rest)
        count += 1
    }

    /// Appends entries after `offset` to `touches`. Stops at the first commit that begins once there are `limit` of
    /// them, so that a commit's entries are never split. Returns false if it stopped before the end.
    ///
    /// - Parameter name: the record whose entries are wanted; nil for all entries.
    func collect(
        of name: [UInt8]? = nil, after offset: UInt64, limit: Int, into touches: inout [ZoneTouch]
    ) throws -> Bool {
        guard offset < lastOffset else { return true }
        for chunk in chunks[chunk(for: offset)...] {
            let isComplete = try chunk.bytes.withUnsafeBytes { bytes in
                try Self.collect(
                    bytes, of: name, startingAfter: chunk.offsetBefore, after: offset, limit: limit, into: &touches)
            }
            if !isComplete { return false }
        }
        return true
    }

    /// Like ``collect(of:after:limit:into:)``, for one piece.
    static func collect(
        _ entries: UnsafeRawBufferPointer, of name: [UInt8]? = nil, startingAfter offsetBefore: UInt64,
        after offset: UInt64,
        limit: Int, into touches: inout [ZoneTouch]
    ) throws -> Bool {
        var reader = ByteReader(entries)
        var current = offsetBefore
        while reader.remaining > 0 {
            let delta = try reader.readVarint("the offset of a touch", atMost: Version.maximumOffset - current)
            let next = current + delta
            if touches.count >= limit, next != touches.last?.offset { return false }
            current = next
            if current > offset {
                if let touch = try read(&reader, of: name, offset: current, from: entries) { touches.append(touch) }
            } else {
                try skip(&reader)
            }
        }
        return true
    }

    private static func skip(_ reader: inout ByteReader) throws {
        _ = try reader.readVarint("an event index")
        _ = try reader.read(UInt8.self, "a touch kind")
        _ = try reader.readVarint("a type")
        _ = try reader.readStringRange("a key", atMost: Envelope.maximumNameBytes)
    }

    /// Returns the last chunk such that it and the later ones have all entries after `offset`.
    private func chunk(for offset: UInt64) -> Int {
        max(0, chunks.endOfPrefix { $0.offsetBefore <= offset } - 1)
    }

    /// Returns nil for an entry that is not of the wanted record.
    private static func read(
        _ reader: inout ByteReader, of name: [UInt8]?, offset: UInt64, from bytes: UnsafeRawBufferPointer
    ) throws -> ZoneTouch? {
        let eventIndex = UInt32(try reader.readVarint("an event index", atMost: UInt64(UInt32.max)))
        let number = try reader.read(UInt8.self, "a touch kind")
        guard let kind = Touch.Kind(rawValue: number) else {
            throw reader.malformed("a touch kind", expected: "1 to 4", found: "\(number)")
        }
        let type = try reader.readVarint("a type")
        let key = try reader.readStringRange("a key", atMost: Envelope.maximumNameBytes)
        if let name, !kind.isOfRecord || key.count != name.count || !bytes[key].elementsEqual(name) { return nil }
        return ZoneTouch(offset: offset, eventIndex: eventIndex, kind: kind, type: type, key: [UInt8](bytes[key]))
    }
}
