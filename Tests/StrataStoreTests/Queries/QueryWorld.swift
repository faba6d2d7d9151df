import StrataModel
import StrataQuery
import StrataViews
import TestSupport
import Testing

@testable import StrataStore

/// A store with records of every kind, and what a plain look at all of them says of a query.
final class QueryWorld {
    static let fields: [(name: String, kind: FieldKind, indexes: SchemaField.Indexes)] = [
        ("i", .int64, [.queryable, .sortable]), ("j", .int64, [.queryable, .sortable]),
        ("d", .double, [.queryable, .sortable]), ("s", .string, [.queryable, .sortable, .searchable]),
        ("w", .string, [.queryable, .sortable, .searchable]), ("t", .date, [.queryable, .sortable]),
        ("b", .data, [.queryable]), ("r", .reference, [.queryable]), ("p", .location, [.queryable]),
        ("li", .int64.list, [.queryable]), ("ld", .double.list, [.queryable]),
        ("ls", .string.list, [.queryable]), ("lt", .date.list, [.queryable]),
        ("lr", .reference.list, [.queryable]),
    ]
    static let systemFields = [
        "___recordID", "___createTime", "___modTime", "___createdBy", "___modifiedBy", "___parent",
    ]
    static let types = ["Thing", "Other"]
    static let zones = ["_defaultZone", "Z1", "Z2", "Z3", "Z4"]

    var random: SeededGenerator
    let clients: [Client]
    private let namesPerZone: Int
    /// By client: what is there.
    private var alive: [[RecordID]]

    init(seed: UInt64, _ options: StoreOptions = .embedded, namesPerZone: Int = 24) throws {
        random = SeededGenerator(seed: seed)
        self.namesPerZone = namesPerZone
        let anna = try Client(options)
        let ben = anna.with { $0.user = "ben" }
        let everyone = anna.with { $0.scope = .public }
        clients = [anna, ben, everyone].map { $0.with { $0.policy = .allKeys } }
        alive = clients.map { _ in [] }
        for client in clients where client.scope == .private {
            try #require(client.zones(save: Array(Self.zones.dropFirst())).allSatisfy { $0 == nil })
        }
        for place in clients.indices { try change(place, count: namesPerZone * 5, deleting: false) }
    }

    var store: Store { clients[0].store }

    func zones(_ client: Int) -> [String] { clients[client].scope == .public ? ["_defaultZone"] : Self.zones }

    // MARK: Changes

    /// Saves records, and deletes some.
    @discardableResult
    func change(_ place: Int, count: Int, deleting: Bool = true) throws -> Set<RecordID> {
        let client = clients[place]
        var saves: [Client.Save] = []
        var deletes: [Client.Deletion] = []
        var touched: Set<RecordID> = []
        var current = Set(alive[place])
        for _ in 0..<count {
            let zone = zones(place)[random.next(below: zones(place).count)]
            let number = random.next(below: namesPerZone)
            let id = RecordID(QueryValues.name(number), zone: ZoneID(zone))
            guard touched.insert(id).inserted else { continue }
            if deleting, random.next(below: 4) == 0 {
                if current.remove(id) != nil { deletes.append(.init(id.name, in: zone)) }
                continue
            }
            var save = Client.Save(id.name, in: zone, type: Self.types[number % 5 == 4 ? 1 : 0])
            for field in Self.fields where random.next(below: 3) > 0 {
                save.fields.append((field.name, try QueryValues.value(field.kind, &random)))
            }
            if random.next(below: 3) == 0 {
                // A parent must be there.
                save.parent = current.filter { $0.zone.name == zone && $0 != id }.map(\.name).sorted().first
            }
            saves.append(save)
            current.insert(id)
        }
        // Records of one request share their time.
        for start in stride(from: 0, to: saves.count, by: 20) {
            let part = Array(saves[start..<min(start + 20, saves.count)])
            let codes = client.with { $0.isAtomic = false }.codes(part)
            // Parents in a circle are refused, and those that are refused themselves.
            try #require(codes.allSatisfy { [nil, .invalidArguments, .referenceViolation].contains($0) }, "\(codes)")
        }
        if !deletes.isEmpty { _ = client.with { $0.isAtomic = false }.codes(deletes: deletes) }
        alive[place] = current.union(alive[place]).filter {
            (try? store.snapshot().record($0, in: client.database, as: client.actor)) != nil
        }
        .sorted { ($0.zone.name, $0.name) < ($1.zone.name, $1.name) }
        return touched
    }

    /// Declares every index with a probability.
    func declareIndexes(_ percent: Int) throws {
        for type in Self.types {
            for field in Self.fields where random.next(below: 100) < percent {
                try declare(type, field.name, field.indexes)
            }
            for field in Self.systemFields where random.next(below: 100) < percent {
                try declare(type, field, [.queryable])
            }
        }
        store.awaitIndexes()
    }

    func declare(_ type: String, _ field: String, _ indexes: SchemaField.Indexes) throws {
        try store.declareIndexes(type: type, fields: [(field, indexes)])
    }

    // MARK: Asking

    struct Page {
        var ids: [RecordID]
        var cursor: QueryCursor?
        var plan: QueryPlan
    }

    func page(_ question: Question, _ place: Int, limit: Int) throws -> Page {
        let client = clients[place]
        let page = try store.query(question, in: client.database, limit: limit, as: client.actor)
        return Page(ids: page.matches.map(\.id), cursor: page.cursor, plan: page.plan)
    }

    /// Everything that matches, through cursors that have been bytes in between.
    func answer(
        _ query: Query, _ place: Int, limits: [Int], between: () throws -> Void = {},
        plan: (QueryPlan) -> Void = { _ in }
    ) throws -> [RecordID] {
        var ids: [RecordID] = []
        var question = Question.new(query)
        for number in 0..<2_000 {
            let limit = limits[number % limits.count]
            let page = try page(question, place, limit: limit)
            plan(page.plan)
            try #require(page.ids.count <= limit && (page.cursor == nil || page.ids.count == limit))
            ids += page.ids
            guard let cursor = page.cursor else { return ids }
            question = .continued(try store.cursor(from: store.bytes(of: cursor)))
            try between()
        }
        throw StrataError(.invalidArgument, "A query has no end.")
    }

    func plainRecords(_ place: Int) throws -> PlainRecords {
        try PlainRecords(alive[place], clients[place], zones(place))
    }
}

/// Few values, so that they meet; and those at the edges of what encodings tell apart.
enum QueryValues {
    static let ints: [Int64] = [0, 1, 2, 3, -1, 7, .min, .max, 1 << 53, 1 << 53 + 1]
    static let doubles: [Double] = [
        0, -0.0, 1, 1.5, -1.5, 2, .nan, .infinity, -.infinity, 1e300, 0x1p53, 0x1p53 + 2, .leastNonzeroMagnitude,
    ]
    static let longText = String(repeating: "p", count: IndexKey.maximumTextBytes)
    static let strings: [String] = [
        "", "a", "A", "ab", "abc", "Äpfel", "apfel", "äpfel", "é", "e\u{301}", "red fox", "the red", "Fox runs", "the",
        longText, longText + "a", longText + "b", longText + "\u{0}", String(longText.dropLast()), "\u{0}", "a\u{0}",
        "a\u{1}b", String(repeating: "ö", count: IndexKey.maximumTextBytes / 2),
        String(repeating: "ö", count: IndexKey.maximumTextBytes / 2 + 1),
        "x" + String(repeating: "ö", count: IndexKey.maximumTextBytes / 2),
        "x" + String(repeating: "ö", count: IndexKey.maximumTextBytes / 2 - 1) + "ä", "😀", "\u{FFFF}",
    ]
    static let dates: [Double] = [0, 1.5, -1e9, 7e8, 7e8 + 0.5, .infinity]
    private static let nines = [UInt8](repeating: 9, count: IndexKey.maximumTextBytes)
    static let bytes: [[UInt8]] = [[], [1], [1, 2], [0], [0, 0], nines, nines + [1], nines + [2]]
    static let places: [(latitude: Double, longitude: Double)] = [
        (0, 0), (90, 0), (-90, 0), (90, 77), (0, 180), (0, -180), (0, 179.9999), (37.33, -122), (37.34, -122.01),
        (37.330_001, -122), (52.5, 13.4), (1e-7, 0), (-33.9, 151.2), (64.1, -21.9),
        // What is no place of the earth, and other names of places that are.
        (.nan, 0), (0, .nan), (100, 0), (-95, 13), (52.5, 373.4), (0, -540), (37.33, 238), (.infinity, 1), (1e17, 1e17),
    ]

    /// Of one letter, with accents, and longer than any key; the last ones differ at once.
    static func name(_ number: Int) -> String {
        switch number % 12 {
        case 10: "\(number)" + String(repeating: "ö", count: 160)
        case 11: "é\(number)"
        case 9: "e\u{301}\(number)"
        case 0 where number == 0: "x"
        default: number < 26 ? String(UnicodeScalar(UInt8(97 + number))) : "r\(number)"
        }
    }

    static func value(_ kind: FieldKind, _ random: inout SeededGenerator) throws -> FieldValue {
        if kind.isList {
            let count = random.next(below: 4)
            return .list(try FieldList((0..<count).map { _ in try value(kind.element, &random) }))
        }
        switch kind {
        case .int64: return .int64(ints[random.next(below: ints.count)])
        case .double: return .double(doubles[random.next(below: doubles.count)])
        case .string: return .string(strings[random.next(below: strings.count)])
        case .date: return .date(dates[random.next(below: dates.count)])
        case .data: return .data(bytes[random.next(below: bytes.count)])
        case .location:
            let place = places[random.next(below: places.count)]
            return .location(.init(latitude: place.latitude, longitude: place.longitude))
        default: return link(name(random.next(below: 14)))
        }
    }
}
