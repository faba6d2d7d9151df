/// The event that names the record of a new user (docs/rules.md §1).
package struct UserRecordNamedEvent: StatedEvent {
    package static let kind = EventKind.userRecordNamed
    package static let shownFields = ShownFields<Self> {
        Shown(.user) { $0.user }
        Shown("recordName", "name of the user's record", after: "") { $0.recordName }
        Shown(after: " of ", .user) { $0.user }
    }

    package var user: UInt64
    package var recordName: String
    package var original: Version?

    package init(user: UInt64, recordName: String, original: Version? = nil) {
        self.user = user
        self.recordName = recordName
        self.original = original
    }

    package func encode(into writer: inout ByteWriter) throws {
        writer.appendVarint(user)
        writer.appendString(recordName)
        writer.appendFields(original: original)
    }

    package init(from reader: inout ByteReader) throws {
        user = try reader.readVarint("a user")
        recordName = try reader.readString("the name of a user's record", atMost: Envelope.maximumNameBytes)
        original = try reader.readOriginal()
    }
}
