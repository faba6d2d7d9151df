import StrataSystem

/// The space that stores take: at rest, and while they are written.
extension RecordsWorkload {
    /// What a store is on the disk after a stage of its life.
    private struct Stage {
        var load: Load
        /// At most, while requests were written.
        var peakBytes = 0.0
        /// Of Strata, closed and at rest as ``Load/diskBytes`` is.
        var parts: (log: Double, views: Double, other: Double)?
    }

    /// The number of requests between two looks at the files: often enough to see most of a checkpoint.
    private static let requestsPerLook = 25

    /// Stores that got all of their records by inserts, then as many updates at random.
    func space(_ progress: (String) -> Void) throws -> [Measurement] {
        let makers: [(TaskSides) throws -> any TaskStore] = [
            { try $0.strata() }, { try $0.sqlite(.tuned) }, { try $0.rocks(.large) },
        ]
        let all = try makers.map { try stages(of: $0, progress) }
        let (inserted, updated) = (all.map(\.inserted), all.map(\.updated))
        let records = TaskRecords()
        let json = (0..<recordCount).reduce(0.0) { $0 + Double(records.jsonBytes($1)) }
        return whole("after as many inserts, closed", inserted.map(\.load.diskBytes), bar(.ratioAtMost(1.5)))
            + whole("after as many updates, closed", updated.map(\.load.diskBytes), bar(.ratioAtMost(2.5)))
            + whole("at most during the inserts", inserted.map(\.peakBytes))
            + whole("at most during the updates", updated.map(\.peakBytes))
            + [
                compared(
                    "its log", inserted[0].parts?.log, "the records as JSON", json, bar(.ratioAtMost(0.5)))
            ] + parts(inserted[0], "after the inserts") + parts(updated[0], "after the updates")
            + filling("filling it by durable inserts", inserted) + filling("updating it at random", updated)
    }

    private func stages(
        of make: (TaskSides) throws -> any TaskStore, _ progress: (String) -> Void
    ) throws -> (inserted: Stage, updated: Stage) {
        let sides = try TaskSides(TaskRecords(), count: 1, in: folder)
        defer { sides.close() }
        let memory = MemoryGauge.anonymousAtRest
        let store = try make(sides)
        progress("records: space of \(recordCount) inserts: \(store.fullName)")
        let inserted = try stage(store, beyond: memory) {
            let next = sides.numbers.take(Self.requestCount)
            return next.lowerBound < recordCount ? TaskWrite.inserts(next) : nil
        }
        progress("records: space of as many updates: \(store.fullName)")
        let choice = TaskChoice(below: recordCount, seed: 1)
        let again = try sides.reopened(store, after: sides.numbers.take(0).upperBound)
        let updated = try stage(again, beyond: memory) {
            let version = sides.versions.take(1).lowerBound
            guard (version - 1) * Self.requestCount < recordCount else { return nil }
            return choice.distinct(Self.requestCount).map { TaskWrite(kind: .update, number: $0, version: version) }
        }
        return (inserted, updated)
    }

    /// Writes requests until there is none, and closes the store at rest.
    private func stage(
        _ store: any TaskStore, beyond memory: Double, _ next: () -> [TaskWrite]?
    ) throws -> Stage {
        var (requests, peak) = (0, 0.0)
        func look() { peak = max(peak, store.diskBytes) }
        func rest() throws {
            look()
            try store.awaitBackground()
        }
        var (load, mebibytes) = try MemoryGauge.peakOfAnonymous(beyond: memory) {
            let load = try Load.counting(store) {
                try Load.alone(seconds: .infinity, rest: rest) {
                    guard let writes = next() else { return nil }
                    try store.write(writes)
                    requests += 1
                    if requests % Self.requestsPerLook == 0 { look() }
                    return writes.count
                }
            }
            try store.rest()
            ProcessUsage.awaitRest()
            try store.close()
            return load
        }
        (load.diskBytes, load.peakMebibytes) = (store.diskBytes, mebibytes)
        return Stage(load: load, peakBytes: peak, parts: try (store as? StrataTasks)?.spaceParts())
    }

    // MARK: Rows

    private func compared(
        _ metric: String, _ bytes: Double?, _ peer: String? = nil, _ peerBytes: Double? = nil,
        _ bar: Measurement.Bar = .none
    ) -> Measurement {
        Measurement(
            workload: Self.name, metric: metric, unit: "MiB", records: recordCount,
            strata: [(bytes ?? .nan) / mebibyte], peer: peer, peerValues: peerBytes.map { [$0 / mebibyte] } ?? [],
            bar: bar)
    }

    /// Rows of Strata beside each peer; the bar is about SQLite.
    private func whole(_ name: String, _ bytes: [Double?], _ bar: Measurement.Bar = .none) -> [Measurement] {
        [
            compared("the whole store \(name)", bytes[0], "SQLite", bytes[1], bar),
            compared("the whole store \(name)", bytes[0], "RocksDB", bytes[2]),
        ]
    }

    private func parts(_ stage: Stage, _ name: String) -> [Measurement] {
        [
            compared("\(name): log", stage.parts?.log), compared("\(name): views", stage.parts?.views),
            compared("\(name): all else", stage.parts?.other),
        ]
    }

    private func filling(_ metric: String, _ stages: [Stage]) -> [Measurement] {
        TaskFigures(
            metric: metric, strata: [stages[0].load],
            peers: [
                ("SQLite", SQLiteConfiguration.tuned.name, [stages[1].load]),
                ("RocksDB", RocksConfiguration.large.name, [stages[2].load]),
            ]
        ).measurements(Self.name, records: recordCount)
    }
}
