import Glibc

/// One piece of work that all stores do in turn.
struct TaskRun {
    var metric: String
    var unit = "saves/s"
    var clients = 1
    /// The settings among which SQLite's best are looked for.
    var configurations = SQLiteConfiguration.all
    var rocksConfigurations = RocksConfiguration.all
    /// True if what SQLite's clients have waiting goes into one transaction.
    var isGrouped = false
    /// True if nothing is written, so that nothing has to be flushed either.
    var isReading = false
    /// Prepares a side before the clients of a round begin.
    var prepare: @Sendable (any TaskStore) throws -> Void = { _ in }
    /// Makes what one client does, after its preparations.
    var client: @Sendable (any TaskStore, Int) throws -> Load.Body

    /// - Parameter store: as a peer sees it; it is grouped here if it has to be.
    func load(of store: any TaskStore, seconds: Double) throws -> Load {
        guard isGrouped, store is SQLiteTasks else { return try ungrouped(store, seconds: seconds) }
        let grouped = try GroupedTasks(store)
        defer { grouped.close() }
        return try ungrouped(grouped, seconds: seconds)
    }

    private func ungrouped(_ store: any TaskStore, seconds: Double) throws -> Load {
        try prepare(store)
        func finish() throws { if !isReading { try store.settle() } }
        if clients > 1 {
            return try Load.counting(store) {
                try Load.run(clients: clients, seconds: seconds, finish: finish, rest: store.awaitBackground) {
                    [client] number in
                    try client(store, number)
                }
            }
        }
        let body = try client(store, 0)
        ProcessUsage.awaitRest()
        return try Load.counting(store) {
            try Load.alone(seconds: seconds, finish: finish, rest: store.awaitBackground, body)
        }
    }
}

/// The rounds of the sides of a run.
struct TaskFigures {
    var metric: String
    var unit = "saves/s"
    var strata: [Load]
    var peers: [(name: String, configuration: String, loads: [Load])]

    /// A row for each peer, with its bar by its name; without peers, one row.
    func measurements(
        _ workload: String, records: Int, isLong: Bool = false, bars: [String: Measurement.Bar] = [:]
    ) -> [Measurement] {
        if peers.isEmpty {
            return [
                Measurement(
                    workload: workload, metric: metric, unit: unit, records: records, strata: strata.map(\.rate),
                    bar: .none, strataDetails: Row.Details(strata, isLong: isLong))
            ]
        }
        return peers.map { peer in
            Measurement(
                workload: workload, metric: metric, unit: unit, records: records, strata: strata.map(\.rate),
                peer: peer.name, configuration: peer.configuration, peerValues: peer.loads.map(\.rate),
                bar: bars[peer.name] ?? .none, strataDetails: Row.Details(strata, isLong: isLong),
                peerDetails: Row.Details(peer.loads, isLong: isLong))
        }
    }
}
