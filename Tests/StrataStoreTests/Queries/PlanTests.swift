import StrataModel
import StrataQuery
import Testing

@testable import StrataStore

/// The plans of queries, in words; numbers of rows are estimates, and left out.
@Suite("How queries are answered")
struct PlanTests {
    private static let place = "CAST({52.5, 13.4}, 'CLLocation')"

    private func plan(
        _ client: Client, _ format: String, _ order: [SortKey] = [], zone: String? = nil, limit: Int = 50
    ) throws -> String {
        let query = Query(
            "Note", where: try PredicateParser.parse(format), order: order, zone: zone.map { ZoneID($0) })
        let text = try client.store.plan(query, in: client.database, limit: limit, as: client.actor).text
        return text.replacing(#/, about \d+ rows/#, with: "").replacing("stop after \(limit)", with: "stop")
    }

    private static func indexedNotes() throws -> Client {
        let client = try Client(.embedded)
        _ = try ManyNotes(client, count: 4_000)
        _ = client.zones(save: ["Small"])
        _ = client.codes((0..<5).map { Client.Save("s\($0)", ["rank": .int64(Int64($0))], in: "Small") })
        let fields: [(String, SchemaField.Indexes)] = [
            ("kind", [.queryable, .sortable]), ("rank", [.queryable, .sortable]), ("title", [.queryable, .searchable]),
            ("place", [.queryable]), ("___recordID", [.queryable]), ("___createTime", [.queryable]),
        ]
        try client.store.declareIndexes(type: "Note", fields: fields)
        client.store.awaitIndexes()
        return client
    }

    private static let rank = SortKey.key("rank", isAscending: true)
    private static let near = SortKey.distance(key: "place", latitude: 52.5, longitude: 13.4)
    private static let table: [(String, [SortKey], String)] = [
        ("rank = 5", [], "index Note.rank: one value\nstop"),
        ("rank > 10 AND rank <= 20", [], "index Note.rank: 1 ranges\nstop"),
        ("rank BETWEEN {10, 20}", [rank], "index Note.rank: 1 ranges\nstop"),
        ("rank IN {1, 5, 9}", [], "index Note.rank: 3 ranges\nstop"),
        ("title BEGINSWITH 'note 12'", [], "index Note.title: 1 ranges\nstop"),
        ("title = 'note 12' AND kind = 2", [], "index Note.title: one value\nkeep those with kind == 2\nstop"),
        (
            "kind = 3 AND rank < 500", [.key("title", isAscending: true)],
            """
            both of
                index Note.rank: 1 ranges
                index Note.kind: one value
            sorted by title, name
            stop
            """
        ),
        (
            "rank = 5 OR rank = 7 OR title = 'note 3'", [],
            """
            any of
                index Note.rank: one value
                index Note.rank: one value
                index Note.title: one value
            keep those with rank == 5 OR rank == 7 OR title == "note 3"
            keys sorted by name
            stop
            """
        ),
        ("TRUEPREDICATE", [rank], "index Note.rank: all rows\nstop"),
        ("TRUEPREDICATE", [.key("rank", isAscending: false)], "index Note.rank: all rows, in reverse order\nstop"),
        (
            "kind != 3", [rank], "index Note.rank: all rows\nkeep those with kind != 3\nstop"
        ),
        (
            "TRUEPREDICATE", [.key("kind", isAscending: true), .key("title", isAscending: false)],
            "index Note.kind: all rows\nsorted within equal values by kind, title descending, name\nstop"
        ),
        (
            "TRUEPREDICATE", [.key("creationDate", isAscending: false)],
            "index Note.___createTime: all rows, in reverse order\nstop"
        ),
        ("title TOKENMATCHES '12'", [], "index Note.title (words): one value\nkeys sorted by name\nstop"),
        ("self CONTAINS '12 13'", [], "index Note.title (words): 2 ranges\nkeys sorted by name\nstop"),
        (
            "distanceToLocation:fromLocation:(place, \(place)) < 30000", [near],
            """
            index Note.place (cells), the nearest to 52.5, 13.4 first within 30000.0 m
            keep those with distanceToLocation:fromLocation:(place, CAST({52.5, 13.4}, "CLLocation")) < 30000
            stop
            """
        ),
        (
            "distanceToLocation:fromLocation:(place, \(place)) < 3000", [],
            """
            index Note.place (cells): 26 ranges
            keep those with distanceToLocation:fromLocation:(place, CAST({52.5, 13.4}, "CLLocation")) < 3000
            keys sorted by name
            stop
            """
        ),
        ("TRUEPREDICATE", [near], "index Note.place (cells), the nearest to 52.5, 13.4 first\nstop"),
        (
            "recordID = CAST({'n7', '_defaultZone', '__defaultOwner__'}, 'CKReference')", [],
            """
            records by name: 1
            keep those with recordID == CAST({"n7", "_defaultZone", ""}, "CKReference")
            keys sorted by name
            stop
            """
        ),
        ("rank > 5 AND FALSEPREDICATE", [], "nothing can match\nstop"),
    ]

    @Test("With indexes")
    func indexed() throws {
        let client = try Self.indexedNotes()
        for (format, order, expected) in Self.table {
            let found = try plan(client, format, order)
            #expect(found == expected, "\(format)\n\(found)")
        }
        #expect(try plan(client, "rank < 4000", zone: "Small") == "index Note.rank: 1 ranges\nstop")
    }

    @Test("Without indexes, and what would help")
    func unindexed() throws {
        let client = try Client(.embedded)
        _ = try ManyNotes(client, count: 300)
        #expect(
            try plan(client, "rank = 5")
                == "all records of the zone\nkeep those with rank == 5\nstop\nan index of Note.rank would help")
        #expect(
            try plan(client, "TRUEPREDICATE", [.key("rank", isAscending: true)])
                == "all records of the zone\nsorted by rank, name\nstop\nan index of Note.rank would help")
        #expect(
            try plan(client, "title LIKE '*1'") == "all records of the zone\nkeep those with title LIKE \"*1\"\nstop")
    }
}
