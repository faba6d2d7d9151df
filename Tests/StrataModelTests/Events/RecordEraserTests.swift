import Testing

@testable import StrataModel

@Suite("What is taken away of records that are erased")
struct RecordEraserTests {
    private static let record = RecordKey(zone: 7, name: "card")

    /// Of the zone People in anna's private database; she is user 2.
    private let eraser = RecordEraser([
        .init(
            record, zone: "People", in: DatabaseID(.private, owner: "anna"), ownerOrdinal: 2, ownerNames: ["_alias"],
            through: 100)
    ])
    private let publicEraser = RecordEraser([
        .init(record, zone: "People", in: DatabaseID(.public), ownerOrdinal: 0, through: 100)
    ])

    private func payload(_ body: some EventBody, by user: UInt64) throws -> ArraySlice<UInt8> {
        Envelope(header: .init(user: user), events: [try body.event()]).encoded()[...]
    }

    private func isChanged(_ eraser: RecordEraser, _ body: some EventBody, by user: UInt64) throws -> Bool {
        try eraser.erased(try payload(body, by: user), at: 50) != nil
    }

    /// A request that was refused, or came to nothing, and saved a field into a record.
    private func noted(_ name: String, zone: ZoneID, in database: DatabaseID) throws -> NothingToDeleteEvent {
        var names = RequestNames()
        let key = RecordKey(zone: names.ordinal(of: zone), name: name)
        let save = ModifyRecordsRequest.Save(
            key, type: names.ordinal(ofType: "Card"), parent: .set(RecordKey(zone: key.zone, name: "parent")))
        let request = Request(
            database: database, names: names, .modifyRecords(ModifyRecordsRequest(saves: [save], policy: .allKeys)))
        return NothingToDeleteEvent(count: 1, request: try request.encoded())
    }

    @Test("A noted request that names the record, whichever way it writes the owner; and no other")
    func owners() throws {
        let people = ZoneID("People")
        #expect(try isChanged(eraser, noted("card", zone: people, in: DatabaseID(.private)), by: 2))
        for database in [DatabaseID(.private), DatabaseID(.shared)] {
            for owner in ["anna", "_alias"] {
                let zone = ZoneID("People", owner: owner)
                #expect(try isChanged(eraser, noted("card", zone: zone, in: database), by: 3), "\(database) \(owner)")
                #expect(try !isChanged(publicEraser, noted("card", zone: zone, in: database), by: 3))
            }
        }
        for owner in ["anna", "_alias"] {
            let database = DatabaseID(.private, owner: owner)
            #expect(try isChanged(eraser, noted("card", zone: people, in: database), by: 3))
        }
        #expect(try isChanged(publicEraser, noted("card", zone: people, in: DatabaseID(.public)), by: 3))
        // Somebody else's record of that name, and others.
        #expect(try !isChanged(eraser, noted("card", zone: people, in: DatabaseID(.private)), by: 3))
        #expect(try !isChanged(eraser, noted("card", zone: people, in: DatabaseID(.public)), by: 2))
        #expect(try !isChanged(eraser, noted("cards", zone: people, in: DatabaseID(.private)), by: 2))
        #expect(try !isChanged(eraser, noted("card", zone: ZoneID("Other"), in: DatabaseID(.private)), by: 2))
    }

    // MARK: Every kind of event

    private static let secret = "confidential"

    /// Events that hold a value of the record, one of each kind that can.
    private static func valueEvents() throws -> [EventKind: any EventBody] {
        var names = RequestNames()
        let key = RecordKey(zone: names.ordinal(of: ZoneID("People", owner: "anna")), name: record.name)
        let save = ModifyRecordsRequest.Save(
            key, type: names.ordinal(ofType: "Card"),
            fields: [FieldChange(names.ordinal(ofKey: "title"), .string(secret))])
        let request = try Request(
            database: DatabaseID(.shared), names: names,
            .modifyRecords(ModifyRecordsRequest(saves: [save], policy: .allKeys))
        ).encoded()
        return [
            .recordSaved: RecordSavedEvent(.create, record, type: 1, fields: [.init(1, .string(secret))]),
            .requestRefused: RequestRefusedEvent(code: 26, request: request),
            .nothingToDelete: NothingToDeleteEvent(count: 1, request: request),
        ]
    }

    /// The kinds that never hold a value of a record. A new kind belongs here, or to the events that do.
    private static let kindsWithoutValues: Set<EventKind> = [
        .nameInterned, .databaseCreated, .recordDeleted, .recordErased, .zoneSaved, .zoneDeleted, .subscriptionSaved,
        .subscriptionDeleted, .schemaChanged, .userChanged, .deviceSeen, .clientTokenKept, .longLivedOperation,
        .shareSaved, .memberChanged, .sharedRecord, .keyChanged, .baseMarker, .continuation, .tokensExpired,
        .userRecordNamed, .secretDrawn, .rulesStated, .fetched, .notificationDelivered, .consoleActed,
    ]

    @Test("Of every kind of event either no value is left, or it never had one", arguments: EventKind.known.map(\.kind))
    func kinds(_ kind: EventKind) throws {
        let isListed = Self.kindsWithoutValues.contains(kind)
        guard let event = try Self.valueEvents()[kind] else {
            try #require(isListed, "\(kind) is not known to hold values or not")
            for sample in EventSamples.all where type(of: sample.body).kind == kind {
                #expect(try !isChanged(eraser, sample.body, by: 2))
            }
            return
        }
        #expect(!isListed)
        let payload = try self.payload(event, by: 3)
        #expect(Array(payload).contains(Array(Self.secret.utf8)))
        let erased = try #require(try eraser.erased(payload, at: 50))
        #expect(!erased.contains(Array(Self.secret.utf8)))
    }
}
