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
        try StrataError.checkName(record.name, "a record name's bytes")
        writer.appendVarint(record.zone)
        writer.appendVarint(type)
        writer.appendString(record.name)
        writer.appendVersion(previous)
        writer.appendMeasured { $0.appendField(Self.cascade, isCascade ? 1 : 0) }
    }

    public init(from reader: inout ByteReader) throws {
        let zone = try reader.readVarint("the zone of an event")
        type = try reader.readVarint("the type of a record event")
        let name = try reader.readString("a record name", atMost: Envelope.maximumNameBytes)
        record = RecordKey(zone: zone, name: name)
        previous = try reader.readVersion("the previous version")
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
