import Glibc
import StrataSystem

/// Strata beside SQLite and RocksDB with the same records: what apps do, one kind of it at a time and mixed.
struct RecordsWorkload: Workload {
    static let name = "records"
    static let requestCount = 400
    static let clientCount = 64

    enum Part: String, CaseIterable {
        case fetch, inserts, updates, zipf, deletes, clients, single, mixed, users, sizes, growth, space, long
    }

    let size: WorkloadSize
    let folder: String

    /// The number of records that all have before.
    var recordCount: Int { size.records ?? (isTrial ? 2_000 : size.isQuick ? 20_000 : Self.fullCount) }
    static let fullCount = 1_000_000

    func isWanted(_ part: Part) -> Bool { size.includes(part.rawValue) }

    func run(_ progress: (String) -> Void) throws -> [Measurement] {
        var all: [Measurement] = []
        try run(progress) { all += $0 }
        return all
    }

    func run(_ progress: (String) -> Void, done: ([Measurement]) throws -> Void) throws {
        // What adds many records has stores of its own, as each row is about the same number of them.
        let groups: [[(Part, (TaskSides, (String) -> Void) throws -> [Measurement])]] = [
            [
                (.fetch, fetches), (.updates, updates), (.zipf, hotUpdates), (.mixed, mixed), (.deletes, deletes),
                (.single, singles),
            ],
            [(.inserts, inserts)], [(.clients, clients)], [(.users, users)],
        ]
        for group in groups where group.contains(where: { isWanted($0.0) }) {
            progress("records: \(recordCount) records into each")
            let sides = try TaskSides(TaskRecords(), count: recordCount, in: folder)
            defer { sides.close() }
            for (part, measure) in group where isWanted(part) { try done(measure(sides, progress)) }
        }
        if isWanted(.sizes) { try done(sizes(progress)) }
        if isWanted(.growth) { try growth(progress, done: done) }
        if isWanted(.space) { try done(space(progress)) }
        if isWanted(.long) { try done(long(progress)) }
    }

    // MARK: Rounds

    var rounds: Int { min(size.rounds, size.isQuick ? 2 : 3) }
    /// With one round the run only has to show that everything works.
    var isTrial: Bool { size.isQuick && size.rounds == 1 }

    func seconds(of run: TaskRun) -> Double {
        if isTrial { return 0.1 }
        if size.isQuick { return 0.4 }
        return run.isReading ? 2 : 5
    }

    /// At most two where stores of several sizes are made.
    var fewRounds: Int { min(2, rounds) }
    var longSeconds: Double { isTrial ? 0.3 : size.isQuick ? 3 : 120 }

    /// The bar of this size: bars belong to the full number of records, or to the quick one.
    func bar(_ full: Measurement.Bar, quick: Measurement.Bar = .none) -> Measurement.Bar {
        if size.isQuick { return size.records == nil && !isTrial ? quick : .none }
        return recordCount == Self.fullCount ? full : .none
    }

    /// Runs all sides in turn, the peers with their best settings.
    func compare(
        _ run: TaskRun, _ sides: TaskSides, rounds: Int? = nil, _ progress: (String) -> Void
    ) throws -> TaskFigures {
        progress("records: \(run.metric)")
        let rounds = rounds ?? self.rounds
        if size.isAlone {
            let strata = try sides.strata()
            let loads = try (0..<rounds).map { _ in try run.load(of: strata, seconds: seconds(of: run)) }
            return TaskFigures(metric: run.metric, unit: run.unit, strata: loads, peers: [])
        }
        return try compare(run, sides, peers(of: run, sides, progress), rounds: rounds)
    }

    func compare(_ run: TaskRun, _ sides: TaskSides, _ peers: TaskPeers, rounds: Int) throws -> TaskFigures {
        let stores: [any TaskStore] = [try sides.strata(), peers.sqlite, peers.rocks]
        // Otherwise a side would wait for the pages that another has left to be written back.
        let loads = try alternating(
            rounds: rounds, stores.map { store in { try run.load(of: store, seconds: seconds(of: run)) } }
        ) { Glibc.sync() }
        let grouped = run.isGrouped ? " grouped" : ""
        return TaskFigures(
            metric: run.metric, unit: run.unit, strata: loads[0],
            peers: [
                ("SQLite\(grouped)", peers.sqlite.configuration, loads[1]),
                ("RocksDB", peers.rocks.configuration, loads[2]),
            ])
    }

    /// Finds the best settings of each peer.
    ///
    /// - Parameter other: the rate of SQLite at what is measured with the same settings beside the run.
    func peers(
        of run: TaskRun, _ sides: TaskSides, _ progress: (String) -> Void,
        beside other: (SQLiteTasks) throws -> Double = { _ in 0 }
    ) throws -> TaskPeers {
        // Writes are tried for a whole round, so that each pays for its checkpoints; reads owe nothing.
        let seconds = run.isReading ? seconds(of: run) / 4 : seconds(of: run)
        func rate(_ store: any TaskStore) throws -> Double { try run.load(of: store, seconds: seconds).rate }
        return try TaskPeers(
            sqlite: best(of: run.configurations.map { try sides.sqlite($0) }, progress) {
                try max(rate($0), other($0))
            },
            rocks: best(of: run.rocksConfigurations.map { try sides.rocks($0) }, progress, rate))
    }

    private func best<Store: TaskStore>(
        of stores: [Store], _ progress: (String) -> Void, _ rate: (Store) throws -> Double
    ) throws -> Store {
        if stores.count == 1 { return stores[0] }
        let trials = try stores.map { store in
            let rate = try rate(store)
            Glibc.sync()
            return (store: store, rate: rate)
        }
        progress(
            "  \(stores[0].engine): "
                + trials.map { "\($0.store.configuration) \($0.rate.short)" }.joined(separator: ", "))
        guard let best = trials.max(by: { $0.rate < $1.rate }) else { throw BenchError(message: "no settings") }
        return best.store
    }

    /// Rows of the rates, and a row of what a bar is about beside them.
    func measurements(_ figures: TaskFigures, bars: [String: Measurement.Bar] = [:]) -> [Measurement] {
        figures.measurements(Self.name, records: recordCount, bars: bars)
    }
}

/// The peers of a run with their best settings.
struct TaskPeers {
    var sqlite: SQLiteTasks
    var rocks: RocksTasks
}
