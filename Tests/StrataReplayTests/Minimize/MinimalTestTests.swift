import Foundation
import Glibc
import StrataModel
import StrataQuery
import StrataStore
import StrataViews
import TestSupport
import Testing

@testable import StrataReplay

/// The Swift tests that minimal histories become. Tests/CloudKitTests/Minimal has some of them, where they are compiled
/// and run as the known issues that they are; `STRATA_UPDATE_GOLDEN=1` writes them.
@Suite("Minimal histories as Swift tests")
struct MinimalTestTests {
    private typealias Fixture = RerunFixture

    private static func path(_ name: String) -> String {
        let root = #filePath.split(separator: "/", omittingEmptySubsequences: false).dropLast(3)
        return root.joined(separator: "/") + "/CloudKitTests/Minimal/\(name).swift"
    }

    private func expect(
        _ name: String, _ fixture: RerunFixture, _ predicate: String, record: String? = nil,
        in database: DatabaseID = Fixture.database, as actor: Actor = Fixture.anna
    ) throws -> MinimalTest {
        let question = BisectionQuestion(
            "Note", where: try PredicateParser.parse(predicate), in: database, record: record, as: actor)
        let history = try Minimization(of: fixture.store, question).run()
        let test = try MinimalTest(of: history, named: name, from: "Notes.strata", isKnownIssue: true)
        if getenv("STRATA_UPDATE_GOLDEN") != nil {
            try Data(test.text.utf8).write(to: URL(fileURLWithPath: Self.path(name)))
        }
        let golden = try String(contentsOfFile: Self.path(name), encoding: .utf8)
        #expect(test.text == golden, "CloudKitTests/Minimal/\(name).swift")
        return test
    }

    @Test("Two devices take a seat each of a record that both fetched, and one is lost")
    func lostUpdate() throws {
        let fixture = try Fixture()
        try fixture.save("film", ["free": .int64(40), "seats": .int64(40)])
        let first = try fixture.save("play", ["free": .int64(10), "seats": .int64(10)])
        try fixture.save("film", ["free": .int64(39), "onPhone": .int64(1)], policy: .changedKeys)
        try fixture.save("play", ["free": .int64(9), "onPhone": .int64(1)], base: first)
        try fixture.save(
            "play", ["free": .int64(9), "onTablet": .int64(1)], base: first, as: Fixture.bert, policy: .changedKeys)
        try fixture.save("film", ["title": .string("A film")], policy: .changedKeys)
        let test = try expect("LostSeat", fixture, "free > seats - onPhone - onTablet", record: "play")
        #expect(test.leftOut.isEmpty)
        #expect(test.text.contains("let play6 = try await annaTablet.record(for: playID)"))
    }

    @Test("Change tags, parents, items of requests, deletions")
    func tags() throws {
        let fixture = try Fixture()
        var builder = RequestBuilder(Fixture.database)
        builder.save(RecordID("list", zone: Fixture.notes), type: "Note", fields: ["rank": .int64(0)])
        builder.save(
            RecordID("an item", zone: Fixture.notes), type: "Note", parent: .set("list"), fields: ["rank": .int64(1)])
        builder.save(RecordID("other", zone: Fixture.notes), type: "Note")
        let made = try fixture.modify(builder.request)
        let version = try made?.saves[1].get()
        let next = try fixture.save("an item", ["rank": .int64(2)], base: version)
        try fixture.save("an item", ["note": .string("a \"quoted\"\n\u{1b}line")], base: next, as: Fixture.bert)
        try fixture.delete("other")
        let test = try expect("TagsInTurn", fixture, "rank == 2 AND note != nil AND ___parent != nil")
        #expect(test.leftOut.isEmpty)
    }

    @Test("Every kind of value, and the public database")
    func values() throws {
        let fixture = try Fixture()
        var builder = RequestBuilder(DatabaseID(.public), policy: .changedKeys)
        let zone = ZoneID("_defaultZone")
        let list = builder.reference(to: RecordID("9 lives", zone: zone))
        let place = FieldValue.Location(latitude: 48.1, longitude: 11.5)
        builder.save(
            RecordID("9 lives", zone: zone), type: "Note",
            fields: [
                "bytes": .data([1, 2, 255]), "due": .date(0.5), "list": list, "number": .double(-0.0),
                "place": .location(place), "tags": .list(try FieldList([.string("a"), .string("b")])),
                "title": .string("x" + String(repeating: " and more", count: 20)),
                "long": .data([UInt8](0..<40)),
            ])
        try fixture.modify(builder.request, as: Actor(user: "bert"))
        let kinds =
            "bytes != nil AND due != nil AND list != nil AND number == 0 AND place != nil "
            + "AND title BEGINSWITH 'x'"
        let test = try expect(
            "EveryKind", fixture, kinds + " AND tags CONTAINS 'a'", in: DatabaseID(.public),
            as: Actor(user: ""))
        #expect(test.leftOut.isEmpty)
    }

    @Test("A zone that ends and is made again, and times that are asked for")
    func times() throws {
        let fixture = try Fixture()
        try fixture.save("milk", ["rank": .int64(1)])
        try fixture.modify(.zones(deleting: [Fixture.notes]))
        try fixture.modify(.zones(saving: [Fixture.notes]))
        let first = try fixture.save("milk", ["rank": .int64(2)])
        try fixture.save("milk", ["rank": .int64(3)], base: first)
        let test = try expect("LaterThanMade", fixture, "modificationDate > creationDate")
        #expect(test.leftOut.isEmpty)
    }

    /// Saves a share of anna's, new with its root or changed.
    private func save(_ change: ShareChange, root: String? = nil, in fixture: RerunFixture) throws {
        var names = RequestNames()
        let zone = names.ordinal(of: Fixture.notes)
        func base(_ name: String) throws -> Version? {
            let id = RecordID(name, zone: Fixture.notes)
            let found = try fixture.store.snapshot().records([id], in: Fixture.database, as: Fixture.anna).first
            return try? found?.get().version
        }
        var body = ModifyRecordsRequest()
        let key = RecordKey(zone: zone, name: "Share-1")
        if let root {
            body.saves.append(
                .init(
                    RecordKey(zone: zone, name: root), type: names.ordinal(ofType: "Note"), base: try base(root),
                    share: .set(key)))
        }
        body.saves.append(
            .init(
                key, type: names.ordinal(ofType: ShareState.recordType), base: try base("Share-1"), sharing: change))
        let request = Request(database: Fixture.database, names: names, .modifyRecords(body))
        for result in try #require(try fixture.modify(request)).saves { _ = try result.get() }
    }

    @Test("A share with its participants, and the save of a member")
    func sharing() throws {
        let fixture = try Fixture()
        let ben = Actor(user: "ben", device: "mac")
        var person = Person()
        person.emails = ["cleo@example.com"]
        try fixture.store.setPerson(person, of: "cleo")
        try fixture.modify(.zones(saving: [ZoneID("Own")]), as: ben)
        try fixture.save("list", ["rank": .int64(0)])
        try fixture.save("milk", ["rank": .int64(1)], parent: .set("list"))
        let user = ShareChange.Participant.Subject.user(
            recordName: try fixture.store.snapshot().recordName(of: "ben"))
        func guests(_ permission: SharePermission) -> [ShareChange.Participant] {
            let cleo = ShareChange.Participant.Subject.address(.email("cleo@example.com"))
            return [
                .init("ben", user, role: .privateUser, permission: permission),
                .init("cleo", cleo, role: .privateUser, permission: permission),
            ]
        }
        try save(ShareChange(root: "list", participants: guests(.readOnly)), root: "list", in: fixture)
        let token = try #require(try fixture.store.snapshot().trees.share(1)).urlToken
        let shared = DatabaseID(.shared)
        try fixture.modify(Request(database: shared, .joinShares(.init(.accept, tokens: [token]))), as: ben)
        try save(ShareChange(participants: guests(.readWrite)), in: fixture)
        var builder = RequestBuilder(shared, policy: .changedKeys)
        let zone = ZoneID("Notes", owner: try fixture.store.snapshot().recordName(of: "anna"))
        builder.save(RecordID("milk", zone: zone), type: "Note", fields: ["rank": .int64(8)])
        _ = try #require(try fixture.modify(builder.request, as: ben)?.saves.first).get()
        let test = try expect("SharedNote", fixture, "rank == 8")
        #expect(test.leftOut.isEmpty, "\(test.leftOut)")
        #expect(!test.text.contains("cleo"), "\(test.text)")
    }

    @Test("What the API cannot say is told, in the test and beside it")
    func leftOut() throws {
        let directory = try TestDirectory()
        let fixture = try Fixture(at: directory.path("Notes.strata"))
        let file = directory.path("photo")
        try Data("abc".utf8).write(to: URL(fileURLWithPath: file))
        let asset = try fixture.store.importAsset(at: file)
        try fixture.save("milk", ["photo": .asset(asset.value)])
        withExtendedLifetime(asset) {}
        let question = BisectionQuestion(
            "Note", where: try PredicateParser.parse("photo != nil"), in: Fixture.database, as: Fixture.anna)
        let history = try Minimization(of: fixture.store, question).run()
        let test = try MinimalTest(of: history, named: "lost photo", from: "Notes.strata")
        #expect(test.leftOut == ["milk.photo, asset, whose content the log does not have"])
        #expect(test.text.contains("// Not rebuilt: milk.photo"))
        #expect(test.text.contains("@Suite struct LostPhoto {") && test.text.contains("\n        #expect(!isFound"))
    }

    @Test("A long text is one literal, and what a name hides is spelt out wherever it stands")
    func longText() throws {
        let fixture = try Fixture()
        let text = String(repeating: "a \"quoted\" \\ line\r\n\u{301}", count: 2_000)
        try fixture.save("mi", ["note": .string(text)])
        let question = BisectionQuestion(
            "Note", where: try PredicateParser.parse("note != '\u{202e}\u{0}'"), in: Fixture.database, as: Fixture.anna)
        let history = try Minimization(of: fixture.store, question).run()
        let test = try MinimalTest(of: history, named: "CloudStore", from: "Notes\u{202e}.strata")
        let lines = test.text.split(separator: "\n").map { $0.unicodeScalars.dropFirst(12) }
        let start = try #require(lines.firstIndex { $0.starts(with: "\"note\"] = \"\"\"".unicodeScalars) })
        let end = try #require(lines[start...].firstIndex { $0.elementsEqual("\"\"\"".unicodeScalars) })
        let pieces = lines[(start + 1)..<(end - 1)].map { $0.dropLast() } + [lines[end - 1]]
        let escaped = "a \\\"quoted\\\" \\\\ line\\r\\n\u{301}"
        #expect(String(String.UnicodeScalarView(pieces.joined())) == String(repeating: escaped, count: 2_000))
        #expect(!test.text.unicodeScalars.contains { ["\u{202e}", "\u{0}"].contains($0) })
        #expect(test.text.contains("\n@Suite struct CloudStoreHistory {"))
    }

    @Test("Whatever is in a history, the test has no line that is too long and no name twice")
    func random() throws {
        try withSeeds(8) { seed in
            let fixture = try Fixture()
            var history = RandomHistory(fixture, seed: seed)
            try history.run(60)
            for predicate in ["k0 > 40 AND k1 > 10", "___parent != nil", "title != nil"] {
                let question = BisectionQuestion(
                    "Note", where: try PredicateParser.parse(predicate), in: Fixture.database, as: Fixture.anna)
                guard let few = try? Minimization(of: fixture.store, question).run() else { continue }
                let test = try MinimalTest(of: few, named: "seed \(seed)", from: "Notes.strata")
                let lines = test.text.split(separator: "\n")
                try #require(lines.allSatisfy { $0.count <= 120 })
                let declared = lines.compactMap { line in
                    line.split(separator: " ").first == "let" ? line.split(separator: " ")[1] : nil
                }
                try #require(Set(declared).count == declared.count, "\(test.text)")
                // Clients of these histories name versions of other databases, too.
                try #require(test.leftOut.allSatisfy { $0.hasPrefix("the change tag of r") }, "\(test.leftOut)")
            }
        }
    }
}
