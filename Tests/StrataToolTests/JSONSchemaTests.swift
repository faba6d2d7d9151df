import Foundation
import StrataModel
import StrataStore
import Testing

@testable import StrataTool

/// Every line is one object whose keys are those that docs/guide/tool.md promises.
@Suite struct JSONSchemaTests {
    /// The keys of a table of the guide: those in the first column; a key whose last cell says "always" must be there.
    private static func promised(_ heading: String) throws -> (all: Set<String>, always: Set<String>) {
        let root = #filePath.split(separator: "/", omittingEmptySubsequences: false).dropLast(3)
        let page = try String(contentsOfFile: root.joined(separator: "/") + "/docs/guide/tool.md", encoding: .utf8)
        let lines = page.split(separator: "\n", omittingEmptySubsequences: false)
        let section = lines.drop { $0 != "### \(heading)" }.dropFirst().prefix { !$0.hasPrefix("#") }
        let rows = section.filter { $0.hasPrefix("| `") }.map { $0.split(separator: "|") }
        let keys = rows.map { row in row[0].filter { $0 != "`" && $0 != " " } }
        let always = zip(rows, keys).filter { $0.0.last?.contains("always") == true }.map { $0.1 }
        return (Set(keys), Set(always))
    }

    private static func objects(_ output: String) throws -> [[String: Any]] {
        try output.split(separator: "\n").map { line in
            try #require(try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any])
        }
    }

    private static func expect(_ object: [String: Any], follows heading: String) throws {
        let (all, always) = try promised(heading)
        #expect(!all.isEmpty, "the guide has a table of \(heading)")
        let keys = Set(object.keys)
        #expect(keys.isSubset(of: all), "\(heading): \(keys.subtracting(all)) is not documented")
        #expect(always.isSubset(of: keys), "\(heading): \(always.subtracting(keys)) is missing")
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
                    Event(EventKind(rawValue: 200), body: []), Event(.recordSaved, body: [0xFF]),
                ]
            ).encoded())
        try fixture.append(Envelope(header: .init(isLazy: true), events: try Self.audits()).encoded())
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
        var seen: Set<String> = []
        for object in objects {
            try Self.expect(object, follows: "A commit")
            for event in object["events"] as? [[String: Any]] ?? [] {
                try Self.expect(event, follows: "An event")
                seen.formUnion(event.keys)
                for field in event["fields"] as? [[String: Any]] ?? [] { try Self.expect(field, follows: "A field") }
            }
        }
        #expect(try Self.promised("An event").all == seen, "a documented key that never comes")
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
        try Self.expect(object, follows: "What `info` prints")
        let segments = try #require(object["segments"] as? [[String: Any]])
        for segment in segments { try Self.expect(segment, follows: "A segment") }
        try Self.expect(try #require(object["unfinishedTail"] as? [String: Any]), follows: "An unfinished tail")
    }

    @Test func verify() throws {
        let fixture = try StoreFixture.small()
        try fixture.flipByte(inSegment: 0)
        let object = try #require(try Self.objects(try fixture.run("verify", "--json", fixture.name).output).first)
        try Self.expect(object, follows: "What `verify` prints")
        try Self.expect(try #require(object["damage"] as? [String: Any]), follows: "Damage")
        try Self.expect(try #require(object["extent"] as? [String: Any]), follows: "How far damage goes")
    }

    @Test func oneCommit() throws {
        let fixture = try varied()
        let object = try #require(try Self.objects(try fixture.run("show", "--json", fixture.name, "2").output).first)
        try Self.expect(object, follows: "A commit")
        let stored = try #require(object["stored"] as? [String: Any])
        try Self.expect(stored, follows: "Where a commit stands")
        let frames = try #require(stored["frames"] as? [[String: Any]])
        #expect(frames.count == 1)
        for frame in frames { try Self.expect(frame, follows: "A frame") }
        let sealed = try StoreFixture.segmented()
        try sealed.open()
        try sealed.sealAll()
        try sealed.close()
        let other = try #require(try Self.objects(try sealed.run("show", "--json", sealed.name, "2").output).first)
        let block = try #require((other["stored"] as? [String: Any])?["block"] as? [String: Any])
        try Self.expect(block, follows: "A block of commits")
    }

    @Test func segments() throws {
        let fixture = try StoreFixture.segmented()
        let objects = try Self.objects(try fixture.run("segments", "--json", fixture.name).output)
        #expect(try objects.count == fixture.segments().count)
        for object in objects { try Self.expect(object, follows: "What `segments` prints") }
    }

    @Test func repair() throws {
        let fixture = try StoreFixture.segmented()
        for isDamaged in [false, true] {
            if isDamaged { try fixture.flipByte(inSegment: 1) }
            let output = try fixture.run("repair", "--json", fixture.name).output
            let object = try #require(try Self.objects(output).first)
            try Self.expect(object, follows: "What `repair` prints")
            let steps = try #require(object["steps"] as? [[String: Any]])
            #expect(steps.isEmpty == !isDamaged)
            for step in steps { try Self.expect(step, follows: "A step of a repair") }
        }
    }

    @Test func queries() throws {
        let fixture = try StoreFixture.small()
        let output = try fixture.run("query", fixture.name, "Note", "--user", "anna", "--json").output
        let objects = try Self.objects(output)
        #expect(objects.count == 4)
        for record in objects.dropLast() {
            try Self.expect(record, follows: "A record")
            let value = try #require((record["fields"] as? [String: Any])?["title"] as? [String: Any])
            try Self.expect(value, follows: "A value")
        }
        try Self.expect(try #require(objects.last), follows: "The end of a query")
        let plan = try fixture.run("query", fixture.name, "Note", "--user", "anna", "--json", "--explain")
        try Self.expect(try #require(try Self.objects(plan.output).first), follows: "A plan")
    }

    @Test func tokens() throws {
        let fixture = try StoreFixture.small()
        let store = try Store.openForReading(at: fixture.directory.path(fixture.name))
        let page = try store.zoneChanges(of: ZoneID("Notes"), in: DatabaseID(.private), as: Actor(user: "anna"))
        try store.close()
        let text = Data(page.token.encoded()).base64EncodedString()
        let output = try fixture.run("token", fixture.name, text, "--json").output
        let token = try #require(try Self.objects(output).first)
        try Self.expect(token, follows: "A change token")
        try Self.expect(try #require(token["progress"] as? [String: Any]), follows: "The progress of a token")
    }

    @Test func canaryAKeyThatIsNotDocumentedIsNoticed() {
        withKnownIssue { try Self.expect(["offset": 1, "surprise": 2], follows: "A commit") }
    }
}
