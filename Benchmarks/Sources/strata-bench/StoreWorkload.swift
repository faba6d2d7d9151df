import Glibc
import StrataLog
import StrataModel
import StrataStore
import StrataSystem

/// The whole store beside SQLite: tasks with ten fields, three indexes, a million of them there before.
struct StoreWorkload: Workload {
    static let name = "store"
    static let requestCount = 400
    static let clientCount = 64

    enum Part: String, CaseIterable {
        case requests, clients, single, fetch, growth, cascade, empty, fresh, assets, refusals, compaction
    }

    let size: WorkloadSize
    let folder: String
    let records = TaskRecords()

    init(size: WorkloadSize, folder: String) {
        self.size = size
        self.folder = folder
    }

    /// How many records both have before; `STRATA_BENCH_RECORDS` says otherwise.
    private var recordCount: Int {
        let wanted = getenv("STRATA_BENCH_RECORDS").flatMap { Int(String(cString: $0)) }
        return wanted ?? (size.isQuick ? 20_000 : 1_000_000)
    }

    private func isWanted(_ part: Part) -> Bool { size.part == nil || size.part == part.rawValue }

    func run(_ progress: (String) -> Void) throws -> [Measurement] {
        var measurements: [Measurement] = []
        if [Part.requests, .clients, .single, .fetch].contains(where: { isWanted($0) }) {
            progress("store: \(recordCount) records into each")
            let pair = try StorePair(records, count: recordCount, in: folder)
            defer { pair.close() }
            if isWanted(.fetch) { measurements += try fetches(pair, progress) }
            if isWanted(.requests) { measurements += try requests(pair, progress) }
            if isWanted(.clients) { measurements += try clients(pair, progress) }
            if isWanted(.single) { measurements += try singles(pair, progress) }
        }
        if isWanted(.growth) { measurements += try growth(progress) }
        if isWanted(.cascade) { measurements += try cascades(progress) }
        if isWanted(.empty) { measurements += try empty(progress) }
        if isWanted(.refusals) { measurements += try refusals(progress) }
        if isWanted(.fresh) { measurements += try fresh(progress) }
        if isWanted(.compaction) { measurements += try compactions(progress) }
        if isWanted(.assets) { measurements += try assets(progress) }
        return measurements
    }

    // MARK: Rounds

    /// Four rounds of eight seconds make the half minute that a measurement takes.
    var rounds: Int { size.isQuick ? 2 : 4 }
    var seconds: Double { size.isQuick ? 0.4 : 8 }

    /// What a side left to be written back is not another's to pay for.
    func alternate(_ sides: [() throws -> Double]) throws -> [[Double]] {
        try alternating(rounds: rounds, sides) { Glibc.sync() }
    }

    func timed(finish: () throws -> Void = {}, _ body: () throws -> Int) throws -> Double {
        let start = secondsNow()
        var count = 0
        while secondsNow() - start < seconds { count += try body() }
        try finish()
        return Double(count) / (secondsNow() - start)
    }

    func measurement(
        _ metric: String, _ unit: String, _ strata: [Double], _ peer: String, _ values: [Double],
        _ bar: Measurement.Bar
    ) -> Measurement {
        Measurement(
            workload: Self.name, metric: metric, unit: unit, strata: strata, peer: peer, peerValues: values, bar: bar)
    }

    // MARK: Nothing there before

    /// The same beside an empty store: what the size of the other one costs.
    private func empty(_ progress: (String) -> Void) throws -> [Measurement] {
        let pair = try StorePair(records, count: 0, in: folder)
        defer { pair.close() }
        let measured =
            try requests(pair, progress) + clients(pair, progress, isBrief: true)
            + singles(pair, progress, isBrief: true)
        return measured.map { measurement in
            var measurement = measurement
            measurement.metric = "empty at first: \(measurement.metric)"
            measurement.bar = .none
            return measurement
        }
    }
}

/// Both stores with the same records in them.
final class StorePair {
    let store: Store
    let peer: SQLiteStore
    let records: TaskRecords
    let numbers: TaskNumbers
    /// How many there were at first.
    let count: Int
    private let path: String
    private let peerPath: String

    init(_ records: TaskRecords, count: Int, in folder: String) throws {
        self.records = records
        self.count = count
        path = "\(folder)/tasks-\(count).strata"
        peerPath = "\(folder)/tasks-\(count).sqlite"
        // A record at least, so that there are fields to be indexed.
        numbers = TaskNumbers(from: max(1, count))
        try Self.fill(path, records, max(1, count))
        var options = StoreOptions()
        // As much memory for pages as SQLite's cache has.
        options.pages.maximumDirtyPages = 256 << 8
        store = try Store.open(at: path, options: options)
        peer = try SQLiteStore(path: peerPath, records)
        try peer.fill(max(1, count))
    }

    /// Without syncing each request, and with larger ones.
    private static func fill(_ path: String, _ records: TaskRecords, _ count: Int) throws {
        var options = StoreOptions.embedded
        options.durability = .system
        let store = try Store.open(at: path, options: options)
        _ = try store.modify(TaskRecords.makingZone, as: TaskRecords.actor)
        let lot = 5_000
        for start in stride(from: 0, to: count, by: lot) {
            _ = try store.modify(records.saving(start..<min(count, start + lot)), as: TaskRecords.actor)
        }
        for key in TaskRecords.indexedKeys { try store.declareIndex(type: TaskRecords.type, field: key) }
        store.awaitIndexes()
        try store.close()
    }

    /// The end of what is measured: no index may be behind.
    func finish() throws {
        store.awaitIndexes()
        guard store.indexLag == 0 else { throw BenchError(message: "the indexes are behind") }
    }

    func close() {
        try? store.close()
        removeTree(path)
        for suffix in ["", "-wal", "-shm"] { unlink(peerPath + suffix) }
    }
}
