import StrataModel
import StrataSystem
import Testing

@testable import StrataQuery
@testable import StrataStore

/// Bytes that are no cursor, or one that nobody was given: a clear refusal, and nothing else.
@Suite(.timeLimit(.minutes(5))) struct CursorBytesTests {
    private let client: Client

    init() throws {
        client = try Client(.embedded)
        #expect(client.zones(save: ["Z"]) == [nil])
        for zone in [nil, "Z"] {
            let saves = (0..<12).map { number in
                Client.Save(
                    "note-\(number)",
                    [
                        "rank": .int64(Int64(number % 3)), "title": .string("t\(number)"),
                        "place": .location(.init(latitude: Double(number), longitude: 3)),
                    ], in: zone)
            }
            #expect(client.codes(saves).allSatisfy { $0 == nil })
        }
    }

    private func cursors() throws -> [QueryCursor] {
        let orders: [[SortKey]] = [
            [], [.key("rank", isAscending: false), .key("title", isAscending: true)],
            [.distance(key: "place", latitude: 3, longitude: 3)], [.key("___modTime", isAscending: false)],
        ]
        var cursors = try orders.map { order in
            try #require(try client.find("rank < 2 AND title != 'x'", order: order, limit: 3).cursor)
        }
        try client.store.declareIndexes(
            type: "Note", fields: [("rank", [.queryable, .sortable]), ("title", .queryable), ("place", .queryable)])
        client.store.awaitIndexes()
        for format in ["rank = 1", "title > 't1'"] {
            cursors.append(try #require(try client.find(format, limit: 3).cursor))
        }
        return cursors
    }

    @Test func `every beginning, every flipped byte, and one byte more`() throws {
        let store = client.store
        func code(_ bytes: [UInt8]) throws -> Refusal.Code? {
            do { _ = try store.cursor(from: bytes) } catch let refusal as Refusal { return refusal.code }
            return nil
        }
        for cursor in try cursors() {
            let bytes = try store.bytes(of: cursor)
            #expect(try store.cursor(from: bytes).payload() == cursor.payload(), "canary")
            for count in 0..<bytes.count { #expect(try code(Array(bytes.prefix(count))) == .invalidArguments) }
            for place in bytes.indices {
                for mask: UInt8 in [1, 0x80, 0xFF] {
                    var flipped = bytes
                    flipped[place] ^= mask
                    #expect(try code(flipped) == .invalidArguments, "byte \(place)")
                }
            }
            #expect(try code(bytes + [0]) == .invalidArguments)
            // The form that had a checksum for a seal, another store's secret, and another purpose.
            var earlier = ByteWriter()
            earlier.append(bytes: cursor.payload())
            #expect(try code(ChecksummedBytes.seal(earlier)) == .invalidArguments)
            let other = StoreSecret(number: 1, key: Array(repeating: 9, count: StoreSecret.byteCount))
            #expect(try code(cursor.sealed(by: other)) == .invalidArguments)
            #expect(try code(store.engine.secret().seal(cursor.payload(), as: .changeToken)) == .invalidArguments)
        }
    }

    @Test func `a place that no record can have`() throws {
        let query = Query("Note", zone: ZoneID("Z"))
        let (number, byName) = ([UInt8](repeating: 2, count: 9), [UInt8]([5, 0, 1]))
        let places: [(QueryOrder, [[UInt8]], [UInt8], isGood: Bool)] = [
            (QueryOrder(keys: []), [], byName, true), (QueryOrder(keys: []), [], [5, 5], false),
            (QueryOrder(keys: []), [], [], false), (QueryOrder(keys: []), [], byName + [1], false),
            (QueryOrder(keys: []), [], [1, 9, 0, 1], false), (QueryOrder(keys: [], ties: .byPlace), [], [], false),
            (QueryOrder(keys: [], ties: .byPlace), [], [1, 5, 5], true),
            (QueryOrder(keys: [.key("rank", isAscending: true)]), [number], byName, true),
            (QueryOrder(keys: [.key("rank", isAscending: true)]), [[2]], byName, false),
            (QueryOrder(keys: [.key("rank", isAscending: true)]), [[]], byName, false),
            (QueryOrder(keys: [.key("rank", isAscending: true)]), [[99]], byName, false),
            (
                QueryOrder(keys: [.key("title", isAscending: true)]), [[5] + Array(repeating: 65, count: 200)], byName,
                false
            ),
            (QueryOrder(keys: [.key("title", isAscending: true)]), [[5, 65, 0, 65]], byName, false),
            (QueryOrder(keys: [.distance(key: "place", latitude: 1, longitude: 2)]), [[3, 1, 2]], byName, false),
        ]
        let store = client.store
        for (order, values, tie, isGood) in places {
            let cursor = QueryCursor(
                store: store.engine.storeID, database: client.database, query: query, order: order,
                place: SortPlace(values: values, tie: tie), now: 0)
            let decoded = try? QueryCursor(payload: cursor.payload())
            #expect((decoded != nil) == isGood, "\(order), \(values), \(tie)")
        }
    }

    /// As if the store had sealed them.
    @Test func `payloads with any byte changed are no damage of the store`() throws {
        let cursors = try cursors()
        let views = client.store.views
        var (refused, answered) = (0, 0)
        for bytes in cursors.map({ $0.payload() }) {
            for place in bytes.indices {
                for change: UInt8 in [1, 0x80, 0xFF, bytes[place]] {
                    var forged = bytes
                    forged[place] ^= change
                    do {
                        let cursor = try QueryCursor(payload: forged)
                        _ = try client.store.query(
                            .continued(cursor), in: client.database, limit: 3, as: client.actor)
                        answered += 1
                    } catch is Refusal {
                        refused += 1
                    } catch let error as StrataError {
                        // Of the bytes themselves.
                        #expect(throws: StrataError.self, "\(error)") { try QueryCursor(payload: forged) }
                        refused += 1
                    }
                }
            }
        }
        #expect(client.store.views === views, "the views were made again")
        #expect(refused > 100 && answered > 20)
    }
}
