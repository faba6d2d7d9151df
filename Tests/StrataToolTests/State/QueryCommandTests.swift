import Foundation
import StrataModel
import StrataQuery
import StrataStore
import StrataSystem
import TestSupport
import Testing

@testable import StrataTool

@Suite struct QueryCommandTests {
    private let directory: TestDirectory
    private let path: String

    init() throws {
        directory = try TestDirectory()
        path = directory.path("Notes.strata")
        let store = try Self.open(path)
        try Self.save(to: store)
        try store.close()
    }

    /// With times that are the same in every run.
    private static func open(_ path: String) throws -> Store {
        let time = ManualTime(microseconds: 1_795_240_000_000_000)
        return try Store.open(at: path, platform: Platform(time: time, random: SeededRandom(seed: 1)))
    }

    private static func change<Result>(_ path: String, _ body: (Store) throws -> Result) throws -> Result {
        let store = try open(path)
        defer { try? store.close() }
        return try body(store)
    }

    private static let notes = ZoneID("Notes")

    private static func save(to store: Store) throws {
        let anna = Actor(user: "anna", device: "phone")
        try store.modify(.zones(saving: [notes]), as: anna)
        var request = RequestBuilder(DatabaseID(.private), policy: .allKeys)
        request.save(
            RecordID("milk", zone: notes), type: "Note",
            fields: [
                "title": .string("Buy \"milk\"\u{1b}[31m"), "rank": .int64(2), "due": .date(0), "price": .double(0.5),
                "place": .location(.init(latitude: 48.1, longitude: 11.5)), "bytes": .data([1, 2, 3]),
                "tags": .list(try FieldList([.string("a"), .string("b")])),
            ])
        request.save(
            RecordID("bread", zone: notes), type: "Note", fields: ["title": .string("Bread"), "rank": .int64(1)])
        request.save(RecordID("flour", zone: notes), type: "Note", fields: ["rank": .int64(3)])
        request.save(
            RecordID("far", zone: ZoneID("_defaultZone")), type: "Note",
            fields: ["place": .location(.init(latitude: -30, longitude: 100)), "rank": .int64(9)])
        try store.modify(request.request, as: anna)
        var open = RequestBuilder(DatabaseID(.public), policy: .allKeys)
        open.save(RecordID("news", zone: ZoneID("_defaultZone")), type: "Note", fields: ["title": .string("News")])
        try store.modify(open.request, as: anna)
    }

    private func run(_ words: String...) throws -> ToolResult {
        try ToolProcess.run(["query", "Notes.strata"] + words, in: directory.path)
    }

    private func objects(_ result: ToolResult) throws -> [[String: Any]] {
        try result.lines.map { try #require(try JSONSerialization.jsonObject(with: Data($0.utf8)) as? [String: Any]) }
    }

    @Test func aLineForEachRecord() throws {
        let result = try run("Note", "--user", "anna", "--zone", "Notes", "--sort", "rank")
        #expect(result.code == 0 && result.errors.isEmpty, "\(result)")
        #expect(
            result.output == """
                bread  Notes  rank=1  title="Bread"
                milk   Notes  bytes=<3 bytes>  due=2001-01-01T00:00:00Z  place=<48.1, 11.5>  price=0.5  rank=2  \
                tags=["a", "b"]  title="Buy \\"milk\\"\\u{1b}[31m"
                flour  Notes  rank=3
                3 records

                """)
    }

    @Test func predicatesAreExtended() throws {
        let result = try run("Note", "title ENDSWITH 'ead' OR rank = 3", "--user=anna", "--keys", "title")
        #expect(result.output == "bread  Notes  title=\"Bread\"\nflour  Notes\n2 records\n", "\(result)")
        #expect(try run("Note", "rank > 100", "--user", "anna").output == "0 records\n")
    }

    @Test func keysHaveTheirOrder() throws {
        let result = try run("Note", "rank = 1", "--user", "anna", "--keys", "title,rank,nothing")
        #expect(result.output == "bread  Notes  title=\"Bread\"  rank=1\n1 record\n")
    }

    @Test func theDatabaseIsThatOfTheUserOrThePublicOne() throws {
        #expect(try run("Note").output == "news  _defaultZone  title=\"News\"\n1 record\n")
        #expect(try run("Note", "--user", "anna", "--database", "public").output.hasPrefix("news "))
        #expect(try run("Note", "--user", "anna", "--database", "private").lines.count == 5)
        #expect(try run("Note", "--user", "bert").errors.contains("The store has no user 'bert'."))
    }

    @Test func severalKeysSortAndTheNearestComesFirst() throws {
        let sorted = try run("Note", "--user", "anna", "--sort", "title:desc", "--sort", "rank:desc", "--keys", "rank")
        #expect(sorted.lines.map { $0.prefix { $0 != " " } } == ["milk", "bread", "far", "flour", "4"])
        let near = try run(
            "Note", "place != nil", "--user", "anna", "--near", "place=-30,99", "--keys", "rank")
        #expect(near.lines.map { $0.prefix { $0 != " " } } == ["far", "milk", "2"], "\(near)")
    }

    @Test func pagesFollowEachOther() throws {
        let words = ["Note", "--user", "anna", "--sort", "rank", "--limit", "2", "--keys", "rank"]
        let first = try ToolProcess.run(["query", "Notes.strata"] + words, in: directory.path)
        #expect(first.lines.prefix(2) == ["bread  Notes  rank=1", "milk   Notes  rank=2"])
        let last = try #require(first.lines.last)
        #expect(last.hasPrefix("2 records; more with --cursor "))
        let cursor = String(try #require(last.split(separator: " ").last))
        let second = try ToolProcess.run(["query", "Notes.strata", "--cursor", cursor] + words, in: directory.path)
        #expect(second.output == "flour  Notes         rank=3\nfar    _defaultZone  rank=9\n2 records\n", "\(second)")
        let all = try ToolProcess.run(["query", "Notes.strata", "--all"] + words, in: directory.path)
        #expect(all.lines.count == 5 && all.lines.last == "4 records")
        let other = try run("Note", "rank > 1", "--user", "anna", "--cursor", cursor)
        #expect(other.code == 2 && other.errors.contains("the cursor belongs to another query"), "\(other)")
        #expect(try run("Note", "--user", "anna", "--cursor", "bm9uZQ==").code == 2)
        #expect(try run("Note", "--user", "anna", "--cursor", "?").code == 2)
    }

    @Test func aCursorGoesOnWhateverThePredicateHas() throws {
        let predicate = "rank IN {1, 2, 3} AND NOT (title LIKE 'x*') AND rank != 5 + 2"
        let words = ["Note", predicate, "--user", "anna", "--limit", "1"]
        var result = try ToolProcess.run(["query", "Notes.strata"] + words, in: directory.path)
        for _ in 0..<2 {
            let cursor = String(try #require(result.lines.last?.split(separator: " ").last))
            result = try ToolProcess.run(["query", "Notes.strata", "--cursor", cursor] + words, in: directory.path)
            #expect(result.code == 0, "\(result)")
        }
        #expect(result.lines.last == "1 record")
    }

    @Test func aRecordAsJSON() throws {
        let objects = try objects(try run("Note", "rank = 2", "--user", "anna", "--json"))
        #expect(objects.count == 2)
        let record = objects[0]
        #expect(record["name"] as? String == "milk" && record["zone"] as? String == "Notes")
        #expect(record["type"] as? String == "Note" && record["createdBy"] as? String == "anna")
        #expect((record["created"] as? NSNumber)?.int64Value == 1_795_240_000_000_000)
        let fields = try #require(record["fields"] as? [String: [String: Any]])
        #expect(fields["title"]?["value"] as? String == "Buy \"milk\"\u{1b}[31m")
        #expect(fields["title"]?["type"] as? String == "string")
        #expect((fields["due"]?["value"] as? NSNumber)?.int64Value == 978_307_200_000_000)
        #expect(fields["bytes"]?["value"] as? String == "AQID")
        #expect(fields["tags"]?["value"] as? [String] == ["a", "b"])
        #expect((fields["place"]?["value"] as? [String: Double])?["latitude"] == 48.1)
        #expect(fields["price"]?["value"] as? Double == 0.5 && fields["rank"]?["value"] as? Int == 2)
        #expect(objects[1]["records"] as? Int == 1 && objects[1]["cursor"] is NSNull)
    }

    @Test func aPlanWithNumbers() throws {
        let result = try run("Note", "rank = 2 AND title CONTAINS 'milk'", "--user", "anna", "--explain")
        #expect(result.code == 0)
        #expect(
            result.output == """
                all records of 2 zones, about 5 rows
                keep those with rank == 2 AND title CONTAINS "milk"
                stop after 1000
                an index of Note.rank would help
                read: 0 rows, 5 records; 1 matches
                note: CloudKit rejects CONTAINS on the string field 'title'; use self CONTAINS to find words
                note: no index is built for a store opened for reading; the indexes that the store has are used

                """, "\(result)")
        let object = try #require(
            try objects(try run("Note", "rank = 2", "--user", "anna", "--explain", "--json")).first)
        #expect(object["matches"] as? Int == 1 && object["recordsRead"] as? Int == 5)
        #expect(object["estimatedRows"] as? Int == 5)
    }

    @Test func itReadsBesideAWriterAndChangesNothing() throws {
        let store = try Self.open(path)
        defer { try? store.close() }
        var request = RequestBuilder(DatabaseID(.private), policy: .allKeys)
        request.save(RecordID("late", zone: Self.notes), type: "Note", fields: ["rank": .int64(100)])
        try store.modify(request.request, as: Actor(user: "anna"))
        let offset = store.offset
        #expect(try run("Note", "rank = 100", "--user", "anna").output == "late  Notes  rank=100\n1 record\n")
        #expect(store.offset == offset)
    }

    @Test func anEarlierStateHasWhatThereWas() throws {
        let now = try run("Note", "--user", "anna")
        let offset = try Self.change(path) { store in
            let offset = store.offset
            var request = RequestBuilder(DatabaseID(.private), policy: .changedKeys)
            request.save(RecordID("late", zone: Self.notes), type: "Note", fields: ["rank": .int64(100)])
            try store.modify(request.request, as: Actor(user: "anna"))
            return offset
        }
        #expect(try run("Note", "--user", "anna").lines.count == now.lines.count + 1)
        #expect(try run("Note", "--user", "anna", "--at", "\(offset)").output == now.output)
        let early = try run("Note", "--user", "anna", "--at", "1")
        #expect(early.code == 1 && early.errors == "strata query: Did not find record type: Note\n", "\(early)")
        let ahead = try run("Note", "--user", "anna", "--at", "\(offset + 2)")
        #expect(ahead.code == 1 && ahead.errors.contains("The store has no state at that point."), "\(ahead)")
        #expect(try run("Note", "rank = 100", "--user", "anna", "--at", "\(offset)", "--json").lines.count == 1)
    }

    @Test func theServiceReadsEveryDatabase() throws {
        let own = try run("Note", "--user", "anna", "--all")
        #expect(try run("Note", "--owner", "anna", "--all").output == own.output)
        let first = try run("Note", "--owner", "anna", "--limit", "1")
        let cursor = String(try #require(first.lines.last?.split(separator: " ").last))
        #expect(try run("Note", "--owner", "anna", "--limit", "1", "--cursor", cursor).lines.count == 2)
        try Self.change(path) { _ = try $0.modify(.zones(saving: [ZoneID("Own")]), as: Actor(user: "bert")) }
        let denied = try run("Note", "--user", "bert", "--owner", "anna")
        #expect(denied.code == 1 && denied.errors.contains("cannot be read"), "\(denied)")
    }

    @Test func whatIsNotThereEndsWith1() throws {
        let type = try run("Nots", "--user", "anna")
        #expect(type.code == 1 && type.output.isEmpty)
        #expect(type.errors == "strata query: Did not find record type: Nots. Did you mean Note?\n")
        let zone = try run("Note", "--user", "anna", "--zone", "Missing")
        #expect(zone.code == 1 && zone.errors.contains("Missing"), "\(zone)")
        #expect(try run("Users").code == 1)
    }

    @Test func whatCannotBeReadEndsWith3() throws {
        #expect(try ToolProcess.run("query", "Missing.strata", "Note", in: directory.path).code == 3)
        let result = try ToolProcess.run("query", "Notes.strata/log", "Note", in: directory.path)
        #expect(result.code == 3 && !result.errors.isEmpty)
    }

    @Test func mistakesAreExplained() throws {
        let hint = "; see 'strata help query'\n"
        let mistakes: [([String], String)] = [
            ([], "TYPE is missing: the record type, such as Note"),
            (["Note", "rank >"], "PREDICATE, character 7: expected a key or a value, found the end"),
            (
                ["Note", "rank BETWEEN 3"],
                "PREDICATE, character 6: expected a list of two values for BETWEEN, found INT64"
            ),
            (
                ["Note", "--database", "private"],
                "--database private needs --user NAME: every user has a private database"
            ),
            (["Note", "--database", "cloud"], "--database must be public, private or shared, not 'cloud'"),
            (["Note", "--sort", "rank:up"], "--sort takes KEY, KEY:asc or KEY:desc, not 'rank:up'"),
            (
                ["Note", "--near", "place=91,0"],
                "--near takes KEY=LATITUDE,LONGITUDE in degrees, not 'place=91,0'"
            ),
            (["Note", "--limit", "0"], "--limit 0 is out of range: 1 to 10000"),
            (["Note", "--all", "--explain"], "--all and --explain cannot be combined"),
            (["Note", "--limit", "1", "--limit", "2"], "--limit is given twice"),
        ]
        for (words, message) in mistakes {
            let result = try ToolProcess.run(["query", "Notes.strata"] + words, in: directory.path)
            #expect(result.code == 2 && result.output.isEmpty)
            #expect(result.errors == "strata query: " + message + hint)
        }
    }

    @Test func aReaderThatHasSeenEnoughEndsIt() throws {
        let store = try Self.open(path)
        for first in stride(from: 0, to: 4_000, by: 400) {
            var request = RequestBuilder(DatabaseID(.private), policy: .allKeys)
            for number in first..<first + 400 {
                request.save(
                    RecordID("n\(number)", zone: Self.notes), type: "Long",
                    fields: ["text": .string(String(repeating: "x", count: 200))])
            }
            try store.modify(request.request, as: Actor(user: "anna"))
        }
        try store.close()
        for form in [[], ["--json"]] {
            let tool = try ToolProcess(
                ["query", "Notes.strata", "Long", "--user", "anna", "--all"] + form, in: directory.path)
            #expect(try tool.readLine() != nil)
            tool.closePipe()
            #expect(try tool.wait() == 0)
            #expect(try tool.errors().isEmpty)
        }
    }
}
