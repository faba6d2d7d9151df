/// The event by which a record comes under a hierarchical share, changes there, or no longer belongs to it. Every
/// commit that has such an effect contains the event, so no reader ever follows chains of parents.
package struct SharedRecordEvent: StatedEvent {
    package static let kind = EventKind.sharedRecord
    package static let shownFields = ShownFields<Self> {
        Shown(.zone, after: "") { $0.record.zone }
        Shown(.recordType, after: " / ") { $0.type }
        Shown("record", "name of the record", after: " / ") { $0.record.name }
        Shown(after: "  ") { $0.isGone ? "no longer under" : "under" }
        Shown("share", "number of the share", after: " share ") { $0.share }
        Shown("gone", "true if it no longer belongs to the share") { $0.isGone }
    }

    package var record: RecordKey
    package var type: UInt64
    /// The number of the share.
    package var share: UInt64
    /// True if the record no longer belongs to the share.
    package var isGone: Bool
    package var original: Version?

    package init(
        _ record: RecordKey, type: UInt64, share: UInt64, isGone: Bool = false, original: Version? = nil
    ) {
        self.record = record
        self.type = type
        self.share = share
        self.isGone = isGone
        self.original = original
    }

    private static let end: UInt64 = 4

    package func encode(into writer: inout ByteWriter) throws {
        try writer.appendRecordStart(record, type: type)
        writer.appendVarint(share)
        writer.appendMeasured { writer in
            writer.appendField(CommonField.original, original?.packed ?? 0)
            writer.appendField(Self.end, isGone ? 1 : 0)
        }
    }

    package init(from reader: inout ByteReader) throws {
        let zone = try reader.readEventZone()
        type = try reader.readVarint("the type of a record event")
        record = RecordKey(zone: zone, name: try reader.readName("a record name"))
        (share, isGone, original) = try Self.readRest(from: &reader)
    }

    /// Returns the share that the record belongs to after the event; nil if it left the share. Skips the rest.
    package static func share(from reader: inout ByteReader) throws -> UInt64? {
        _ = try reader.readRecordStart()
        let (share, isGone, _) = try readRest(from: &reader)
        return isGone ? nil : share
    }

    /// Returns the parts of an encoded event that feeds read of every change: the record's zone, the range of its name,
    /// and if it no longer belongs to the share.
    package static func look(
        at event: UnsafeRawBufferPointer
    ) throws -> (zone: UInt64, name: Range<Int>, isGone: Bool) {
        var reader = ByteReader(event)
        let (zone, _, name) = try reader.readRecordStart()
        return (zone, name, try readRest(from: &reader).isGone)
    }

    private static func readRest(
        from reader: inout ByteReader
    ) throws -> (share: UInt64, isGone: Bool, original: Version?) {
        let share = try reader.readVarint("a share")
        var (isGone, original) = (false, Version?.none)
        var fields = try KeyedFields(from: &reader, "the fields of a shared record")
        while var field = try fields.next() {
            switch field.key {
            case CommonField.original: original = try field.version()
            case end: isGone = try field.number("the end of a shared record", atMost: 1) == 1
            default: try field.skip()
            }
        }
        return (share, isGone, original)
    }
}
