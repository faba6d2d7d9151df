/// A change by an event to a record or a zone; the log's change lists consist of touches (docs/format.md §7).
///
/// The key is a range of the payload's bytes, so that collecting touches copies nothing.
package struct Touch: Sendable, Equatable {
    package enum Kind: UInt8, Sendable, CaseIterable {
        case recordSaved = 1, recordDeleted, zoneSaved, zoneDeleted
    }

    package var zone: UInt64
    package var eventIndex: UInt32
    package var kind: Kind
    package var type: UInt64
    /// The record's name; empty for a zone.
    package var key: Range<Int>

    package init(zone: UInt64, eventIndex: UInt32, kind: Kind, type: UInt64, key: Range<Int>) {
        self.zone = zone
        self.eventIndex = eventIndex
        self.kind = kind
        self.type = type
        self.key = key
    }
}

extension Envelope {
    /// Returns the touches of a payload, in event order.
    ///
    /// ```swift
    /// let deletions = try Envelope.touches(of: payload, where: { $0.kind == .recordDeleted })
    /// ```
    ///
    /// - Parameter names: Called with the range of each ``InternedName`` in the payload.
    /// - Throws: ``StrataError`` if the payload is not an envelope.
    package static func touches(
        of payload: UnsafeRawBufferPointer, where isWanted: (Touch) -> Bool = { _ in true },
        names: (Range<Int>) -> Void = { _ in }
    ) throws -> [Touch] {
        var walker = try EnvelopeWalker(payload)
        var touches: [Touch] = []
        while let event = try walker.next(in: payload) {
            if event.kind == .nameInterned { names(event.body) }
            guard let touch = try Touch(event.kind, event.body, of: payload, at: walker.eventIndex - 1),
                isWanted(touch)
            else { continue }
            if touches.isEmpty { touches.reserveCapacity(min(walker.eventCount, payload.count / 2)) }
            touches.append(touch)
        }
        return touches
    }
}

extension Touch {
    /// Returns nil for an event that touches nothing.
    init?(
        _ event: EventKind, _ body: Range<Int>, of payload: UnsafeRawBufferPointer, at index: Int
    ) throws {
        guard let kind = event.touchKind else { return nil }
        var reader = ByteReader(payload, in: body)
        if event.isOfRecord {
            let (zone, type, name) = try reader.readRecordStart()
            self.init(zone: zone, eventIndex: UInt32(index), kind: kind, type: type, key: name)
        } else {
            self.init(
                zone: try reader.readEventZone(), eventIndex: UInt32(index), kind: kind, type: 0, key: 0..<0)
        }
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
