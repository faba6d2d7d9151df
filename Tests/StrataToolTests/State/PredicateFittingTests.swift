import StrataModel
import StrataQuery
import StrataStore
import Testing

@testable import StrataTool

/// The constants of predicates as people write them, in each command that takes one.
@Suite("Predicates fit the values of their keys") struct PredicateFittingTests {
    private let fixture: StateFixture

    init() throws { fixture = try StateFixture() }

    private func query(_ predicate: String) throws -> ToolResult {
        try fixture.run("query", fixture.name, "Note", predicate, "--user", "anna")
    }

    /// They hold for `milk`, the only note.
    private static let naturalPredicates = [
        "due < '2026-12-01'", "due == '2001-01-01T00:00:00Z'", "due BETWEEN {'2000-01-01', '2002-01-01'}",
        "'2026-12-01' > due", "creationDate > '2026-11-01'", "due < now() - 86400", "list == 'list'",
        "list IN {'list', 'other'}", "list != 'other'", "NOT list == 'other'", "parent == 'list'",
        "recordID == 'milk'", "creatorUserRecordID == 'anna'", "tags CONTAINS 'a'", "ANY tags == 'b'",
        "rank == 3 AND title BEGINSWITH 'Buy'", "photo != nil", "price < 1", "list.creationDate > '2026-11-01'",
    ]

    @Test("Texts are read as dates, records and users", arguments: naturalPredicates)
    func natural(_ predicate: String) throws {
        let result = try query(predicate)
        #expect(result.code == 0 && result.lines.last == "1 record", "\(predicate): \(result)")
        // A search through the history has no other records, and no time of its own.
        if predicate.contains("now()") || predicate.contains(".") { return }
        let bisected = try fixture.run("bisect", fixture.name, "Note", "--where", predicate, "--user", "anna")
        #expect(bisected.code == 0, "\(predicate): \(bisected)")
    }

    @Test(
        "A comparison that no record meets is still an answer",
        arguments: [
            "due > '2026-12-01'", "recordID == 'bread'", "list == 'other'", "rank == 5",
            "creatorUserRecordID == 'bert'",
        ])
    func none(_ predicate: String) throws {
        let result = try query(predicate)
        #expect(result.code == 0 && result.output == "0 records\n" && result.errors.isEmpty, "\(predicate): \(result)")
    }

    private static let misfits: [(predicate: String, words: String)] = [
        ("rank == '3'", "rank is a number; write numbers without quotes, such as 3"),
        ("rank < 'ten'", "rank is a number; write numbers without quotes, such as 10"),
        ("rank IN {3, 'four'}", "rank is a number"),
        ("title == 5", "title is a text; write texts in quotes, such as '5'"),
        ("title CONTAINS 5", "title is a text; write texts in quotes, such as '5'"),
        ("due < 'soon'", "due is a date; write a time in UTC such as '2026-11-21'"),
        ("due > 817500000", "due is a date; write a time"), ("due > '3d'", "now() - 86400"),
        ("due BEGINSWITH '2026'", "due is a date; BEGINSWITH compares texts"),
        ("tags == 'a'", "tags is a list of texts; write ANY tags == …, or tags CONTAINS …"),
        ("rank CONTAINS 3", "rank is a number; CONTAINS is for texts and lists"),
        ("photo == 'x'", "photo is an asset; write photo == nil or photo != nil"),
        ("place == 'here'", "place is a location; write distanceToLocation:fromLocation:(place, CAST("),
        ("bytes == '00'", "bytes is data; write CAST('00ff', 'NSData')"),
        ("list < 'z'", "list is a reference; a reference has no order: use ==, != or IN"),
        ("due == title", "due is a date and title a text; == never holds for them"),
        ("distanceToLocation:fromLocation:(rank, CAST({1, 2}, 'CLLocation')) < 5", "a distance needs a location"),
    ]

    @Test("A comparison that can never hold is an error that names the right spelling", arguments: misfits)
    func misfit(_ one: (predicate: String, words: String)) throws {
        let result = try query(one.predicate)
        #expect(result.code == 2 && result.output.isEmpty, "\(one.predicate): \(result)")
        #expect(result.errors.hasPrefix("strata query: PREDICATE, character "), "\(result)")
        #expect(result.errors.contains(one.words), "\(one.predicate): \(result)")
    }

    @Test(
        "Each command with a predicate rejects it",
        arguments: [
            ["bisect", "Note", "--where", "rank == 'x'", "--user", "anna"],
            ["minimize", "Note", "--where", "rank == 'x'", "--user", "anna"], ["log", "--where", "rank == 'x'"],
        ])
    func everywhere(_ words: [String]) throws {
        let result = try fixture.run([words[0], fixture.name] + words.dropFirst())
        #expect(result.code == 2 && result.output.isEmpty, "\(words): \(result)")
        #expect(result.errors.contains("--where, character 6: rank is a number"), "\(words): \(result)")
    }

    @Test("The debugger rejects it in until and in a breakpoint")
    func debugger() throws {
        for line in ["until Note \"rank == 'x'\"", "break where Note \"rank == 'x'\""] {
            let result = try fixture.run("debug", fixture.name, "--user", "anna", "-e", line)
            #expect(result.errors.contains("rank is a number; write numbers"), "\(line): \(result)")
        }
        let found = try fixture.run("debug", fixture.name, "--user", "anna", "-e", "until Note \"parent == 'list'\"")
        #expect(found.code == 0 && found.output.contains("\n2 2026-11-21T05:46:42"), "\(found)")
    }

    @Test("A mistyped user is not a user without records")
    func user() throws {
        let result = try query("creatorUserRecordID == 'ana'")
        #expect(result.code == 1 && result.errors.contains("Did you mean anna?"), "\(result)")
    }

    @Test("A page of a query continues with the predicate as it was written")
    func cursor() throws {
        try fixture.change { try fixture.save("tea", ["due": .date(1)], to: $0) }
        let words = ["query", fixture.name, "Note", "due < '2026-12-01'", "--user", "anna", "--limit", "1"]
        let first = try fixture.run(words)
        let cursor = try #require(first.output.firstMatch(of: /--cursor (\S+)/)).1
        let second = try fixture.run(words + ["--cursor", String(cursor)])
        #expect(second.code == 0 && second.lines.count == 2, "\(second)")
        #expect(first.lines.first != second.lines.first)
    }

    @Test(
        "log --where compares with the values that a save sets",
        arguments: [
            ("due < '2026-12-01'", [2]), ("rank == 3", [4]), ("parent == 'list'", [2]), ("list == 'list'", [2]),
            ("recordID == 'milk'", [2, 4]), ("creatorUserRecordID == 'anna' AND rank == 2", [2]),
            ("lastModifiedUserRecordID == 'anna' AND rank > 2", [4]),
        ])
    func log(_ predicate: String, _ offsets: [Int]) throws {
        let objects = try fixture.objects("log", fixture.name, "--where", predicate)
        #expect(objects.map { $0["offset"] as? Int } == offsets, "\(predicate)")
    }

    @Test("log --where says that no record has a field")
    func unknownField() throws {
        let result = try fixture.run("log", fixture.name, "--where", "rnak == 3")
        #expect(result.code == 1 && result.output.isEmpty, "\(result)")
        #expect(result.errors.contains("no field is named 'rnak'; did you mean rank? up to offset 5"), "\(result)")
    }

    @Test("Canary: without fitting, a text never equals a date")
    func canary() throws {
        struct Milk: PredicateSubject {
            func predicateValue(forKey key: String) -> PredicateValue? { .date(0) }
            var searchedTexts: [String] { [] }
        }
        let tree = try PredicateParser.parse("due < '2026-12-01'")
        #expect(try !PredicateEvaluator(subject: Milk(), now: 0).holds(tree))
    }
}
