import StrataModel

/// The place of sealed bytes, which open nowhere else, and only with the key of the place's user.
package struct SealedPlace: Sendable {
    private enum Kind {
        static let field: UInt8 = 1
        static let document: UInt8 = 2
    }

    /// The user whose key seals the bytes.
    let user: String
    /// The cipher's associated data (docs/format.md §23).
    let bytes: [UInt8]
    /// A description for errors.
    let text: String

    /// Creates the place of a field of a record.
    ///
    /// - Parameter database: the database with the name of its owner, however it was requested.
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

    /// Creates the place of bytes that are kept for a user outside the log, under a name of their own.
    ///
    /// ```swift
    /// SealedPlace(document: "operation 4711", of: "anna")
    /// ```
    package init(document name: String, of user: String) {
        self.user = user
        text = name
        var writer = ByteWriter(reserving: 64)
        writer.append(Kind.document)
        writer.appendString(user)
        writer.appendString(name)
        bytes = writer.bytes
    }
}
