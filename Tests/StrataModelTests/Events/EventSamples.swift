import StrataModel

/// An event of every kind that has a body, with bytes that must never change.
enum EventSamples {
    private static let life = Version(offset: 4, eventIndex: 1)
    private static let person = {
        var person = Person()
        person.givenName = "Ann"
        (person.emails, person.phones, person.roles) = (["a@b.c"], ["1", "12"], ["R"])
        person.discoverability = .denied
        return person
    }()

    static let all: [(body: any EventBody, bytes: String)] =
        RecordEventTests.golden.map { ($0.event, $0.body) } + [
            (
                RecordDeletedEvent(RecordKey(zone: 2, name: "n"), type: 1, previous: life, isCascade: true),
                "02 01 01 6e 81808002 03 050101"
            ),
            (
                RecordErasedEvent(RecordKey(zone: 2, name: "n"), type: 1, previous: life, reason: "hi"),
                "02 01 01 6e 81808002 04 0502 6869"
            ),
            (RecordErasedEvent(RecordKey(zone: 2, name: "n"), type: 1, previous: nil), "02 01 01 6e 00 00"),
            (DatabaseCreatedEvent(database: 3), "03 00"),
            (DatabaseCreatedEvent(database: 3, original: life), "03 06 0204 81808002"),
            (ZoneSavedEvent(zone: 5, database: 3, capabilities: [.fetchChanges, .atomic]), "05 03 00 03 00"),
            (
                ZoneSavedEvent(
                    zone: 5, database: 3, incarnation: life, encryptionScope: .zone,
                    share: RecordKey(zone: 5, name: "s"), original: life),
                "05 03 81808002 00 0d 0204 81808002 040101 0602 0573"
            ),
            (
                ZoneSavedEvent(zone: 5, database: 3, incarnation: life, original: life, lastChanged: 300),
                "05 03 81808002 00 0a 0204 81808002 0802 ac02"
            ),
            (
                ZoneDeletedEvent(zone: 5, database: 3, incarnation: life, reason: .encryptedDataReset),
                "05 03 81808002 03 00"
            ),
            (
                ZoneDeletedEvent(zone: 5, database: 3, incarnation: life, reason: .purged, original: life),
                "05 03 81808002 02 06 0204 81808002"
            ),
            (SubscriptionSavedEvent(database: 3, user: 1, Subscription("s", .database)), "03 01 01 73 03"),
            (SubscriptionSavedEvent(database: 3, user: 1, query, original: life), queryBytes),
            (SubscriptionDeletedEvent(database: 3, user: 1, id: "s"), "03 01 01 73 00"),
            (
                SubscriptionDeletedEvent(database: 3, user: 1, id: "s", firedBy: life),
                "03 01 01 73 06 0504 81808002"
            ),
            (
                ShareSavedEvent(
                    share: 3, record: RecordKey(zone: 2, name: "S"), root: "r", publicPermission: .readOnly,
                    urlToken: "abc", oneTimeTokens: [.init("xy", of: "p")], original: life),
                "03 02 01 53 03 616263 14 0204 81808002 0401 72 0601 02 0806 01 02 7879 01 70"
            ),
            (
                ShareSavedEvent(
                    share: 3, record: RecordKey(zone: 2, name: "S"), root: nil, urlToken: "", isEnded: true),
                "03 02 01 53 00 03 0a0101"
            ),
            (
                MemberChangedEvent(
                    user: 1, share: 3, zone: 2, permission: .readWrite, role: .privateUser, joined: life, ended: life,
                    isGone: true, original: life),
                "01 03 02 03 03 15 0204 81808002 0404 81808002 060101 0804 81808002"
            ),
            (
                MemberChangedEvent(user: 1, share: 3, zone: 2, permission: .none, role: .administrator),
                "01 03 02 01 02 00"
            ),
            (SharedRecordEvent(RecordKey(zone: 2, name: "n"), type: 1, share: 3), "02 01 01 6e 03 00"),
            (
                SharedRecordEvent(RecordKey(zone: 2, name: "n"), type: 1, share: 3, isGone: true, original: life),
                "02 01 01 6e 03 09 0204 81808002 040101"
            ),
            (NotificationDeliveredEvent(device: 2, through: 300, badge: 1), "02 ac02 01 00"),
            (NotificationDeliveredEvent(device: 2, through: 3, original: life), "02 03 00 06 0204 81808002"),
            (
                SchemaChangedEvent(
                    type: 2,
                    fields: [
                        SchemaField(1, .string, indexes: [.queryable, .searchable]),
                        SchemaField(300, FieldKind.int64.list, isEncrypted: true),
                    ]), "02 02 01 01 05 ac02 c2 00 00"
            ),
            (
                SchemaChangedEvent(
                    type: 2, fields: [],
                    grants: [SchemaGrant("_world", .read), SchemaGrant("Editors", [.create, .write])], original: life),
                "02 00 1a 0204 81808002 0512 02 01 06 5f776f726c64 06 07 456469746f7273"
            ),
            (UserChangedEvent(user: 1, status: .couldNotDetermine), "01 00"),
            (UserChangedEvent(user: 1, quota: 300, original: life), "01 0d 0204 81808002 040101 0602 ac02"),
            (
                UserChangedEvent(user: 1, person: person),
                "01 23 040101 081e 0403 416e6e 1007 01 05 6140622e63 1206 02 0131 023132 1403 01 0152 160102"
            ),
            (DeviceSeenEvent(device: 2), "02 00"), (UserRecordNamedEvent(user: 2, recordName: "_a"), "02 02 5f61 00"),
            (UserRecordNamedEvent(user: 300, recordName: "_b", original: life), "ac02 02 5f62 06 0204 81808002"),
            (ClientTokenEvent(zone: 5, device: 2, token: [1, 0xFF]), "05 02 02 01ff 00"),
            (
                BaseMarkerEvent(
                    horizon: Position(offset: 300, chain: 0x0102_0304), stateDigest: 1, contentDigest: 2),
                "ac02 04030201 01000000000000000000000000000000 02000000000000000000000000000000 00"
            ),
            (
                BaseMarkerEvent(
                    horizon: Position(offset: 1, chain: 0), stateDigest: 0, contentDigest: 0, payloadCount: 300,
                    payloadHash: 0x0102),
                "01 00000000 00000000000000000000000000000000 00000000000000000000000000000000"
                    + "16 0202ac02 0410 02010000000000000000000000000000"
            ),
            (TokensExpiredEvent(offset: 300), "ac02 00"), (TokensExpiredEvent(offset: 1, database: 3), "01 03 040103"),
            (TokensExpiredEvent(offset: 1, database: 3, original: life), "01 09 0204 81808002 040103"),
            (
                SecretDrawnEvent(number: 1, secret: Array(1...32)),
                "01 0102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f20 00"
            ),
            (
                SecretDrawnEvent(number: 300, secret: Array(repeating: 0xAB, count: 32), original: life),
                "ac02 " + String(repeating: "ab", count: 32) + " 06 0204 81808002"
            ),
            (RulesStatedEvent(limits, []), "01 02 03 04 05 06 00 00"),
            (
                RulesStatedEvent(limits, [.touchesParents, .extendsPredicates], original: life),
                "01 02 03 04 05 06 09 06 0204 81808002"
            ),
            (ConsoleActedEvent(ConsoleNote("hi")), "00 00 02 6869 00"),
            (ConsoleActedEvent(ConsoleNote("", user: "anna", device: "mac")), "04 616e6e61 03 6d6163 00 00"),
            (NothingToDeleteEvent(count: 2, request: [7]), "02 03 050107"),
            (withoutRequest, "02 03 070101"),
            (FetchedEvent(.databaseChanges, in: DatabaseID(.shared), at: 300, resultCount: 1), "03 03 00 ac02 01 00"),
            (fetched, fetchedBytes),
            (RequestRefusedEvent(code: 26), "1a 00"),
            (
                RequestRefusedEvent(
                    code: 2, message: "no", request: [1, 2],
                    culprits: [
                        .init(.saves, index: 300, code: 14, version: life), .init(.deletes, index: 0, code: 22),
                    ]),
                "02 16 05026e6f 07020102 0b0c 00ac020e81808002 01001600"
            ),
        ]

    private static let limits = RulesStatedEvent.Limits(
        itemsPerRequest: 1, requestBytes: 2, recordBytes: 3, owningReferences: 4, movedRecords: 5, assetBytes: 6)

    private static let withoutRequest: NothingToDeleteEvent = {
        var event = NothingToDeleteEvent(count: 2, request: [7])
        event.kept.drop()
        return event
    }()

    private static let fetched: FetchedEvent = {
        var event = FetchedEvent(
            .zoneChanges, in: DatabaseID(.private, owner: "bo"), at: 1, resultCount: 2,
            ids: [RecordID("n", zone: ZoneID("Z"))])
        event.zone = ZoneID("Z", owner: "bo")
        (event.query, event.givenToken, event.returnedToken) = ([1], [2], [3])
        (event.moreComing, event.isContinued) = (true, true)
        event.desiredKeys = ["a"]
        return event
    }()

    private static let fetchedBytes = """
        04 02 02626f 01 02 23 0506 01 00 015a 016e 0705 02626f 015a 090101 0b0102 0d0103 0f0101 1103 01 0161 130101
        """

    static let query: Subscription = {
        var info = NotificationInfo()
        info.alertBody = "Zoë"
        info.collapseIDKey = ""
        info.desiredKeys = ["a", "b"]
        info.shouldBadge = true
        return Subscription(
            "s", .query, zone: 5, recordType: 2, predicate: "a = 1", options: [.creation, .once],
            notification: info)
    }()

    private static let queryBytes = """
        03 01 01 73 01 0204 81808002 040105 060102 0805 61203d2031 0a0109
        0d12 03045a6fc3ab 1700 2705 0201610162 310101
        """

    static var requests: [(request: Request, bytes: String)] {
        var names = RequestNames()
        let zone = names.ordinal(of: ZoneID("Notes", owner: "anna"))
        let type = names.ordinal(ofType: "Note")
        let key = names.ordinal(ofKey: "title")
        let save = ModifyRecordsRequest.Save(
            RecordKey(zone: zone, name: "n"), type: type, base: life, parent: .removed,
            share: .set(RecordKey(zone: zone, name: "s")), fields: [FieldChange(key, .string("x"))])
        let records = ModifyRecordsRequest(
            saves: [save], deletes: [RecordKey(zone: zone, name: "m")], policy: .allKeys, clientToken: [7])
        let tables = "01 04616e6e61 054e6f746573 01 044e6f7465 01 057469746c65"
        return [
            (
                Request(database: DatabaseID(.private), names: names, .modifyRecords(records)),
                "01 01 02 00 \(tables) 06 01 17 01 01 016e 0c 0204 81808002 0400 06020173 01 11 01 02 0178"
                    + "01 01016d 020107"
            ),
            (
                Request(
                    database: DatabaseID(.shared, owner: "bo"), names: names,
                    .modifyZones(
                        ModifyZonesRequest(saves: [.init(1), .init(2, encryptionScope: .zone)], deletes: [300]))),
                "01 02 03 02626f \(tables) 02 0100 0201 01 ac02"
            ),
            (
                Request(
                    database: DatabaseID(.public),
                    .modifySubscriptions(
                        ModifySubscriptionsRequest(saves: [Subscription("s", .recordZone, zone: 1)], deletes: ["t"]))),
                "01 03 01 00 00 00 00 01 06 0173 02 040101 01 0174"
            ),
            (
                SchemaDefinition(recordTypes: [
                    .init(
                        "Note",
                        fields: [
                            .init("title", .string, indexes: [.queryable, .searchable]),
                            .init("secret", FieldKind.string.list, isEncrypted: true),
                        ], grants: [SchemaGrant("_icloud", .all)])
                ]).request,
                "01 05 01 00 00 01 044e6f7465 02 057469746c65 06736563726574 00 01 01 02 010105 02c100"
                    + "01 07 075f69636c6f7564 00"
            ),
            (
                Request(
                    database: DatabaseID(.private, owner: "bo"),
                    .administer(.setPerson(Person(), user: "bo", recordName: "_a"))),
                "01 04 02 02626f 00 00 00 08 02626f 00 04 0202 5f61"
            ),
        ] + administering
    }

    private static let administering: [(request: Request, bytes: String)] = [
        (.purgeZone(300), "01 ac02"), (.resetEncryptedData, "02"),
        (.setAccountStatus(.temporarilyUnavailable, user: "bo"), "03 02626f 04"),
        (.setQuota(bytes: 300, user: "bo"), "04 02626f ac02"), (.expireTokens(before: 300, inAll: true), "05 ac02 01"),
        (.expireTokens(before: 0, inAll: false), "05 00 00"),
        (.note(ConsoleNote("hi", user: "bo", device: "mac")), "06 02626f 036d6163 026869"),
        (
            .eraseRecords([RecordToErase(RecordKey(zone: 1, name: "n"), type: 300)], reason: "hi"),
            "07 01 01 ac02 016e 026869"
        ),
        (.setRole("Ed", users: ["bo"]), "0a 024564 01 02626f"),
    ].map { body, bytes in
        (
            Request(database: DatabaseID(.private, owner: "bo"), .administer(body)),
            "01 04 02 02626f 00 00 00 \(bytes) 00"
        )
    }
}
