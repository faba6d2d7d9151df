/// The event of the first write to a database.
package struct DatabaseCreatedEvent: StatedEvent {
    package static let kind = EventKind.databaseCreated
    package static let shownFields = ShownFields<Self> {
        Shown("database", "its ordinal") { $0.database }
    }

    package var database: UInt64
    package var original: Version?

    package init(database: UInt64, original: Version? = nil) {
        self.database = database
        self.original = original
    }

    package func encode(into writer: inout ByteWriter) throws {
        writer.appendVarint(database)
        writer.appendFields(original: original)
    }

    package init(from reader: inout ByteReader) throws {
        database = try reader.readVarint("a database")
        original = try reader.readOriginal()
    }
}
