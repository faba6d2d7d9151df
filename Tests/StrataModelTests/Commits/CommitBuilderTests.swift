import Testing

@testable import StrataModel

@Suite("Payloads written event by event")
struct CommitBuilderTests {
    private static let header = EnvelopeHeader(
        user: 3, device: 300, operationID: "op", operationKind: .modifyRecords, requestShape: [1, 2, 3])

    private static func saved(_ name: String) -> RecordSavedEvent {
        var event = RecordSavedEvent(.create, RecordKey(zone: 1, name: name), type: 2)
        event.fields = [FieldChange(1, .string(name)), FieldChange(300, .int64(7)), FieldChange(70_000, .list(.empty))]
        return event
    }

    @Test("The bytes are those of the same events in an envelope")
    func sameAsEnvelope() throws {
        let name = InternedName(ordinal: 4, name: .field("title"))
        let zone = ZoneSavedEvent(zone: 3, database: 1, capabilities: [.atomic])
        let deleted = RecordDeletedEvent(
            RecordKey(zone: 1, name: "a"), type: 2, previous: .ofThisCommit(eventIndex: 2), isCascade: true)
        var commit = CommitBuilder()
        #expect(commit.count == 0 && commit.byteCount == 0)
        #expect(try commit.append(name) == 0)
        #expect(try commit.append(zone) == 1)
        #expect(try commit.append(Self.saved("a")) == 2)
        #expect(try commit.append(Self.saved("b")) == 3)
        #expect(try commit.append(deleted) == 4)
        let payload = commit.payload(Self.header)
        let envelope = try Envelope(decoding: payload[...])
        #expect(envelope.header == Self.header && commit.count == 5)
        let events = try [name.event, zone.event(), Self.saved("a").event(), Self.saved("b").event(), deleted.event()]
        #expect(envelope.events == events)
        #expect(Envelope(header: Self.header, events: events).encoded() == payload)
        let touches = try payload.withUnsafeBytes { try Envelope.touches(of: $0) }
        #expect(commit.touches(of: payload) == touches && touches.count == 4)
        // The same memory serves the next payload.
        commit.removeAll()
        try commit.append(Self.saved("c"))
        let next = commit.payload(EnvelopeHeader())
        #expect(try commit.touches(of: next) == next.withUnsafeBytes { try Envelope.touches(of: $0) })
    }

    @Test("An event that cannot be written leaves nothing behind")
    func failedAppend() throws {
        var commit = CommitBuilder()
        try commit.append(Self.saved("a"))
        let before = commit
        var unordered = Self.saved("b")
        unordered.fields.swapAt(0, 2)
        #expect(thrownError { try commit.append(unordered) }?.code == .invalidArgument)
        let long = RecordDeletedEvent(
            RecordKey(zone: 1, name: String(repeating: "x", count: 4_097)), type: 2,
            previous: Version(offset: 1, eventIndex: 0))
        #expect(thrownError { try commit.append(long) }?.code == .tooLarge)
        #expect(commit.count == 1)
        try commit.append(Self.saved("c"))
        let payload = commit.payload(Self.header)
        #expect(try commit.touches(of: payload) == payload.withUnsafeBytes { try Envelope.touches(of: $0) })
        let envelope = try Envelope(decoding: payload[...])
        #expect(try envelope.events == [Self.saved("a").event(), Self.saved("c").event()])
        #expect(before.count == 1)
    }
}
