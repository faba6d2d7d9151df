/// The event that expires the change tokens from before an offset.
package struct TokensExpiredEvent: StatedEvent {
    package static let kind = EventKind.tokensExpired
    package static let shownFields = ShownFields<Self> {
        Shown("offset", "the first offset whose tokens stay valid") { $0.offset }
        Shown("database", "ordinal of the database, 0 for all") { $0.database }
    }

    package var offset: UInt64
    /// The ordinal of the database; 0 for all databases.
    package var database: UInt64
    package var original: Version?

    package init(offset: UInt64, database: UInt64 = 0, original: Version? = nil) {
        self.offset = offset
        self.database = database
        self.original = original
    }

    private static let database: UInt64 = 4

    package func encode(into writer: inout ByteWriter) throws {
        try Self.check(offset)
        writer.appendVarint(offset)
        writer.appendMeasured { writer in
            writer.appendField(CommonField.original, original?.packed ?? 0)
            writer.appendField(Self.database, database)
        }
    }

    package init(from reader: inout ByteReader) throws {
        offset = try reader.readVarint("an offset", atMost: Version.maximumOffset)
        database = 0
        var fields = try KeyedFields(from: &reader, "the fields of an expiry")
        while var field = try fields.next() {
            switch field.key {
            case CommonField.original: original = try field.version()
            case Self.database: database = try field.number("a database")
            default: try field.skip()
            }
        }
    }
}
