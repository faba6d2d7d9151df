import StrataModel
import StrataQuery
import TestSupport

@testable import StrataStore

/// Notes in numbers that make plans differ: five kinds, ranks in any order, titles, and places around a city.
struct ManyNotes {
    private let client: Client
    private let count: Int

    static let questions: [(format: String, order: [SortKey])] = [
        ("kind = 3", [.key("rank", isAscending: true)]),
        ("kind = 3 AND rank < 1500", []),
        ("kind = 3 AND rank < 520", [.key("title", isAscending: true)]),
        ("kind < 5 AND rank BETWEEN {100, 1800}", [.key("title", isAscending: true)]),
        ("kind < 8", [.key("kind", isAscending: false), .key("rank", isAscending: true)]),
        ("TRUEPREDICATE", [.key("kind", isAscending: false)]),
        ("TRUEPREDICATE", [.key("kind", isAscending: true), .key("title", isAscending: false)]),
        ("kind != 3", [.distance(key: "place", latitude: 52.5, longitude: 13.4)]),
        ("TRUEPREDICATE", [.distance(key: "place", latitude: 52.5, longitude: 13.4)]),
        ("kind = 1 OR kind = 2", [.key("rank", isAscending: false)]),
        ("kind IN {1, 4} AND rank > 700", [.key("title", isAscending: false)]),
        ("title BEGINSWITH 'note 1'", [.key("title", isAscending: false)]),
        (
            "distanceToLocation:fromLocation:(place, CAST({52.5, 13.4}, 'CLLocation')) < 20000",
            [.distance(key: "place", latitude: 52.5, longitude: 13.4)]
        ),
        ("distanceToLocation:fromLocation:(place, CAST({52.5, 13.4}, 'CLLocation')) < 5000", []),
    ]

    init(_ client: Client, count: Int, seed: UInt64 = 1) throws {
        self.client = client
        self.count = count
        var random = SeededGenerator(seed: seed)
        for start in stride(from: 0, to: count, by: 250) {
            let saves = (start..<min(start + 250, count)).map { number in
                var save = Client.Save("n\(number)")
                save.fields = [
                    ("kind", .int64(Int64(number % 5))), ("rank", .int64(Int64(random.next(below: count)))),
                    ("title", .string("note \(random.next(below: 400))")),
                ]
                if number % 50 > 0 {
                    // Few different places, so that distances tie.
                    let place = (
                        52.3 + Double(random.next(below: 40)) / 100, 13.2 + Double(random.next(below: 40)) / 100
                    )
                    save.fields.append(("place", .location(.init(latitude: place.0, longitude: place.1))))
                }
                return save
            }
            guard client.codes(saves).allSatisfy({ $0 == nil }) else {
                throw StrataError(.invalidArgument, "Notes could not be saved.")
            }
        }
    }

    func plain() throws -> PlainRecords {
        try PlainRecords((0..<count).map { client.id("n\($0)") }, client, ["_defaultZone"])
    }
}
