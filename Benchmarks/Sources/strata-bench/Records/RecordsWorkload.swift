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
    private static let fullCount = 1_000_000

    func isWanted(_ part: Part) -> Bool { size.includes(part.rawValue) }

    func run(_ progress: (String) -> Void) throws -> [Measurement] {
        var measurements: [Measurement] = []
        let together: [(Part, (TaskSides, (String) -> Void) throws -> [Measurement])] = [
            (.fetch, fetches), (.inserts, inserts), (.updates, updates), (.zipf, hotUpdates), (.deletes, deletes),
            (.clients, clients), (.single, singles), (.mixed, mixed), (.users, users),
        ]
        if together.contains(where: { isWanted($0.0) }) {
            progress("records: \(recordCount) records into each")
            let sides = try TaskSides(TaskRecords(), count: recordCount, in: folder)
            defer { sides.close() }
            for (part, measure) in together where isWanted(part) { measurements += try measure(sides, progress) }
        }
        if isWanted(.sizes) { measurements += try sizes(progress) }
        if isWanted(.growth) { measurements += try growth(progress) }
        if isWanted(.space) { measurements += try space(progress) }
        if isWanted(.long) { measurements += try long(progress) }
        return measurements
    }

    // MARK: Rounds

    var rounds: Int { min(size.rounds, size.isQuick ? 2 : 3) }
    /// With one round the run only has to show that everything works.
    var isTrial: Bool { size.isQuick && size.rounds == 1 }

    func seconds(of run: TaskRun) -> Double {
        if isTrial { return 0.1 }
        if size.isQuick { return 0.4 }
        return run.isReading ? 3 : 8
    }

    var longSeconds: Double { isTrial ? 0.3 : size.isQuick ? 3 : 120 }

    /// The bar of this size: bars belong to the full number of records, or to the quick one.
    func bar(_ full: Measurement.Bar, quick: Measurement.Bar = .none) -> Measurement.Bar {
        if size.isQuick { return size.records == nil && !isTrial ? quick : .none }
        return recordCount == Self.fullCount ? full : .none
    }

    /// Runs all sides in turn, SQLite with its best settings.
    func compare(_ run: TaskRun, _ sides: TaskSides, _ progress: (String) -> Void) throws -> TaskFigures {
        progress("records: \(run.metric)")
        if size.isAlone {
            let strata = try sides.strata()
            let loads = try (0..<rounds).map { _ in try run.load(of: strata, seconds: seconds(of: run)) }
            return TaskFigures(metric: run.metric, unit: run.unit, strata: loads, peers: [])
        }
        let sqlite = try best(of: run, sides, progress)
        let stores: [any TaskStore] = [try sides.strata(), sqlite, try sides.rocks()]
        // Otherwise a side would wait for the pages that another has left to be written back.
        let loads = try alternating(
            rounds: rounds, stores.map { store in { try run.load(of: store, seconds: seconds(of: run)) } }
        ) { Glibc.sync() }
        let grouped = run.isGrouped ? " grouped" : ""
        return TaskFigures(
            metric: run.metric, unit: run.unit, strata: loads[0],
            peers: [
                ("SQLite\(grouped)", sqlite.configuration, loads[1]), ("RocksDB", "", loads[2]),
            ])
    }

    /// A short trial of each.
    func best(of run: TaskRun, _ sides: TaskSides, _ progress: (String) -> Void) throws -> SQLiteTasks {
        let trials = try run.configurations.map { settings in
            let store = try sides.sqlite(settings)
            let load = try run.load(of: store, seconds: seconds(of: run) / 4)
            Glibc.sync()
            return (store: store, rate: load.rate)
        }
        progress(
            "  SQLite: " + trials.map { "\($0.store.configuration) \($0.rate.short)" }.joined(separator: ", "))
        guard let best = trials.max(by: { $0.rate < $1.rate }) else { throw BenchError(message: "no settings") }
        return best.store
    }

    /// Rows of the rates, and a row of what a bar is about beside them.
    func measurements(_ figures: TaskFigures, bars: [String: Measurement.Bar] = [:]) -> [Measurement] {
        figures.measurements(Self.name, records: recordCount, bars: bars)
    }
}
