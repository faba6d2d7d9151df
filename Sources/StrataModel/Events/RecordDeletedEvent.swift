/// The event that deletes a record. It begins like every event of a record.
package struct RecordDeletedEvent: EventBody {
    package static let kind = EventKind.recordDeleted
    package static let shownFields = ShownFields<Self> {
        Shown(.zone, after: "") { $0.record.zone }
        Shown(.recordType, after: " / ") { $0.type }
        Shown("record", "name of the record", after: " / ") { $0.record.name }
        Shown("previous", "of the previous version", if: "if there is one", after: "  of ") { $0.previous }
        Shown("cascade", "true if the record was deleted together with another one", after: ", cascade") {
            $0.isCascade
        }
    }

    package var record: RecordKey
    package var type: UInt64
    /// The version that the event ends.
    package var previous: Version?
    /// True if the record was deleted along with another one, rather than by request.
    package var isCascade: Bool

    package init(_ record: RecordKey, type: UInt64, previous: Version?, isCascade: Bool = false) {
        self.record = record
        self.type = type
        self.previous = previous
        self.isCascade = isCascade
    }

    private static let cascade: UInt64 = 5

    package func encode(into writer: inout ByteWriter) throws {
        try writer.appendRecordEnd(record, type: type, previous: previous)
        writer.appendMeasured { $0.appendField(Self.cascade, isCascade ? 1 : 0) }
    }

    package init(from reader: inout ByteReader) throws {
        (record, type, previous) = try reader.readRecordEnd()
        isCascade = false
        var fields = try KeyedFields(from: &reader, "the fields of a deletion")
        try fields.read(only: Self.cascade) { isCascade = try $0.number("the cascade mark", atMost: 1) == 1 }
    }
}

/// Encodes the common beginning of events that end a record: that of every record event, then the ended version.
extension ByteWriter {
    mutating func appendRecordEnd(_ record: RecordKey, type: UInt64, previous: Version?) throws {
        try appendRecordStart(record, type: type)
        appendVersion(previous)
    }
}

extension ByteReader {
    mutating func readRecordEnd() throws -> (record: RecordKey, type: UInt64, previous: Version?) {
        let zone = try readEventZone()
        let type = try readVarint("the type of a record event")
        let name = try readString("a record name", atMost: Envelope.maximumNameBytes)
        return (RecordKey(zone: zone, name: name), type, try readVersion("the previous version"))
    }
}
