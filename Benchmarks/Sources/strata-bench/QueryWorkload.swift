import Glibc
import StrataModel
import StrataQuery
import StrataStore
import StrataSystem

/// Queries beside SQLite with the same indexes; values are decoded to Swift types on both sides.
struct QueryWorkload: Workload {
    static let name = "query"

    enum Part: String, CaseIterable {
        case peers, alone, pages, zones, building
    }

    let size: WorkloadSize
    let folder: String
    private let actor = Actor(user: "anna", device: "phone")

    init(size: WorkloadSize, folder: String) {
        self.size = size
        self.folder = folder
    }

    private var recordCount: Int { size.records ?? (size.isQuick ? 100_000 : 1_000_000) }

    private func isWanted(_ part: Part) -> Bool { size.includes(part.rawValue) }

    func run(_ progress: (String) -> Void) throws -> [Measurement] {
        var measurements: [Measurement] = []
        if Part.allCases.contains(where: { $0 != .zones && isWanted($0) }) {
            progress("query: \(recordCount) records")
            let records = QueryRecords(count: recordCount)
            let path = "\(folder)/query.strata"
            let store = try fill(records, at: path)
            defer {
                try? store.close()
                removeTree(path)
            }
            if isWanted(.building) { measurements += try building(store, records, progress) }
            try index(store)
            if isWanted(.alone) { measurements += try alone(store, records, progress) }
            if isWanted(.pages) { measurements += try pages(store, progress) }
            if isWanted(.peers) { measurements += try beside(store, records, progress) }
            if isWanted(.building) { measurements.append(try savesWhileBuilding(store, records, progress)) }
        }
        if isWanted(.zones) { measurements += try zones(progress) }
        return measurements
    }

    private func open(_ path: String) throws -> Store {
        var options = StoreOptions.embedded
        options.durability = .system
        return try Store.open(at: path, options: options)
    }

    private func fill(_ records: QueryRecords, at path: String) throws -> Store {
        let store = try open(path)
        _ = try store.modify(QueryRecords.making([QueryRecords.zone]), as: actor)
        for start in stride(from: 0, to: records.count, by: 5_000) {
            _ = try store.modify(records.saving(start..<min(records.count, start + 5_000)), as: actor)
        }
        return store
    }

    private func index(_ store: Store) throws {
        try store.declareIndexes(
            type: QueryRecords.type,
            fields: [
                ("project", .queryable), ("bucket", .queryable), ("due", [.queryable, .sortable]),
                ("place", .queryable), ("title", .searchable), ("notes", .searchable),
            ])
        store.awaitIndexes()
    }

    // MARK: Asking

    private func query(_ format: String, _ order: [SortKey] = [], zone: ZoneID? = nil) throws -> Query {
        Query(QueryRecords.type, where: try PredicateParser.parse(format), order: order, zone: zone)
    }

    /// Decodes the name and every value of what comes; returns the number of records.
    private func ask(_ store: Store, _ question: Question, limit: Int, as other: Actor? = nil) throws -> Int {
        let page = try store.query(question, in: QueryRecords.database, limit: limit, as: other ?? actor)
        var count = 0
        for record in page.matches {
            _ = record.id
            try record.forEachField { _, _ in }
            count += 1
        }
        return count
    }

    // MARK: Beside SQLite

    private struct Comparison {
        var metric: String
        /// What Strata may take of SQLite's time.
        var bar: Double
        var limit: Int
        var query: (Int) throws -> Query
        var condition: String
        var arguments: (Int) -> [QueryPeer.Argument]
    }

    private func comparisons(_ records: QueryRecords) -> [Comparison] {
        func place(_ turn: Int, below count: Int) -> Int { turn &* 7_919 % max(1, count) }
        let (buckets, projects) = (
            records.count / QueryRecords.recordsPerBucket, records.count / QueryRecords.recordsPerProject
        )
        let latest = Double(1 << 30)
        let byDue: [SortKey] = [.key("due", isAscending: true)]
        return [
            Comparison(
                metric: "indexed equality, 100 hits", bar: 0.55, limit: 1_000,
                query: { try query("bucket = \(place($0, below: buckets))") }, condition: "bucket = ?",
                arguments: { [.integer(Int64(place($0, below: buckets)))] }),
            Comparison(
                metric: "range and sort on one field, 200", bar: 0.55, limit: 200,
                query: { try query("due > CAST(\(latest / 1_000 * Double(place($0, below: 900))), 'NSDate')", byDue) },
                condition: "due > ? ORDER BY due LIMIT 200",
                arguments: { [.real(latest / 1_000 * Double(place($0, below: 900)))] }),
            Comparison(
                metric: "equality sorted by another, 200 of 5,000", bar: 1 / 1.5, limit: 200,
                query: { try query("project = \(place($0, below: projects))", byDue) },
                condition: "project = ? ORDER BY due LIMIT 200",
                arguments: { [.integer(Int64(place($0, below: projects)))] }),
            Comparison(
                metric: "filter without an index, 1 %", bar: 1 / 1.5, limit: 10_000,
                query: { try query("NOT priority != \(place($0, below: 100))") },
                condition: "NOT priority != ? LIMIT 10000",
                arguments: { [.integer(Int64(place($0, below: 100)))] }),
            Comparison(
                metric: "CONTAINS[c], about 60 hits", bar: 1 / 1.5, limit: 10_000,
                query: { try query("notes CONTAINS[c] '\(records.word(place($0, below: 16_000)))'") },
                condition: "notes LIKE ?",
                arguments: { [.text("%" + records.word(place($0, below: 16_000)) + "%")] }),
        ]
    }

    private func beside(
        _ store: Store, _ records: QueryRecords, _ progress: (String) -> Void
    ) throws -> [Measurement] {
        progress("query: SQLite with the same")
        let path = "\(folder)/query.sqlite"
        let peer = try QueryPeer(path: path, records)
        // To look at one of them alone.
        let wanted = getenv("STRATA_BENCH_METRIC").map { String(cString: $0) }
        return try comparisons(records).filter { wanted.map($0.metric.contains) ?? true }.map { comparison in
            progress("query: \(comparison.metric)")
            var (turn, peerTurn) = (0, 0)
            let found = try ask(store, .new(comparison.query(3)), limit: comparison.limit)
            let expected = try peer.count(comparison.condition, comparison.arguments(3))
            guard found == expected else {
                throw BenchError(message: "\(comparison.metric): \(found) records, SQLite \(expected)")
            }
            let figures = try alternating(
                rounds: size.rounds,
                [
                    {
                        try size.milliseconds {
                            turn += 1
                            _ = try ask(store, .new(comparison.query(turn)), limit: comparison.limit)
                        }
                    },
                    {
                        try size.milliseconds {
                            peerTurn += 1
                            _ = try peer.count(comparison.condition, comparison.arguments(peerTurn))
                        }
                    },
                ])
            return Measurement(
                workload: Self.name, metric: comparison.metric, unit: "ms", records: recordCount,
                strata: figures[0], peer: "SQLite",
                peerValues: figures[1], bar: .ratioAtMost(comparison.bar))
        }
    }

    // MARK: Alone

    private func measurement(
        _ metric: String, _ unit: String, _ values: [Double], _ bar: Measurement.Bar
    ) -> Measurement {
        Measurement(
            workload: Self.name, metric: metric, unit: unit, records: recordCount, strata: values, bar: bar)
    }

    private func rounds(_ body: () throws -> Void) throws -> [Double] {
        try body()
        return try (0..<size.rounds).map { _ in try size.milliseconds(body) }
    }

    private func alone(
        _ store: Store, _ records: QueryRecords, _ progress: (String) -> Void
    ) throws -> [Measurement] {
        progress("query: words, places")
        var (turn, hits) = (0, 0)
        let words = try rounds {
            turn += 1
            let (first, second) = (records.word(turn * 31 % 16_000), records.word(turn * 37 % 16_000))
            hits = try ask(store, .new(try query("self CONTAINS '\(first) \(second)'")), limit: 10_000)
        }
        let near = try rounds {
            turn += 1
            let (latitude, longitude) = (48 + Double(turn % 600) / 100, 7 + Double(turn % 700) / 100)
            let place = "CAST({\(latitude), \(longitude)}, 'CLLocation')"
            let question = try query(
                "distanceToLocation:fromLocation:(place, \(place)) < 10000",
                [.distance(key: "place", latitude: latitude, longitude: longitude)])
            _ = try ask(store, .new(question), limit: 50)
        }
        return [
            measurement("two words, \(hits) hits", "ms", words, .atMost(5)),
            measurement("within 10 km, by distance, 50", "ms", near, .atMost(5)),
        ]
    }

    private func pages(_ store: Store, _ progress: (String) -> Void) throws -> [Measurement] {
        progress("query: pages")
        let question = try query("TRUEPREDICATE", [.key("due", isAscending: true)])
        let pageCount = min(1_000, recordCount / 200 - 1)
        var cursor: QueryCursor?
        for _ in 1..<pageCount {
            let next = cursor.map { Question.continued($0) } ?? .new(question)
            cursor = try store.query(next, in: QueryRecords.database, limit: 200, as: actor).cursor
        }
        guard let cursor else { throw BenchError(message: "there are no pages") }
        let figures = try alternating(
            rounds: size.rounds,
            [
                { try size.milliseconds { _ = try ask(store, .continued(cursor), limit: 200) } },
                { try size.milliseconds { _ = try ask(store, .new(question), limit: 200) } },
            ])
        return [
            Measurement(
                workload: Self.name, metric: "page \(pageCount) by cursor", unit: "ms", records: recordCount,
                strata: figures[0], peer: "page 1", peerValues: figures[1], bar: .ratioAtMost(1.5))
        ]
    }

    // MARK: Building

    private func building(
        _ store: Store, _ records: QueryRecords, _ progress: (String) -> Void
    ) throws -> [Measurement] {
        progress("query: building an index")
        let start = secondsNow()
        try store.declareIndexes(type: QueryRecords.type, fields: [("bucket", .queryable)])
        store.awaitIndexes()
        return [
            measurement("building an index of \(records.count)", "s", [secondsNow() - start], .atMost(3))
        ]
    }

    /// How long requests of one new record take while an index is built, and for a second before it is declared. It
    /// leaves more records than before.
    private func savesWhileBuilding(
        _ store: Store, _ records: QueryRecords, _ progress: (String) -> Void
    ) throws -> Measurement {
        progress("query: saves while an index is built")
        var next = records.count
        func save() throws -> Double {
            let start = secondsNow()
            _ = try store.modify(records.saving(next..<next + 1), as: actor)
            next += 1
            return (secondsNow() - start) * 1_000
        }
        func mean(_ values: [Double]) -> Double { values.reduce(0, +) / Double(max(1, values.count)) }
        var (alone, building): ([Double], [Double]) = ([], [])
        for key in ["priority", "title", "notes"] {
            let start = secondsNow()
            var times: [Double] = []
            while secondsNow() - start < 1 { times.append(try save()) }
            alone.append(mean(times))
            try store.declareIndexes(type: QueryRecords.type, fields: [(key, .queryable)])
            times = []
            while try store.indexes.contains(where: { !$0.isReady }) { times.append(try save()) }
            building.append(mean(times))
        }
        return Measurement(
            workload: Self.name, metric: "a save while an index is built", unit: "ms", records: recordCount,
            strata: building, peer: "before", peerValues: alone, bar: .ratioAtMost(2))
    }

    // MARK: Small zones in a large store

    private func zones(_ progress: (String) -> Void) throws -> [Measurement] {
        let userCount = size.isQuick ? 100 : 1_000
        progress("query: \(userCount * 1_000) records in \(userCount * 10) zones")
        let large = try shared(userCount, at: "\(folder)/users.strata")
        let small = try shared(1, at: "\(folder)/user.strata")
        defer {
            try? large.close()
            try? small.close()
        }
        func measure(_ metric: String, _ zone: ZoneID?) throws -> Measurement {
            let question = try query("bucket < 5", [.key("due", isAscending: true)], zone: zone)
            var turn = 0
            let figures = try alternating(
                rounds: size.rounds,
                [
                    {
                        try size.milliseconds {
                            turn += 1
                            let user = Actor(user: "user\(turn &* 7_919 % userCount)", device: "phone")
                            _ = try ask(large, .new(question), limit: 200, as: user)
                        }
                    },
                    {
                        try size.milliseconds {
                            _ = try ask(small, .new(question), limit: 200, as: Actor(user: "user0", device: "phone"))
                        }
                    },
                ])
            return Measurement(
                workload: Self.name, metric: metric, unit: "ms", strata: figures[0], peer: "alone",
                peerValues: figures[1], bar: .ratioAtMost(2))
        }
        return [
            try measure("a zone of 100 among \(userCount * 10)", ZoneID("Zone 3")),
            try measure("a database of 1,000 among \(userCount)", nil),
        ]
    }

    /// Ten zones of a hundred records for each user.
    private func shared(_ userCount: Int, at path: String) throws -> Store {
        let store = try open(path)
        let records = QueryRecords(count: 1_000)
        let zones = (0..<10).map { ZoneID("Zone \($0)") }
        let saving = records.saving(0..<1_000, into: zones)
        for user in 0..<userCount {
            let actor = Actor(user: "user\(user)", device: "phone")
            _ = try store.modify(QueryRecords.making(zones), as: actor)
            _ = try store.modify(saving, as: actor)
        }
        try index(store)
        return store
    }
}
