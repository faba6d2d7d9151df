/// That a record is no more. It begins as every event of a record does.
public struct RecordDeletedEvent: EventBody {
    public static let kind = EventKind.recordDeleted

    public var record: RecordKey
    public var type: UInt64
    /// The version that ended.
    public var previous: Version?
    /// Whether it went with another record, rather than being asked for.
    public var isCascade: Bool

    public init(_ record: RecordKey, type: UInt64, previous: Version?, isCascade: Bool = false) {
        self.record = record
        self.type = type
        self.previous = previous
        self.isCascade = isCascade
    }

    private static let cascade: UInt64 = 5

    public func encode(into writer: inout ByteWriter) throws {
        try writer.appendRecordEnd(record, type: type, previous: previous)
        writer.appendMeasured { $0.appendField(Self.cascade, isCascade ? 1 : 0) }
    }

    public init(from reader: inout ByteReader) throws {
        (record, type, previous) = try reader.readRecordEnd()
        isCascade = false
        var fields = try KeyedFields(from: &reader, "the fields of a deletion")
        while var field = try fields.next() {
            guard field.key == Self.cascade else {
                try field.skip()
                continue
            }
            isCascade = try field.number("the cascade mark", atMost: 1) == 1
        }
    }
}

/// How events begin that end a record: as every event of one does, and with the version that ended.
extension ByteWriter {
    mutating func appendRecordEnd(_ record: RecordKey, type: UInt64, previous: Version?) throws {
        try StrataError.checkName(record.name, "a record name's bytes")
        appendVarint(record.zone)
        appendVarint(type)
        appendString(record.name)
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
