import StrataModel
import StrataQuery
import Testing

@testable import StrataStore

/// The rows of an index in the zones of one database.
@Suite("Indexes of databases with many zones")
struct ZonedIndexTests {
    private static let zones = (0..<40).map { "Z\($0)" }
    private static let perZone = 30

    /// Zones with records of the same names, whose ranks are shared by all zones, by one record only, or missing.
    private static func notes() throws -> Client {
        let client = try Client(.embedded)
        try #require(client.zones(save: zones).allSatisfy { $0 == nil })
        for (place, zone) in zones.enumerated() {
            let saves = (0..<perZone).map { number in
                switch number % 5 {
                case 0: Client.Save("n\(number)", ["rank": .int64(Int64(number % 3))], in: zone)
                case 1: Client.Save("n\(number)", in: zone)
                default: Client.Save("n\(number)", ["rank": .int64(Int64(1_000 * number + place))], in: zone)
                }
            }
            try #require(client.codes(saves).allSatisfy { $0 == nil })
        }
        try client.store.declareIndexes(type: "Note", fields: [("rank", [.queryable, .sortable])])
        client.store.awaitIndexes()
        return client
    }

    private static func query(_ format: String, _ order: [SortKey]) throws -> Query {
        Query("Note", where: try PredicateParser.parse(format), order: order)
    }

    private static func pages(_ client: Client, _ query: Query, limit: Int) throws -> [RecordID] {
        var ids: [RecordID] = []
        var question = Question.new(query)
        while true {
            let page = try client.store.query(question, in: client.database, limit: limit, as: client.actor)
            ids += page.matches.map(\.id)
            guard let cursor = page.cursor else { return ids }
            question = .continued(cursor)
        }
    }

    @Test("All zones together are in the order of values, names and zones", arguments: [true, false], [1, 7, 100])
    func allZones(isAscending: Bool, limit: Int) throws {
        let client = try Self.notes()
        let query = Query("Note", order: [.key("rank", isAscending: isAscending)])
        let ids = Self.zones.flatMap { zone in (0..<Self.perZone).map { client.id("n\($0)", in: zone) } }
        let expected = try PlainRecords(ids, client, Self.zones).answer(query)
        #expect(expected.count == ids.count)
        #expect(try Self.pages(client, query, limit: limit) == expected)
    }

    @Test("Groups of equal values, and the rows behind a page, are searched for only where they are")
    func groups() throws {
        let client = try Self.notes()
        let ids = Self.zones.flatMap { zone in (0..<Self.perZone).map { client.id("n\($0)", in: zone) } }
        let plain = try PlainRecords(ids, client, Self.zones)
        for keys in [["rank", "creationDate"], ["rank", "recordID"], ["creationDate"], ["creationDate", "rank"]] {
            for isAscending in [true, false] {
                let order = keys.map { SortKey.key($0, isAscending: isAscending) }
                for query in [Query("Note", order: order), try Self.query("rank IN {0, 2, 4, 7012}", order)] {
                    #expect(try Self.pages(client, query, limit: 33) == plain.answer(query), "\(keys) \(isAscending)")
                }
            }
        }
        let last = Query("Note", order: [.key("rank", isAscending: false)])
        let page = try client.store.query(.new(last), in: client.database, limit: 10, as: client.actor)
        #expect(try #require(page.plan.actual).rowsRead <= Self.zones.count + 2 * 10)
    }

    @Test("Zones that come and go between two pages")
    func changesBetweenPages() throws {
        for isAscending in [true, false] {
            let client = try Self.notes()
            let query = Query("Note", order: [.key("rank", isAscending: isAscending)])
            let first = try client.store.query(.new(query), in: client.database, limit: 300, as: client.actor)
            let place = try #require(first.matches.last?.id.zone.name)
            let gone = [place, "Z39"]
            let rest = try Self.pages(client, query, limit: 1_000).dropFirst(300)
            try #require(client.zones(save: ["New"], delete: gone).allSatisfy { $0 == nil })
            try #require(client.codes([Client.Save("late", ["rank": .int64(999)], in: "New")]) == [nil])
            let cursor = try client.store.cursor(from: client.store.bytes(of: try #require(first.cursor)))
            let next = try client.store.query(
                .continued(cursor), in: client.database, limit: 2_000, as: client.actor
            ).matches.map(\.id)
            #expect(next.filter { $0.zone.name != "New" } == rest.filter { !gone.contains($0.zone.name) })
            #expect(next.count { $0.zone.name == "New" } == 1)
        }
    }

    @Test("Estimates know where the records are")
    func unevenZones() throws {
        let client = try Client(.embedded)
        try #require(client.zones(save: Self.zones).allSatisfy { $0 == nil })
        for start in stride(from: 0, to: 4_000, by: 400) {
            let saves = (start..<start + 400).map { number in
                let number = Int64(number)
                return Client.Save("n\(number)", ["flag": .int64(number % 10 / 9), "rank": .int64(number)], in: "Z1")
            }
            try #require(client.codes(saves).allSatisfy { $0 == nil })
        }
        try client.store.declareIndexes(
            type: "Note", fields: [("flag", [.queryable]), ("rank", [.queryable, .sortable])])
        client.store.awaitIndexes()
        let query = try Self.query("flag = 0", [.key("rank", isAscending: true)])
        let page = try client.store.query(.new(query), in: client.database, limit: 10, as: client.actor)
        #expect(page.matches.map(\.id.name) == (0..<9).map { "n\($0)" } + ["n10"])
        #expect(page.plan.text.contains("index Note.rank: all rows"), "\(page.plan.text)")
    }

    @Test("Without zones nothing matches")
    func noZones() throws {
        let client = try Self.notes()
        try #require(client.zones(delete: Self.zones).allSatisfy { $0 == nil })
        for isAscending in [true, false] {
            let query = Query("Note", order: [.key("rank", isAscending: isAscending)])
            #expect(try Self.pages(client, query, limit: 5).isEmpty)
        }
        #expect(try Self.pages(client, try Self.query("rank = 0", []), limit: 5).isEmpty)
    }

    @Test("A query of one zone reads no rows of others", arguments: ["rank = 0", "rank >= 0", "rank > 5000"])
    func oneZone(format: String) throws {
        let client = try Self.notes()
        for order in [[], [SortKey.key("rank", isAscending: true)], [.key("rank", isAscending: false)]] {
            let query = Query(
                "Note", where: try PredicateParser.parse(format), order: order, zone: ZoneID("Z7"))
            let page = try client.store.query(.new(query), in: client.database, limit: 100, as: client.actor)
            let actual = try #require(page.plan.actual)
            #expect(page.matches.allSatisfy { $0.id.zone.name == "Z7" } && !page.matches.isEmpty)
            #expect(page.plan.text.contains("index Note.rank"))
            #expect(actual.rowsRead <= 2 * page.matches.count + 2)
        }
    }

    @Test("A zone that is gone has no rows, and one that is new has its own")
    func changedZones() throws {
        let client = try Self.notes()
        let query = Query(
            "Note", where: try PredicateParser.parse("rank = 0"), order: [.key("rank", isAscending: true)])
        let before = try Self.pages(client, query, limit: 9)
        try #require(client.zones(save: ["New"], delete: ["Z3", "Z39"]).allSatisfy { $0 == nil })
        try #require(client.codes([Client.Save("n0", ["rank": .int64(0)], in: "New")]) == [nil])
        let after = try Self.pages(client, query, limit: 9)
        #expect(after.filter { $0.zone.name != "New" } == before.filter { !["Z3", "Z39"].contains($0.zone.name) })
        #expect(after.filter { $0.zone.name == "New" }.map(\.name) == ["n0"])
    }
}
