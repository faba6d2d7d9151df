import StrataModel
import StrataViews
import Testing

@testable import StrataQuery
@testable import StrataStore

/// Names whose keys are packed, beside others: all are in the order of their texts, and cursors and tokens have the
/// texts (B139, B144).
@Suite struct NameOrderTests {
    private static let uuid = "6F9619FF-8B86-D011-B42D-00C04FC964FF"
    private static let names = [
        uuid, uuid.lowercased(), "{\(uuid)}", uuid + "-", String(uuid.dropLast()), uuid.replacing("6F", with: "6G"),
        "7" + uuid.dropFirst(), "A" + uuid.dropFirst(), "a" + uuid.lowercased().dropFirst(), "6", "6F", "7-Eleven",
        "Apple", "apple", "B", "note-1", "note-10", "~", "-", "\u{E9}t\u{E9}",
        String(repeating: "\u{1F9F6}", count: 80), uuid + String(repeating: "\u{1F9F6}", count: 70),
    ]
    private static let sorted = names.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }

    private let client: Client

    init() throws {
        client = try Client(.embedded).with { $0.zone = "Notes" }
        #expect(client.zones(save: ["Notes"]) == [nil])
        let owner = FieldValue.Reference(RecordKey(zone: 0, name: Self.uuid), action: .none)
        let saves = Self.names.map { name in
            Client.Save(name, ["rank": .int64(Int64(name.utf8.count % 2)), "owner": .reference(owner)])
        }
        #expect(client.codes(saves).allSatisfy { $0 == nil })
    }

    /// The names of all pages; each cursor goes through its bytes.
    private func pages(_ predicate: String, _ order: [SortKey]) throws -> [String] {
        let zone = ZoneID("Notes")
        let query = Query("Note", where: try PredicateParser.parse(predicate), order: order, zone: zone)
        var (names, question) = ([String](), Question.new(query))
        while true {
            let page = try client.store.query(question, in: client.database, limit: 2, as: client.actor)
            names += page.names
            guard let cursor = page.cursor else { return names }
            let last = try #require(page.names.last)
            if last.utf8.count <= RecordState.longestKeyName {
                var (byName, byPlace) = (KeyWriter(), KeyWriter())
                byName.append(name: last)
                byPlace.append(lastName: last)
                // The zone's number takes one byte, and comes first or last.
                let tie = cursor.place.tie
                #expect(
                    tie.dropLast().elementsEqual(byName.bytes) || tie.dropFirst().elementsEqual(byPlace.bytes),
                    "canary: a cursor has the name")
            }
            question = .continued(try client.store.cursor(from: try client.store.bytes(of: cursor)))
        }
    }

    private func expectOrder() throws {
        let ranks = [0, 1].map { rank in Self.sorted.filter { $0.utf8.count % 2 == rank } }
        #expect(try pages("TRUEPREDICATE", []) == Self.sorted)
        #expect(try pages("TRUEPREDICATE", [.key("___recordID", isAscending: true)]) == Self.sorted)
        #expect(try pages("TRUEPREDICATE", [.key("rank", isAscending: true)]) == ranks[0] + ranks[1])
        #expect(try pages("TRUEPREDICATE", [.key("rank", isAscending: false)]) == ranks[1] + ranks[0])
        #expect(try pages("rank = 1", []) == ranks[1])
    }

    @Test func `queries, with and without indexes`() throws {
        try expectOrder()
        try client.store.declareIndexes(
            type: "Note",
            fields: [("___recordID", .queryable), ("rank", [.queryable, .sortable]), ("owner", .queryable)])
        client.store.awaitIndexes()
        try expectOrder()
    }

    @Test func `a feed, page by page from tokens in bytes`() throws {
        var (names, token) = ([String](), FeedToken?.none)
        while true {
            let page = try client.store.zoneChanges(
                of: ZoneID("Notes"), in: client.database, since: token, limit: 2, as: client.actor)
            names += page.changed.map(\.id.name)
            guard page.moreComing else { break }
            if case .scanningRecords(let name) = page.token.progress, name.count <= RecordState.longestKeyName {
                #expect(name == Array(try #require(names.last).utf8), "canary: a token has the name")
            }
            token = try FeedToken(payload: page.token.payload())
        }
        #expect(names == Self.sorted)
    }
}
