/// Builds the payload of a commit event by event, without copying each.
///
/// ```swift
/// var commit = CommitBuilder()
/// try commit.append(ZoneSavedEvent(zone: 3, database: 1))
/// let payload = try commit.payload(EnvelopeHeader(user: 1))
/// ```
package struct CommitBuilder: Sendable {
    private var events = ByteWriter(reserving: 512)
    private var table = FieldTableBuilder()
    /// The number of events, which is the index of the next one.
    package private(set) var count: UInt32 = 0

    package init() {}

    package var byteCount: Int { events.bytes.count }

    /// Starts the next payload in the same memory.
    package mutating func removeAll() {
        events.removeAll()
        count = 0
    }

    /// Appends an event and returns its index.
    @discardableResult
    package mutating func append(_ body: some EventBody) throws -> UInt32 {
        try append(type(of: body).kind) { try body.encode(into: &$0) }
    }

    /// - Parameter ordinals: the ordinals of the fields that the event numbers from 1; nil if it has ordinals.
    @discardableResult
    package mutating func append(_ body: RecordSavedEvent, of ordinals: [UInt32]? = nil) throws -> UInt32 {
        // All records of a commit share the builder's memory.
        var table = self.table
        defer {
            // Nothing remains of an event that could not be encoded.
            table.removeAll()
            self.table = table
        }
        return try append(RecordSavedEvent.kind) { try body.encode(into: &$0, with: &table, of: ordinals) }
    }

    @discardableResult
    package mutating func append(_ event: Event) throws -> UInt32 {
        try append(event.kind) { $0.append(bytes: event.body) }
    }

    @discardableResult
    package mutating func append(_ name: InternedName) throws -> UInt32 {
        try append(.nameInterned) { $0.append(bytes: name.event.body) }
    }

    @discardableResult
    mutating func append(_ kind: EventKind, _ body: (inout ByteWriter) throws -> Void) throws -> UInt32 {
        guard count < Envelope.maximumEventCount else {
            throw StrataError.tooLarge(
                "the events of a commit", limit: Int(Envelope.maximumEventCount), found: Int(count) + 1)
        }
        let start = events.bytes.count
        events.appendVarint(kind.rawValue)
        do { try events.appendMeasured(body) } catch {
            events.truncate(to: start)
            throw error
        }
        defer { count += 1 }
        return count
    }

    package func payload(_ header: EnvelopeHeader) -> [UInt8] {
        precondition(count > 0, "a commit must have at least one event")
        let fields = header.encodedFields()
        var writer = ByteWriter(reserving: fields.count + events.bytes.count + 16)
        writer.append(Envelope.version)
        writer.appendVarint(UInt64(fields.count))
        writer.append(bytes: fields)
        writer.appendVarint(UInt64(count))
        events.bytes.withUnsafeBytes { writer.append(raw: $0) }
        return writer.bytes
    }
}
