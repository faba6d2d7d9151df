import StrataModel

/// What touched one zone within one segment, in order, coded as deltas.
///
/// An entry is: offset minus the one before (varint), event index (varint), kind (1 byte), type (varint), key (string).
struct ChangeList: Sendable {
    /// From time to time a place to start reading from, so that finding an offset reads at most about this many bytes.
    private static let anchorSpacingBytes = 1_024
    /// Four numbers of at most ten bytes, and the kind.
    private static let maximumFixedBytes = 41

    private struct Anchor {
        /// Offset of the entry in front of this place.
        var offsetBefore: UInt64
        var place: Int
    }

    private var bytes: [UInt8] = []
    private var anchors: [Anchor] = []
    private var lastOffset: UInt64 = 0
    private var nextAnchorPlace = 0

    var byteCount: Int { bytes.capacity + anchors.count * MemoryLayout<Anchor>.size }

    mutating func append(_ touch: Touch, offset: UInt64, payload: UnsafeRawBufferPointer) {
        if bytes.count >= nextAnchorPlace {
            anchors.append(Anchor(offsetBefore: lastOffset, place: bytes.count))
            nextAnchorPlace = bytes.count + Self.anchorSpacingBytes
        }
        // Encoded on the stack and appended in two pieces: an append per byte costs five times as much.
        withUnsafeTemporaryAllocation(byteCount: Self.maximumFixedBytes, alignment: 1) { fixed in
            var count = 0
            Self.put(offset - lastOffset, into: fixed, at: &count)
            Self.put(UInt64(touch.eventIndex), into: fixed, at: &count)
            fixed[count] = touch.kind.rawValue
            count += 1
            Self.put(touch.type, into: fixed, at: &count)
            Self.put(UInt64(touch.key.count), into: fixed, at: &count)
            bytes.append(contentsOf: UnsafeRawBufferPointer(rebasing: fixed[..<count]))
        }
        bytes.append(contentsOf: UnsafeRawBufferPointer(rebasing: payload[touch.key]))
        lastOffset = offset
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

    /// Forgets entries behind `offset`.
    mutating func drop(after offset: UInt64) {
        guard offset < lastOffset else { return }
        let start = anchor(for: offset)
        // The entries are this type's own, so that they cannot fail to decode.
        let kept = try? bytes.withUnsafeBytes { bytes -> (place: Int, offset: UInt64) in
            var reader = ByteReader(bytes, at: start.place)
            var kept = (place: start.place, offset: start.offsetBefore)
            while reader.remaining > 0 {
                let next = kept.offset + (try reader.readVarint("the offset of a touch"))
                if next > offset { break }
                _ = try Self.read(&reader, offset: next, from: bytes)
                kept = (reader.position, next)
            }
            return kept
        }
        guard let kept else { preconditionFailure("a change list reads what it wrote") }
        bytes.removeLast(bytes.count - kept.place)
        anchors.removeAll { $0.place >= kept.place }
        nextAnchorPlace = anchors.last.map { $0.place + Self.anchorSpacingBytes } ?? 0
        lastOffset = kept.offset
    }

    /// Appends entries behind `offset` to `touches`; stops at the first commit that begins when there are `limit` of them,
    /// so that a commit's entries are never split. False if it stopped before the end.
    func collect(after offset: UInt64, limit: Int, into touches: inout [ZoneTouch]) throws -> Bool {
        guard offset < lastOffset else { return true }
        let start = anchor(for: offset)
        return try bytes.withUnsafeBytes { bytes in
            var reader = ByteReader(bytes, at: start.place)
            var current = start.offsetBefore
            while reader.remaining > 0 {
                let next = current + (try reader.readVarint("the offset of a touch"))
                if touches.count >= limit, next != touches.last?.offset { return false }
                current = next
                let touch = try Self.read(&reader, offset: current, from: bytes)
                if current > offset { touches.append(touch) }
            }
            return true
        }
    }

    /// The last place that has everything behind `offset` still in front of it.
    private func anchor(for offset: UInt64) -> Anchor {
        var low = 0
        var high = anchors.count
        while high - low > 1 {
            let middle = (low + high) / 2
            if anchors[middle].offsetBefore <= offset { low = middle } else { high = middle }
        }
        return anchors[low]
    }

    private static func read(
        _ reader: inout ByteReader, offset: UInt64, from bytes: UnsafeRawBufferPointer
    ) throws -> ZoneTouch {
        let eventIndex = UInt32(try reader.readVarint("an event index", atMost: UInt64(UInt32.max)))
        let number = try reader.read(UInt8.self, "a touch kind")
        guard let kind = Touch.Kind(rawValue: number) else {
            throw reader.malformed("a touch kind", expected: "1 to 4", found: "\(number)")
        }
        let type = try reader.readVarint("a type")
        let key = try reader.readStringRange("a key", atMost: Envelope.maximumNameBytes)
        return ZoneTouch(offset: offset, eventIndex: eventIndex, kind: kind, type: type, key: [UInt8](bytes[key]))
    }
}
