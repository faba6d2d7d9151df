/// The common beginning of all events of a record: its zone, type and name (docs/format.md §9).
///
/// ```swift
/// while let event = try walker.next() {
///     guard let event = try RecordEvent(event.kind, event.body, of: payload) else { continue }
///     if event.zone == zone { keys.insert(try event.key) }
/// }
/// ```
package struct RecordEvent {
    package let kind: EventKind
    // Valid only inside the `withUnsafeBytes` call that provided it.
    /// The bytes of the event.
    package let body: UnsafeRawBufferPointer
    package let zone: UInt64
    package let type: UInt64
    /// The range of the record's name in the body.
    @usableFromInline let nameRange: Range<Int>

    /// Creates the event whose body fills `range` of a payload; nil if it is not an event of a record.
    @inlinable package init?(_ kind: EventKind, _ range: Range<Int>, of payload: UnsafeRawBufferPointer) throws {
        guard kind.isOfRecord else { return nil }
        try self.init(kind, UnsafeRawBufferPointer(rebasing: payload[range]))
    }

    /// Creates the event from its body.
    ///
    /// - Parameter kind: A kind for which ``EventKind/isOfRecord`` is true.
    @inlinable package init(_ kind: EventKind, _ body: UnsafeRawBufferPointer) throws {
        var reader = ByteReader(body)
        (self.kind, self.body) = (kind, body)
        (zone, type, nameRange) = try reader.readRecordStart()
    }

    /// The bytes of the record's name, which need not be valid UTF-8.
    @inlinable package var nameBytes: UnsafeRawBufferPointer { UnsafeRawBufferPointer(rebasing: body[nameRange]) }

    /// The name of the record.
    ///
    /// - Throws: ``StrataError`` if the name is not valid UTF-8.
    package var name: String {
        get throws {
            guard let name = String(utf8: nameBytes) else { throw malformedName() }
            return name
        }
    }

    package var key: RecordKey { get throws { RecordKey(zone: zone, name: try name) } }

    /// Checks that the name is valid UTF-8, without copying it.
    ///
    /// - Throws: ``StrataError`` if it is not.
    package func requireText() throws {
        guard nameBytes.isUTF8 else { throw malformedName() }
    }

    private func malformedName() -> StrataError {
        ByteReader(body, in: nameRange).malformed("a record name", expected: "valid UTF-8")
    }

    /// True if the event changes the state of the record: an erasure that found no record does not.
    @inlinable package var changesRecord: Bool {
        get throws { try kind != .recordErased || erasesRecord() }
    }

    @usableFromInline func erasesRecord() throws -> Bool {
        try RecordErasedEvent(decoding: body).previous != nil
    }

    /// Returns the event as a save.
    ///
    /// - Throws: ``StrataError`` if it is not a save.
    package func saved() throws -> RecordSavedView { try RecordSavedView(body, in: 0..<body.count) }
}

extension EventKind {
    @inlinable package var isOfRecord: Bool {
        switch self {
        case .recordSaved, .recordDeleted, .recordErased: true
        default: false
        }
    }

    /// True for events of a zone or of a record in a zone. Their bodies begin with the zone.
    package var isOfZone: Bool { isOfRecord || self == .zoneSaved || self == .zoneDeleted }
}

extension ByteWriter {
    /// Appends the common beginning of all events of a record.
    mutating func appendRecordStart(_ record: RecordKey, type: UInt64) throws {
        try StrataError.checkName(record.name, "a record name's bytes")
        appendVarint(record.zone)
        appendVarint(type)
        appendString(record.name)
    }
}

extension ByteReader {
    /// Reads the zone at the beginning of an event of a record or a zone.
    @inlinable package mutating func readEventZone() throws -> UInt64 { try readVarint("the zone of an event") }

    /// Reads the zone, the type and the range of the name at the beginning of a record's event.
    @usableFromInline mutating func readRecordStart() throws -> (zone: UInt64, type: UInt64, name: Range<Int>) {
        (
            try readEventZone(), try readVarint("the type of a record event"),
            try readStringRange("a record name", atMost: Envelope.maximumNameBytes)
        )
    }
}
