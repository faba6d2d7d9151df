import Glibc
import StrataSystem

/// Records of other sizes, stores of other sizes, many users, long runs, and what is left on the disk.
extension RecordsWorkload {
    private static let userCount = 1_000

    /// Each save goes to the private database of one of many users.
    func users(_ sides: TaskSides, _ progress: (String) -> Void) throws -> [Measurement] {
        let userCount = size.isQuick ? Self.userCount / 10 : Self.userCount
        try sides.strata().addUsers(userCount)
        let run = TaskRun(
            metric: "durable single saves by \(userCount) users, each into a database of their own",
            clients: Self.clientCount, isGrouped: true
        ) { [numbers = sides.numbers] store, _ in
            {
                let number = numbers.take(1).lowerBound
                let user = 1 + Int(TaskRecords.mixed(UInt64(number)) % UInt64(userCount))
                try store.write([TaskWrite(kind: .insert, number: number, user: user)])
                return 1
            }
        }
        return try measurements(compare(run, sides, progress))
    }

    // MARK: Sizes of records

    func sizes(_ progress: (String) -> Void) throws -> [Measurement] {
        try TaskRecords.Shape.allCases.flatMap { shape in
            let count = min(recordCount, size.isQuick ? shape.recordCount / 10 : shape.recordCount)
            progress("records: \(count) records of \(shape.rawValue)")
            let sides = try TaskSides(TaskRecords(shape), count: count, in: folder)
            defer { sides.close() }
            var runs = [
                Self.inserting(
                    sides, shape.requestCount,
                    "durable inserts of \(shape.rawValue) in requests of \(shape.requestCount)"),
                Self.fetching(
                    Self.keys(below: count), together: 1, .values,
                    "fetch by ID of \(shape.rawValue), values \(Reading.values.rawValue)"),
            ]
            // The settings that are best at the usual size most of the time; to fill all would take long.
            for place in runs.indices {
                (runs[place].configurations, runs[place].rocksConfigurations) = ([.tuned], [.large])
            }
            return try runs.flatMap { run in
                try compare(run, sides, rounds: fewRounds, progress).measurements(Self.name, records: count)
            }
        }
    }

    // MARK: Sizes of stores

    private var counts: [Int] {
        let all = [10_000, 100_000, 1_000_000, 10_000_000]
        if let wanted = size.records { return all.filter { $0 < wanted } + [wanted] }
        return size.isQuick ? [1_000, 10_000, 50_000] : all
    }

    /// - Parameter done: takes the rows of each size, as those of ten million take long.
    func growth(_ progress: (String) -> Void, done: ([Measurement]) throws -> Void) throws {
        var (fetches, inserts): ([[Double]], [[Double]]) = ([], [])
        for count in isTrial ? Array(counts.prefix(1)) : counts {
            progress("records: \(count) records into each")
            let sides = try TaskSides(TaskRecords(), count: count, in: folder)
            defer { sides.close() }
            var (insert, fetch) = (
                Self.inserting(sides), Self.fetching(Self.keys(below: count), together: 1, .inPlace)
            )
            // The others would take hours to be filled with ten million.
            (insert.configurations, insert.rocksConfigurations) = ([.tuned], [.large])
            (fetch.configurations, fetch.rocksConfigurations) = ([.tuned], [.large])
            insert.metric = "growing: \(insert.metric)"
            fetch.metric = "growing: \(fetch.metric)"
            let fetched = try compare(fetch, sides, rounds: fewRounds, progress)
            fetches.append(fetched.strata.map { 1e6 / $0.rate })
            let inserted = try compare(insert, sides, rounds: fewRounds, progress)
            inserts.append(inserted.strata.map(\.rate))
            try done(
                fetched.measurements(Self.name, records: count) + inserted.measurements(Self.name, records: count))
        }
        guard counts.count > 2, fetches.count == counts.count, let largest = counts.last else { return }
        let last = counts.count - 1
        try done([
            Measurement(
                workload: Self.name, metric: "fetch by ID, \(largest) records", unit: "µs", strata: fetches[last],
                peer: "\(counts[1]) records", peerValues: fetches[1], bar: bar(.ratioAtMost(2))),
            Measurement(
                workload: Self.name, metric: "durable inserts, \(largest) records", unit: "saves/s",
                strata: inserts[last], peer: "\(counts[last - 1]) records", peerValues: inserts[last - 1],
                bar: bar(.ratioAtLeast(0.7))),
        ])
    }

    // MARK: Long runs

    /// Long enough that each side has to do all that it puts off. Each has the process for itself.
    func long(_ progress: (String) -> Void) throws -> [Measurement] {
        let title = "\(Int(longSeconds.rounded(.up))) s"
        let kinds: [(name: String, bars: [String: Measurement.Bar], run: (TaskSides) -> TaskRun)] = [
            (
                "durable inserts in requests of \(Self.requestCount)",
                [
                    "SQLite": bar(.ratioAtLeast(2), quick: .ratioAtLeast(1)),
                    "RocksDB": bar(.ratioAtLeast(0.9), quick: .ratioAtLeast(1)),
                ], { Self.inserting($0) }
            ),
            (
                "durable updates in requests of \(Self.requestCount)",
                ["SQLite": bar(.ratioAtLeast(2), quick: .ratioAtLeast(1))], { Self.updating($0, "") }
            ),
            ("mixed, 16 clients", ["SQLite": bar(.ratioAtLeast(3), quick: .ratioAtLeast(1))], Self.mixing),
        ]
        // All have their settings from trials on the same stores.
        let settings = try longSettings(kinds.map(\.run), progress)
        return try zip(kinds, settings).flatMap { kind, settings in
            var (metric, unit) = ("", "")
            let stores: [(TaskSides) throws -> any TaskStore] = [
                { try $0.strata() }, { try $0.sqlite(settings.sqlite) }, { try $0.rocks(settings.rocks) },
            ]
            let loads = try stores.map { store in
                try aloneInTheProcess { sides in
                    let (store, run) = (try store(sides), kind.run(sides))
                    progress("records: \(kind.name) for \(title): \(store.fullName)")
                    (metric, unit) = ("\(kind.name), \(title)", run.unit)
                    return (store, { try run.load(of: store, seconds: longSeconds) })
                }
            }
            let figures = TaskFigures(
                metric: metric, unit: unit, strata: [loads[0]],
                peers: [("SQLite", settings.sqlite.name, [loads[1]]), ("RocksDB", settings.rocks.name, [loads[2]])])
            let rows = figures.measurements(Self.name, records: recordCount, isLong: true, bars: kind.bars)
            // The calls of the mix are of several kinds.
            return rows + (kind.name.hasPrefix("mixed") ? [] : [tail(figures)])
        }
    }

    private func longSettings(
        _ runs: [(TaskSides) -> TaskRun], _ progress: (String) -> Void
    ) throws -> [(sqlite: SQLiteConfiguration, rocks: RocksConfiguration)] {
        let sides = try TaskSides(TaskRecords(), count: recordCount, in: folder)
        defer { sides.close() }
        return try runs.map { run in
            let peers = try peers(of: run(sides), sides, progress)
            return (peers.sqlite.settings, peers.rocks.settings)
        }
    }

    /// Runs a load of one store with nothing else in the process, and notes its memory and what it is on the disk.
    private func aloneInTheProcess(
        _ prepare: (TaskSides) throws -> (any TaskStore, () throws -> Load)
    ) throws -> Load {
        let sides = try TaskSides(TaskRecords(), count: recordCount, in: folder)
        defer { sides.close() }
        let before = MemoryGauge.anonymousAtRest
        let (store, body) = try prepare(sides)
        var (load, peak) = try MemoryGauge.peakOfAnonymous(beyond: before, body)
        load.peakMebibytes = peak
        load.diskBytes = store.diskBytes
        return load
    }
}
