import Foundation
import StrataModel
import StrataStore
import Testing

@testable import StrataTool

/// Every line is one object whose keys are those that docs/reference/json.md promises.
@Suite struct JSONSchemaTests {
    private static func objects(_ output: String) throws -> [[String: Any]] {
        try output.split(separator: "\n").map { line in
            try #require(try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any])
        }
    }

    private func varied() throws -> StoreFixture {
        let fixture = try StoreFixture.small()
        try fixture.open()
        try fixture.append([9])
        let version = Version(offset: 2, eventIndex: 0)
        let update = RecordSavedEvent(
            .update, RecordKey(zone: 1, name: "note-1"), type: 1, previous: version, base: version,
            fields: [.init(1, nil), .init(2, .list(.empty))])
        try fixture.append(
            Envelope(
                header: .init(user: 1, requestShape: [1]),
                events: [
                    fixture.zoneEvent(.zoneDeleted), fixture.noteEvent("gone", kind: .recordDeleted), update.event(),
                    update.erased.event(),
                    SubscriptionSavedEvent(
                        database: 1, user: 1,
                        Subscription(
                            "s", .query, zone: 1, recordType: 1, predicate: "a = 1", options: [.creation, .once])
                    ).event(),
                    SchemaChangedEvent(
                        type: 1, fields: [SchemaField(1, .string, indexes: .queryable)],
                        grants: [SchemaGrant("_world", [.read])]
                    ).event(),
                    SubscriptionDeletedEvent(database: 1, user: 1, id: "s", firedBy: Version(offset: 1, eventIndex: 0))
                        .event(),
                    NotificationDeliveredEvent(device: 1, through: 3, badge: 2).event(),
                    UserChangedEvent(user: 1, quota: 9).event(),
                    ShareSavedEvent(
                        share: 1, record: RecordKey(zone: 1, name: "Share-1"), root: "note-1", urlToken: "abc"
                    ).event(),
                    MemberChangedEvent(
                        user: 1, share: 1, zone: 1, permission: .readOnly, role: .privateUser, joined: version,
                        ended: version
                    ).event(),
                    SharedRecordEvent(RecordKey(zone: 1, name: "note-1"), type: 1, share: 1).event(),
                    UserRecordNamedEvent(user: 1, recordName: "_a").event(),
                    SecretDrawnEvent(number: 1, secret: Array(1...32)).event(),
                    RulesStatedEvent(
                        .init(
                            itemsPerRequest: 1, requestBytes: 2, recordBytes: 3, owningReferences: 4, movedRecords: 5,
                            assetBytes: 6), .touchesParents
                    ).event(),
                    DatabaseCreatedEvent(database: 1).event(), DeviceSeenEvent(device: 1).event(),
                    ClientTokenEvent(zone: 1, device: 1, token: [1]).event(), TokensExpiredEvent(offset: 1).event(),
                    BaseMarkerEvent(
                        horizon: Position(offset: 1, chain: 0), stateDigest: 1, contentDigest: 1, payloadCount: 1
                    ).event(),
                    Event(EventKind(rawValue: 200), body: []), Event(.recordSaved, body: [0xFF]),
                ]
            ).encoded())
        let header = EnvelopeHeader(isLazy: true, judgedOn: 1, actorKind: .service)
        try fixture.append(Envelope(header: header, events: try Self.audits()).encoded())
        try fixture.close()
        return fixture
    }

    private static func audits() throws -> [Event] {
        var fetched = FetchedEvent(
            .zoneChanges, in: DatabaseID(.private), at: 3, resultCount: 2, ids: [RecordID("n", zone: ZoneID("Notes"))])
        (fetched.zone, fetched.desiredKeys, fetched.isContinued) = (ZoneID("Notes"), ["title"], true)
        (fetched.query, fetched.givenToken, fetched.returnedToken) = ([1], [2], [3])
        let request = try Request(database: DatabaseID(.private), .modifyRecords(ModifyRecordsRequest())).encoded()
        let culprit = RequestRefusedEvent.Culprit(
            .saves, index: 0, code: 14, version: Version(offset: 1, eventIndex: 0))
        return [
            try RequestRefusedEvent(code: 2, message: "no", request: request, culprits: [culprit]).event(),
            try RequestRefusedEvent(code: 27, request: Array(repeating: 0, count: 300_000)).event(),
            try NothingToDeleteEvent(count: 1, request: request).event(),
            try ConsoleActedEvent(ConsoleNote("the next answer is lost", user: "anna", device: "phone")).event(),
            try fetched.event(),
        ]
    }

    @Test func commits() throws {
        let objects = try Self.objects(try varied().run("log", "--json", "Notes.strata").output)
        #expect(objects.count == 7)
        var events: [[String: Any]] = []
        for object in objects {
            try PromisedKeys.expect(object, follows: "A commit")
            for event in object["events"] as? [[String: Any]] ?? [] {
                try PromisedKeys.expect(event, follows: "An event")
                events.append(event)
                let heading = event["name"] as? String == "schema changed" ? "A declared field" : "A field"
                for field in event["fields"] as? [[String: Any]] ?? [] {
                    try PromisedKeys.expect(field, follows: heading)
                }
            }
        }
        try PromisedKeys.expectAll(of: "An event", in: events)
    }

    @Test func numbersKeepAllTheirDigits() throws {
        let output = try varied().run("log", "--json", "Notes.strata").output
        let object = try #require(try Self.objects(output).first)
        #expect((object["time"] as? NSNumber)?.int64Value == StoreFixture.startTime + 1_500_000)
    }

    @Test func info() throws {
        let fixture = try varied()
        try fixture.addUnfinishedTail()
        let object = try #require(try Self.objects(try fixture.run("info", "--json", fixture.name).output).first)
        try PromisedKeys.expect(object, follows: "What `info` prints")
        let segments = try #require(object["segments"] as? [[String: Any]])
        for segment in segments { try PromisedKeys.expect(segment, follows: "A segment") }
        try PromisedKeys.expect(try #require(object["unfinishedTail"] as? [String: Any]), follows: "An unfinished tail")
    }

    @Test func verify() throws {
        let fixture = try StoreFixture.small()
        try fixture.flipByte(inSegment: 0)
        let object = try #require(try Self.objects(try fixture.run("verify", "--json", fixture.name).output).first)
        try PromisedKeys.expect(object, follows: "What `verify` prints")
        try PromisedKeys.expect(try #require(object["damage"] as? [String: Any]), follows: "Damage")
        try PromisedKeys.expect(try #require(object["extent"] as? [String: Any]), follows: "How far damage goes")
    }

    @Test func oneCommit() throws {
        let fixture = try varied()
        let object = try #require(try Self.objects(try fixture.run("show", "--json", fixture.name, "2").output).first)
        try PromisedKeys.expect(object, follows: "A commit")
        let stored = try #require(object["stored"] as? [String: Any])
        try PromisedKeys.expect(stored, follows: "Where a commit stands")
        let frames = try #require(stored["frames"] as? [[String: Any]])
        #expect(frames.count == 1)
        for frame in frames { try PromisedKeys.expect(frame, follows: "A frame") }
        let sealed = try StoreFixture.segmented()
        try sealed.open()
        try sealed.sealAll()
        try sealed.close()
        let other = try #require(try Self.objects(try sealed.run("show", "--json", sealed.name, "2").output).first)
        let block = try #require((other["stored"] as? [String: Any])?["block"] as? [String: Any])
        try PromisedKeys.expect(block, follows: "A block of commits")
    }

    @Test func segments() throws {
        let fixture = try StoreFixture.segmented()
        let objects = try Self.objects(try fixture.run("segments", "--json", fixture.name).output)
        #expect(try objects.count == fixture.segments().count)
        for object in objects { try PromisedKeys.expect(object, follows: "What `segments` prints") }
    }

    @Test func repair() throws {
        let fixture = try StoreFixture.segmented()
        for isDamaged in [false, true] {
            if isDamaged { try fixture.flipByte(inSegment: 1) }
            let output = try fixture.run("repair", "--json", fixture.name).output
            let object = try #require(try Self.objects(output).first)
            try PromisedKeys.expect(object, follows: "What `repair` prints")
            let steps = try #require(object["steps"] as? [[String: Any]])
            #expect(steps.isEmpty == !isDamaged)
            for step in steps { try PromisedKeys.expect(step, follows: "A step of a repair") }
        }
    }

    @Test func queries() throws {
        let fixture = try StoreFixture.small()
        let output = try fixture.run("query", fixture.name, "Note", "--user", "anna", "--json").output
        let objects = try Self.objects(output)
        #expect(objects.count == 4)
        for record in objects.dropLast() {
            try PromisedKeys.expect(record, follows: "A record")
            let value = try #require((record["fields"] as? [String: Any])?["title"] as? [String: Any])
            try PromisedKeys.expect(value, follows: "A value")
        }
        try PromisedKeys.expect(try #require(objects.last), follows: "The end of a query")
        let plan = try fixture.run("query", fixture.name, "Note", "--user", "anna", "--json", "--explain")
        try PromisedKeys.expect(try #require(try Self.objects(plan.output).first), follows: "A plan")
    }

    @Test func tokens() throws {
        let fixture = try StoreFixture.small(drawsSecret: true)
        let store = try Store.openForReading(at: fixture.directory.path(fixture.name))
        let page = try store.zoneChanges(of: ZoneID("Notes"), in: DatabaseID(.private), as: Actor(user: "anna"))
        let text = Data(try store.bytes(of: page.token)).base64EncodedString()
        try store.close()
        let output = try fixture.run("token", fixture.name, text, "--json").output
        let token = try #require(try Self.objects(output).first)
        try PromisedKeys.expect(token, follows: "A change token")
        try PromisedKeys.expect(try #require(token["progress"] as? [String: Any]), follows: "The progress of a token")
    }

    @Test func canaryAKeyThatIsNotDocumentedIsNoticed() {
        withKnownIssue { try PromisedKeys.expect(["offset": 1, "surprise": 2], follows: "A commit") }
    }
}
