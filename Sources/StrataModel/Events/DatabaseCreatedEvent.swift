/// The event of the first write to a database.
public struct DatabaseCreatedEvent: StatedEvent {
    public static let kind = EventKind.databaseCreated

    public var database: UInt64
    public var original: Version?

    public init(database: UInt64, original: Version? = nil) {
        self.database = database
        self.original = original
    }

    public func encode(into writer: inout ByteWriter) throws {
        writer.appendVarint(database)
        writer.appendFields(original: original)
    }

    public init(from reader: inout ByteReader) throws {
        database = try reader.readVarint("a database")
        original = try reader.readOriginal()
    }
}
