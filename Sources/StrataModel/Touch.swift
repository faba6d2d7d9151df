/// That an event touched a record or a zone: what the log's change lists are made of (docs/format.md §7).
///
/// The key is a range of the payload's bytes, so that collecting touches copies nothing.
public struct Touch: Sendable, Equatable {
    public enum Kind: UInt8, Sendable, CaseIterable {
        case recordSaved = 1, recordDeleted, zoneSaved, zoneDeleted
    }

    public var zone: UInt64
    public var eventIndex: UInt32
    public var kind: Kind
    public var type: UInt64
    public var key: Range<Int>

    public init(zone: UInt64, eventIndex: UInt32, kind: Kind, type: UInt64, key: Range<Int>) {
        self.zone = zone
        self.eventIndex = eventIndex
        self.kind = kind
        self.type = type
        self.key = key
    }
}

extension Envelope {
    /// The touches of a payload, in event order.
    ///
    /// - Throws: ``StrataError`` if the payload is not an envelope.
    public static func touches(of payload: UnsafeRawBufferPointer) throws -> [Touch] {
        var walker = try EnvelopeWalker(payload)
        var touches: [Touch] = []
        touches.reserveCapacity(min(walker.eventCount, payload.count / 2))
        while let event = try walker.next(in: payload) {
            guard let kind = event.kind.touchKind else { continue }
            var reader = ByteReader(payload, in: event.body)
            let zone = try reader.readVarint("the zone of an event")
            var type: UInt64 = 0
            var key = 0..<0
            if kind == .recordSaved || kind == .recordDeleted {
                type = try reader.readVarint("the type of a record event")
                key = try reader.readStringRange("a record name", atMost: maximumNameBytes)
            }
            touches.append(
                Touch(zone: zone, eventIndex: UInt32(walker.eventIndex - 1), kind: kind, type: type, key: key))
        }
        return touches
    }
}

extension EventKind {
    var touchKind: Touch.Kind? {
        switch self {
        case .recordSaved: .recordSaved
        case .recordDeleted, .recordErased: .recordDeleted
        case .zoneSaved: .zoneSaved
        case .zoneDeleted: .zoneDeleted
        default: nil
        }
    }
}
