import StrataModel

/// What touched one zone within one segment, in order, coded as deltas.
///
/// An entry is: offset minus the one before (varint), event index (varint), kind (1 byte), type (varint), key (string).
struct ChangeList: Sendable {
    /// From time to time a place to start reading from, so that finding an offset reads at most about this many bytes.
    private static let anchorSpacingBytes = 1_024

    private struct Anchor {
        /// Offset of the entry in front of this place.
        var offsetBefore: UInt64
        var place: Int
    }

    private var bytes: [UInt8] = []
    private var anchors: [Anchor] = []
    private var lastOffset: UInt64 = 0

    var byteCount: Int { bytes.count + anchors.count * MemoryLayout<Anchor>.size }

    mutating func append(_ touch: Touch, offset: UInt64, payload: UnsafeRawBufferPointer) {
        if bytes.count >= (anchors.last?.place ?? -Self.anchorSpacingBytes) + Self.anchorSpacingBytes {
            anchors.append(Anchor(offsetBefore: lastOffset, place: bytes.count))
        }
        appendVarint(offset - lastOffset)
        appendVarint(UInt64(touch.eventIndex))
        bytes.append(touch.kind.rawValue)
        appendVarint(touch.type)
        appendVarint(UInt64(touch.key.count))
        bytes.append(contentsOf: payload[touch.key])
        lastOffset = offset
    }

    private mutating func appendVarint(_ number: UInt64) {
        var rest = number
        while rest >= 0x80 {
            bytes.append(UInt8(truncatingIfNeeded: rest) | 0x80)
            rest >>= 7
        }
        bytes.append(UInt8(rest))
    }

    /// Appends entries behind `offset` to `touches` until it has `limit`, never splitting a commit's entries unless they
    /// alone are more than that; false if it stopped before the end.
    func collect(after offset: UInt64, limit: Int, into touches: inout [ZoneTouch]) throws -> Bool {
        guard offset < lastOffset else { return true }
        // The last anchor whose entries may still be behind `offset`.
        var low = 0
        var high = anchors.count
        while low < high {
            let middle = (low + high) / 2
            if anchors[middle].offsetBefore <= offset { low = middle + 1 } else { high = middle }
        }
        guard low > 0 else { return true }
        let anchor = anchors[low - 1]
        return try bytes.withUnsafeBytes { bytes in
            var reader = ByteReader(bytes, at: anchor.place)
            var current = anchor.offsetBefore
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
