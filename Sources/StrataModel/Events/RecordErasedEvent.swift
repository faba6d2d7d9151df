/// The event that erases a record's values from its entire history. It begins like every event of a record, and ends
/// the record if it exists.
package struct RecordErasedEvent: EventBody {
    package static let kind = EventKind.recordErased
    package static let shownFields = ShownFields<Self> {
        Shown(.zone, after: "") { $0.record.zone }
        Shown(.recordType, after: " / ") { $0.type }
        Shown("record", "name of the record", after: " / ") { $0.record.name }
        Shown("previous", "of the previous version", if: "if there is one", after: "  of ") { $0.previous }
        Shown("reason", "the given reason", if: "if there is one", after: ": ") { $0.reason.isEmpty ? nil : $0.reason }
    }
    package static let maximumReasonBytes = 4_096

    package var record: RecordKey
    package var type: UInt64
    /// The version that the event ends; nil if the record did not exist.
    package var previous: Version?
    package var reason: String

    package init(_ record: RecordKey, type: UInt64, previous: Version?, reason: String = "") {
        self.record = record
        self.type = type
        self.previous = previous
        self.reason = reason
    }

    private static let reason: UInt64 = 5

    package func encode(into writer: inout ByteWriter) throws {
        try StrataError.check("a reason's bytes", count: reason.utf8.count, atMost: Self.maximumReasonBytes)
        try writer.appendRecordEnd(record, type: type, previous: previous)
        writer.appendMeasured { $0.appendField(Self.reason, text: reason.isEmpty ? nil : reason) }
    }

    package init(from reader: inout ByteReader) throws {
        (record, type, previous) = try reader.readRecordEnd()
        reason = ""
        var fields = try KeyedFields(from: &reader, "the fields of an erasure")
        try fields.read(only: Self.reason) { field in
            reason = try field.text("a reason", atMost: Self.maximumReasonBytes)
            guard !reason.isEmpty else { throw field.value.malformed("a reason", expected: "left out when empty") }
        }
    }
}
