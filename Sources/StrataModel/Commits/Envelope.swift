/// A decoded commit payload: the originator and the resulting events (docs/format.md §6).
///
/// ```swift
/// var envelope = Envelope(header: .init(user: 1, operationKind: .modifyRecords))
/// envelope.events.append(Event(.recordSaved, body: bytes))
/// let payload = envelope.encoded()
/// ```
package struct Envelope: Sendable, Equatable {
    package static let version: UInt8 = 1
    package static let maximumEventCount: UInt64 = 1 << Version.eventBits
    package static let maximumNameBytes = 4_096

    package var header: EnvelopeHeader
    package var events: [Event]

    package init(header: EnvelopeHeader = EnvelopeHeader(), events: [Event] = []) {
        self.header = header
        self.events = events
    }

    package func encoded() -> [UInt8] {
        precondition(
            (1...Self.maximumEventCount).contains(UInt64(events.count)), "a commit must have 1 to 1,048,576 events")
        let fields = header.encodedFields()
        var writer = ByteWriter(reserving: fields.count + 16 + events.reduce(0) { $0 + $1.body.count + 4 })
        writer.append(Self.version)
        writer.append(counted: fields)
        writer.appendVarint(UInt64(events.count))
        for event in events {
            writer.appendVarint(event.kind.rawValue)
            writer.append(counted: event.body)
        }
        return writer.bytes
    }

    package init(decoding payload: ArraySlice<UInt8>) throws {
        var walker = try payload.withUnsafeBytes { try EnvelopeWalker($0) }
        header = try payload.withUnsafeBytes { try EnvelopeHeader(decoding: ByteReader($0, in: walker.headerRange)) }
        events = []
        // The capacity is not the claimed count: an event takes at least two bytes, so the bytes bound it.
        events.reserveCapacity(min(walker.eventCount, payload.count / 2))
        try payload.withUnsafeBytes { bytes in
            while let event = try walker.next(in: bytes) {
                let start = payload.startIndex
                events.append(
                    Event(event.kind, body: payload[start + event.body.lowerBound..<start + event.body.upperBound]))
            }
        }
    }
}

/// Iterates over a payload's events without copying or allocating. It holds ranges, never the bytes.
struct EnvelopeWalker {
    let headerRange: Range<Int>
    let eventCount: Int
    private(set) var eventIndex = 0
    private var position: Int

    init(_ bytes: UnsafeRawBufferPointer) throws {
        var reader = ByteReader(bytes)
        let version = try reader.read(UInt8.self, "the envelope version")
        guard version == Envelope.version else {
            throw StrataError(
                .newerFormat, "The payload's envelope has another version.",
                .init(position: 0, expected: "\(Envelope.version)", found: "\(version)"))
        }
        let headerBytes = try reader.readVarint("the length of the header fields")
        headerRange = try reader.readRange(count: headerBytes, "the header fields")
        eventCount = Int(try reader.readVarint("the number of events", atMost: Envelope.maximumEventCount))
        guard eventCount > 0 else { throw reader.malformed("the number of events", expected: "at least 1") }
        position = reader.position
    }

    mutating func next(in bytes: UnsafeRawBufferPointer) throws -> (kind: EventKind, body: Range<Int>)? {
        var reader = ByteReader(bytes, at: position)
        guard eventIndex < eventCount else {
            try reader.expectEnd("the payload after its last event")
            return nil
        }
        let kind = EventKind(rawValue: try reader.readVarint("the kind of an event"))
        let length = try reader.readVarint("the length of an event")
        let body = try reader.readRange(count: length, "the body of an event")
        position = reader.position
        eventIndex += 1
        return (kind, body)
    }
}
