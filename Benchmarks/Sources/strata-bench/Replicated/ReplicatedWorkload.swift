import Glibc
import StrataConnections
import StrataLog
import StrataModel
import StrataReplication
import StrataStore
import StrataSystem

/// Stores whose log servers order, beside a client that gives the servers the same bytes.
struct ReplicatedWorkload: Workload {
    static let name = "replicated"

    enum Part: String, CaseIterable {
        case entries, grouping, processes, visibility, copying, reads, failures
    }

    let size: WorkloadSize
    let folder: String
    let records = TaskRecords()

    init(size: WorkloadSize, folder: String) {
        self.size = size
        self.folder = folder
    }

    func isWanted(_ part: Part) -> Bool { size.includes(part.rawValue) }

    /// `STRATA_BENCH_SEQUENCER` names one kind of servers.
    func run(_ progress: (String) -> Void) throws -> [Measurement] {
        let wanted = getenv("STRATA_BENCH_SEQUENCER").map { String(cString: $0) }
        var measurements: [Measurement] = []
        for kind in SequencerKind.allCases where wanted ?? kind.rawValue == kind.rawValue {
            if let obstacle = kind.obstacle {
                progress("replicated: \(kind.rawValue) is left out: \(obstacle)")
                continue
            }
            let figures = try run(kind) { progress("replicated: \(kind.rawValue): \($0)") }
            measurements += figures.map { measurement in
                var measurement = measurement
                measurement.metric = "\(kind.rawValue): \(measurement.metric)"
                return measurement
            }
        }
        return measurements
    }

    private func run(_ kind: SequencerKind, _ progress: (String) -> Void) throws -> [Measurement] {
        var measurements: [Measurement] = []
        if Part.allCases.contains(where: { $0 != .failures && isWanted($0) }) {
            progress("starting servers")
            let servers = try kind.start(in: base)
            if isWanted(.entries) { measurements += try entries(servers, progress) }
            if isWanted(.grouping) { measurements += try grouping(servers, progress) }
            if isWanted(.processes) { measurements += try processes(servers, progress) }
            if isWanted(.visibility) { measurements += try visibility(servers, progress) }
            if isWanted(.copying) { measurements += try copying(servers, progress) }
            if isWanted(.reads) { measurements += try reads(servers, progress) }
        }
        if isWanted(.failures) { measurements += try failures(kind, progress) }
        return measurements
    }

    /// The directory for the servers' files, which is that of the stores' folder.
    var base: String { folder.split(separator: "/").dropLast().reduce("") { "\($0)/\($1)" } }

    /// The time that one side of a round takes.
    var seconds: Double { size.isQuick ? 0.5 : 3 }

    // MARK: Stores

    static func open(
        _ path: String, _ address: ServerAddress, writes: LogPlace.Writes = .anywhere
    ) throws -> Store {
        var options = StoreOptions.embedded
        options.place = try SequencerKind.place(address).writing(writes)
        return try Store.open(at: path, options: options)
    }

    /// Creates a store with a zone and the names that its records need.
    func create(_ servers: any SequencerServers, _ name: String) throws -> (store: Store, address: ServerAddress) {
        let address = try servers.create(name)
        let store = try Self.open("\(folder)/\(name).strata", address)
        try Self.prepare(store, records)
        return (store, address)
    }

    static func prepare(_ store: Store, _ records: TaskRecords) throws {
        _ = try store.modify(TaskRecords.makingZone, as: TaskRecords.actor)
        try save(1 << 40..<1 << 40 + 1, records, store)
    }

    static func save(_ numbers: Range<Int>, _ records: TaskRecords, _ store: Store) throws {
        for save in try store.modify(records.saving(numbers), as: TaskRecords.actor).result.saves { _ = try save.get() }
    }

    func remove(_ store: Store, _ name: String) {
        try? store.close()
        removeTree("\(folder)/\(name).strata")
    }

    // MARK: Rounds

    /// Runs all sides in turn, as often as there are rounds.
    func alternate(_ sides: [() throws -> Load]) throws -> [[Load]] {
        try alternating(rounds: size.rounds, sides) { Glibc.sync() }
    }

    func measurement(
        _ metric: String, _ unit: String, _ strata: [Double], beside peer: String? = nil, _ values: [Double] = [],
        bar: Measurement.Bar = .none
    ) -> Measurement {
        Measurement(
            workload: Self.name, metric: metric, unit: unit, strata: strata, peer: peer, peerValues: values, bar: bar)
    }

    /// Returns the rate of a load with its bar, and what is only to be known of it.
    func measurements(
        _ metric: String, _ unit: String, _ strata: [Load], beside peer: String, _ peers: [Load],
        bar: Measurement.Bar = .none
    ) -> [Measurement] {
        func figures(_ name: String, _ unit: String, _ figure: (Load) -> Double) -> Measurement {
            measurement("\(metric): \(name)", unit, strata.map(figure), beside: peer, peers.map(figure))
        }
        return [
            measurement(metric, "\(unit)/s", strata.map(\.rate), beside: peer, peers.map(\.rate), bar: bar),
            figures("median", "ms") { $0.milliseconds(of: 0.5) },
            figures("p99", "ms") { $0.milliseconds(of: 0.99) },
            figures("processor", "µs/\(unit.dropLast())") { $0.processorMicroseconds },
        ]
    }
}
