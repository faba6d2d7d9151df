/// An audit event of a device's read request and its result.
package struct FetchedEvent: EventBody {
    package static let kind = EventKind.fetched
    package static let shownFields = ShownFields<Self> {
        Shown("question", "`records`, `query`, `database changes` or `zone changes`", after: "") { $0.question.name }
        Shown("scope", "`public`, `private` or `shared`", after: " of ") { $0.database.scope.name }
        Shown("ownerName", "name of the database's user, empty for the public one", after: " of ") { $0.database.owner }
        Shown("answeredAt", "offset of the state from which the request was answered") { $0.offset }
        Shown("results", "how many results there were, in a feed including deletions") { $0.resultCount }
        Shown("moreComing", "true if there were more results") { $0.moreComing }
        Shown("zoneName", "of the zone whose changes were requested", if: "if there was one", after: ", zone ") {
            $0.zone?.name
        }
        Shown("records", "the records that were requested", if: "of records", after: ", records ") {
            (try? $0.ids()).flatMap { $0.isEmpty ? nil : $0 }
        }
        Shown("desiredKeys", "the requested keys, with spaces", if: "if not all") {
            $0.desiredKeys?.joined(separator: " ")
        }
        Shown(after: ", keys ") { $0.desiredKeys?.joined(separator: ", ") }
        Shown(after: ", at ") { "\($0.offset): \($0.resultCount) \($0.resultCount == 1 ? "result" : "results")" }
        Shown(after: ", more coming") { $0.moreComing }
        Shown("query", "the query, encoded as in a cursor, in hexadecimal", if: "of a query") {
            $0.query.map(hexadecimal(of:))
        }
        Shown("continued", "true: a page other than the first", if: "of a query, if so") { $0.isContinued ? true : nil }
        Shown("givenToken", "the token in the request, in hexadecimal", if: "if there was one") {
            $0.givenToken.map(hexadecimal(of:))
        }
        Shown("returnedToken", "the change token that was returned", if: "if there was one") {
            $0.returnedToken.map(hexadecimal(of:))
        }
    }
    /// The maximum bytes of a part; larger parts are left out.
    package static let maximumPartBytes = 256 << 10

    package enum Question: UInt8, Sendable, CaseIterable {
        case records = 1, query, databaseChanges, zoneChanges

        var name: String { words(of: self) }
    }

    package var question: Question
    package var database: DatabaseID
    /// The offset of the state that answered.
    package var offset: UInt64
    /// The number of records found; for a feed, the number of changes and deletions.
    package var resultCount: UInt64
    /// The requested records, each encoded as the owner and name of its zone and its own name; see ``ids()``.
    package private(set) var encodedIDs: [UInt8]?
    /// The zone whose changes were requested.
    package var zone: ZoneID?
    /// The query, in the encoding of its own module. Cursors are not kept, since they contain values of the last match.
    package var query: [UInt8]?
    /// True for a page of a query after the first.
    package var isContinued = false
    /// The encoded change token of the request; ``returnedToken`` is that of the response.
    package var givenToken: [UInt8]?
    package var returnedToken: [UInt8]?
    package var moreComing = false
    /// The requested keys; nil for all.
    package var desiredKeys: [String]?

    package init(
        _ question: Question, in database: DatabaseID, at offset: UInt64, resultCount: Int, ids: [RecordID] = []
    ) {
        self.question = question
        self.database = database
        self.offset = offset
        self.resultCount = UInt64(resultCount)
        guard !ids.isEmpty else { return }
        var writer = ByteWriter(reserving: 32 * ids.count)
        writer.appendVarint(UInt64(ids.count))
        for id in ids {
            writer.appendString(id.zone.owner)
            writer.appendString(id.zone.name)
            writer.appendString(id.name)
            if writer.bytes.count > Self.maximumPartBytes { return }
        }
        encodedIDs = writer.bytes
    }

    /// Returns the requested records; empty if there were too many to keep.
    package func ids() throws -> [RecordID] {
        try (encodedIDs ?? []).withUnsafeBytes { bytes in
            guard bytes.count > 0 else { return [] }
            var reader = ByteReader(bytes)
            let ids = try reader.readList("the number of records") { reader in
                let owner = try reader.readString("an owner", atMost: Self.maximumPartBytes)
                let zone = try reader.readString("a zone", atMost: Self.maximumPartBytes)
                let name = try reader.readString("a record's name", atMost: Self.maximumPartBytes)
                return RecordID(name, zone: ZoneID(zone, owner: owner))
            }
            try reader.expectEnd("the records")
            return ids
        }
    }

    private enum Key {
        static let ids: UInt64 = 5
        static let zone: UInt64 = 7
        static let query: UInt64 = 9
        static let givenToken: UInt64 = 11
        static let returnedToken: UInt64 = 13
        static let moreComing: UInt64 = 15
        static let desiredKeys: UInt64 = 17
        static let isContinued: UInt64 = 19
    }

    package func encode(into writer: inout ByteWriter) throws {
        func part(_ bytes: [UInt8]?) -> [UInt8]? { bytes.flatMap { $0.count > Self.maximumPartBytes ? nil : $0 } }
        writer.append(question.rawValue)
        try StrataError.checkName(database.owner, "a name's bytes")
        writer.append(database)
        writer.appendVarint(offset)
        writer.appendVarint(resultCount)
        try writer.appendMeasured { writer in
            writer.appendField(Key.ids, bytes: encodedIDs)
            if let zone {
                try writer.appendField(Key.zone) { writer in
                    try writer.append(name: zone.owner)
                    try writer.append(name: zone.name)
                }
            }
            writer.appendField(Key.query, bytes: part(query))
            writer.appendField(Key.givenToken, bytes: part(givenToken))
            writer.appendField(Key.returnedToken, bytes: part(returnedToken))
            writer.appendField(Key.moreComing, moreComing ? 1 : 0)
            if let desiredKeys {
                try writer.appendField(Key.desiredKeys) { writer in
                    try writer.appendList(desiredKeys) { try $1.append(name: $0) }
                }
            }
            writer.appendField(Key.isContinued, isContinued ? 1 : 0)
        }
    }

    package init(from reader: inout ByteReader) throws {
        let question: Question = try reader.readNumbered("the kind of a fetch")
        let database = try reader.readDatabaseID()
        let offset = try reader.readVarint("an offset", atMost: Version.maximumOffset)
        self.init(question, in: database, at: offset, resultCount: 0)
        resultCount = try reader.readVarint("the number of results")
        var fields = try KeyedFields(from: &reader, "the fields of a fetch")
        while var field = try fields.next() {
            switch field.key {
            case Key.ids:
                encodedIDs = try field.bytes("records", atMost: Self.maximumPartBytes + Envelope.maximumNameBytes)
                _ = try ids()
            case Key.zone:
                let owner = try field.value.readName("a zone's owner")
                zone = ZoneID(try field.value.readName("a zone's name"), owner: owner)
                try field.value.expectEnd("a zone")
            case Key.query: query = try field.bytes("a query", atMost: Self.maximumPartBytes)
            case Key.givenToken: givenToken = try field.bytes("a token", atMost: Self.maximumPartBytes)
            case Key.returnedToken: returnedToken = try field.bytes("a token", atMost: Self.maximumPartBytes)
            case Key.moreComing: moreComing = try field.number("the more-coming mark of a fetch", atMost: 1) == 1
            case Key.desiredKeys:
                desiredKeys = try field.value.readList("the number of keys") { try $0.readName("a key") }
                try field.value.expectEnd("the keys")
            case Key.isContinued: isContinued = try field.number("the continuation mark of a query", atMost: 1) == 1
            default: try field.skip()
            }
        }
    }
}

extension RecordID: Described {
    package static let title = "A requested record"
    package static let shownFields = ShownFields<Self> {
        Shown("ownerName", "of its zone") { $0.zone.owner }
        Shown("zoneName", "of its zone", after: "") { $0.zone.name }
        Shown("record", "its name", after: "/") { $0.name }
    }
}
