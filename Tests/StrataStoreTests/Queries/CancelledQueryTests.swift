import StrataModel
import StrataQuery
import StrataSystem
import Testing

@testable import StrataStore

/// A query that nobody waits for any more ends soon, whatever it is doing.
@Suite(.timeLimit(.minutes(5))) struct CancelledQueryTests {
    private func ask(_ client: Client, _ format: String, _ order: [SortKey], cancelAfter calls: Int) throws -> Int {
        let query = Query("Note", where: try PredicateParser.parse(format), order: order)
        let asked = Lock(0)
        let isCancelled: @Sendable () -> Bool = {
            asked.withLock { count in
                count += 1
                return count > calls
            }
        }
        #expect(throws: QueryError.cancelled, "\(format) by \(order)") {
            try client.store.query(
                .new(query), in: client.database, limit: 2_000, as: client.actor, isCancelled: isCancelled)
        }
        return asked.withLock { $0 }
    }

    @Test func `every kind of plan`() throws {
        let client = try Client(.embedded)
        _ = try ManyNotes(client, count: 2_600)
        for declares in [false, true] {
            if declares {
                let fields: [(String, SchemaField.Indexes)] = [
                    ("kind", [.queryable, .sortable]), ("rank", [.queryable, .sortable]), ("title", .queryable),
                    ("place", .queryable), ("___recordID", .queryable),
                ]
                try client.store.declareIndexes(type: "Note", fields: fields)
                client.store.awaitIndexes()
            }
            for (format, order) in ManyNotes.questions {
                // Whoever is told stops; a few threads may ask once more.
                #expect(try ask(client, format, order, cancelAfter: 0) <= 64, "\(format)")
            }
        }
        // The canary: without being cancelled it has an answer.
        #expect(try client.find("kind = 3", limit: 2_000).matches.count == 520)
    }

    @Test func `many small zones`() throws {
        let client = try Client(.embedded)
        let zones = (0..<60).map { "Z\($0)" }
        _ = client.zones(save: zones)
        for zone in zones {
            let saves = (0..<40).map { Client.Save("n\($0)", ["rank": .int64(Int64($0))], in: zone) }
            #expect(client.codes(saves).allSatisfy { $0 == nil })
        }
        for order in [[], [SortKey.key("rank", isAscending: false)]] {
            #expect(try ask(client, "rank != 3", order, cancelAfter: 3) < 100)
        }
        #expect(try client.find("rank = 3", limit: 2_000).matches.count == 60)
    }
}
