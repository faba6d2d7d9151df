import StrataModel

/// What something sealed belongs to: it opens there and nowhere else, with the key of the user whose it is.
public struct SealedPlace: Sendable {
    private enum Kind {
        static let field: UInt8 = 1
        static let document: UInt8 = 2
    }

    /// Whose key seals it.
    let user: String
    /// The cipher's associated data (docs/format.md §23).
    let bytes: [UInt8]
    /// For an error.
    let text: String

    /// A field of a record.
    ///
    /// - Parameter database: its owner is named, however it was asked for.
    init(_ key: String, of record: RecordID, in database: DatabaseID) {
        user = database.owner
        text = "key '\(key)' of record '\(record.name)'"
        var writer = ByteWriter(reserving: 64)
        writer.append(Kind.field)
        writer.append(database)
        writer.appendString(record.zone.name)
        writer.appendString(record.name)
        writer.appendString(key)
        bytes = writer.bytes
    }

    /// Bytes that are kept for a user outside of the log, under a name of their own.
    ///
    /// ```swift
    /// SealedPlace(document: "operation 4711", of: "anna")
    /// ```
    public init(document name: String, of user: String) {
        self.user = user
        text = name
        var writer = ByteWriter(reserving: 64)
        writer.append(Kind.document)
        writer.appendString(user)
        writer.appendString(name)
        bytes = writer.bytes
    }
}
