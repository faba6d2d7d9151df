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
    /// The touches of the events, with their places in `events`; nil if they are not noted.
    private var touches: [Touch]?
    /// The number of events, which is the index of the next one.
    package private(set) var count: UInt32 = 0

    /// - Parameter notesTouches: false for a payload that no log gets.
    package init(notesTouches: Bool = true) { touches = notesTouches ? [] : nil }

    package var byteCount: Int { events.bytes.count }

    /// Starts the next payload in the same memory.
    package mutating func removeAll() {
        events.removeAll()
        touches?.removeAll(keepingCapacity: true)
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
        do {
            let length = try events.appendMeasured(body)
            if touches != nil { try noteTouch(of: kind, bodyBytes: length) }
        } catch {
            events.truncate(to: start)
            throw error
        }
        defer { count += 1 }
        return count
    }

    /// Notes the touch of the event whose body was just written.
    private mutating func noteTouch(of kind: EventKind, bodyBytes: Int) throws {
        let body = events.bytes.count - bodyBytes..<events.bytes.count
        let touch = try events.bytes.withUnsafeBytes { try Touch(kind, body, of: $0, at: Int(count)) }
        if let touch { touches?.append(touch) }
    }

    /// Returns the touches of a payload of this builder, so that a log need not look for them.
    package func touches(of payload: [UInt8]) -> [Touch] {
        guard let touches else { preconditionFailure("a builder that notes no touches has none") }
        // Only the header comes before the events.
        let shift = payload.count - events.bytes.count
        return touches.map { touch in
            var touch = touch
            // A zone has no key.
            let isOfRecord = touch.kind == .recordSaved || touch.kind == .recordDeleted
            if isOfRecord { touch.key = touch.key.lowerBound + shift..<touch.key.upperBound + shift }
            return touch
        }
    }

    package func payload(_ header: EnvelopeHeader) -> [UInt8] {
        precondition(count > 0, "a commit must have at least one event")
        let fields = header.encodedFields()
        var writer = ByteWriter(reserving: fields.count + events.bytes.count + 16)
        writer.append(Envelope.version)
        writer.append(counted: fields)
        writer.appendVarint(UInt64(count))
        events.bytes.withUnsafeBytes { writer.append(raw: $0) }
        return writer.bytes
    }
}
