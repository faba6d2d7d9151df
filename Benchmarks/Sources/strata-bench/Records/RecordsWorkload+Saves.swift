import Glibc
import StrataLog
import StrataModel
import StrataStore
import StrataSystem

/// Requests of many saves by one client.
extension RecordsWorkload {
    static func inserting(_ sides: TaskSides, _ count: Int = requestCount, _ metric: String? = nil) -> TaskRun {
        TaskRun(metric: metric ?? "durable inserts in requests of \(count), 1 client") {
            [numbers = sides.numbers] store, _ in
            {
                try store.write(TaskWrite.inserts(numbers.take(count)))
                return count
            }
        }
    }

    static func updating(_ sides: TaskSides, zipf: ZipfRanks? = nil, _ metric: String) -> TaskRun {
        TaskRun(metric: metric) { [versions = sides.versions, count = sides.count] store, _ in
            let version = versions.take(1).lowerBound
            let choice = TaskChoice(below: count, seed: version, zipf: zipf)
            return {
                let version = versions.take(1).lowerBound
                let numbers = choice.distinct(requestCount)
                try store.write(numbers.map { TaskWrite(kind: .update, number: $0, version: version) })
                return numbers.count
            }
        }
    }

    func inserts(_ sides: TaskSides, _ progress: (String) -> Void) throws -> [Measurement] {
        let figures = try compare(Self.inserting(sides), sides, progress)
        return measurements(
            figures,
            bars: [
                "SQLite": bar(.ratioAtLeast(2), quick: .ratioAtLeast(1)),
                "RocksDB": bar(.ratioAtLeast(0.9), quick: .ratioAtLeast(1)),
            ]) + processor(figures, bar: bar(.atMost(28), quick: .atMost(60))) + [tail(figures)]
    }

    /// The row of how much longer the slowest requests take than the usual one.
    func tail(_ figures: TaskFigures) -> Measurement {
        Measurement(
            workload: Self.name, metric: "\(figures.metric): p99 of a request against its p50", unit: "×",
            records: recordCount,
            strata: figures.strata.map { $0.latencies.microseconds(of: 0.99) / $0.latencies.microseconds(of: 0.5) },
            bar: bar(.atMost(3)))
    }

    private func processor(_ figures: TaskFigures, bar: Measurement.Bar) -> [Measurement] {
        [
            Measurement(
                workload: Self.name, metric: "\(figures.metric): processor, all threads", unit: "µs",
                records: recordCount, strata: figures.strata.map(\.processorMicroseconds), bar: bar)
        ]
    }

    func updates(_ sides: TaskSides, _ progress: (String) -> Void) throws -> [Measurement] {
        let run = Self.updating(sides, "durable updates in requests of \(Self.requestCount), 1 client")
        let figures = try compare(run, sides, progress)
        return measurements(figures, bars: ["SQLite": bar(.ratioAtLeast(2), quick: .ratioAtLeast(1))])
            + [tail(figures)]
    }

    func hotUpdates(_ sides: TaskSides, _ progress: (String) -> Void) throws -> [Measurement] {
        let run = Self.updating(
            sides, zipf: ZipfRanks(count: sides.count),
            "durable updates by Zipf's law in requests of \(Self.requestCount), 1 client")
        return try measurements(compare(run, sides, progress))
    }

    /// Deletes records that were added for it, in another order.
    func deletes(_ sides: TaskSides, _ progress: (String) -> Void) throws -> [Measurement] {
        let lots = size.isQuick ? 5 : 100
        let run = TaskRun(metric: "durable deletes in requests of \(Self.requestCount), 1 client", unit: "deletes/s") {
            [numbers = sides.numbers] store, _ in
            let count = lots * Self.requestCount
            let doomed = numbers.take(count)
            for start in stride(from: doomed.lowerBound, to: doomed.upperBound, by: Self.requestCount) {
                try store.write(TaskWrite.inserts(start..<start + Self.requestCount))
            }
            try store.settle()
            try store.awaitBackground()
            // The others have written most of what they owe for the inserts when they rest.
            if let sqlite = store as? SQLiteTasks { try sqlite.rest() }
            // Each lot has records of all of the requests that added them.
            var lot = 0
            return {
                guard lot < lots else { return nil }
                try store.write(
                    stride(from: doomed.lowerBound + lot, to: doomed.upperBound, by: lots).map {
                        TaskWrite(kind: .delete, number: $0)
                    })
                lot += 1
                return Self.requestCount
            }
        }
        return try measurements(compare(run, sides, progress))
    }

    // MARK: Single saves

    static func savingOne(_ sides: TaskSides, clients: Int, _ metric: String) -> TaskRun {
        TaskRun(metric: metric, clients: clients, isGrouped: clients > 1) { [numbers = sides.numbers] store, _ in
            {
                try store.write(TaskWrite.inserts(numbers.take(1)))
                return 1
            }
        }
    }

    func clients(_ sides: TaskSides, _ progress: (String) -> Void) throws -> [Measurement] {
        let metric = "durable single saves, \(Self.clientCount)"
        let run = Self.savingOne(sides, clients: Self.clientCount, "\(metric) threads")
        let bars = [
            "SQLite grouped": bar(.ratioAtLeast(2.5), quick: .ratioAtLeast(1))
        ]
        if size.isAlone { return try measurements(compare(run, sides, progress), bars: bars) }
        progress("records: \(run.metric), and tasks")
        func tasks(_ store: any AsyncTaskStore) throws -> Load {
            try Load.counting(store) {
                try Load.runTasks(
                    clients: run.clients, seconds: seconds(of: run), finish: store.settle, rest: store.awaitBackground
                ) { [numbers = sides.numbers] in
                    try await store.write(TaskWrite.inserts(numbers.take(1)))
                }
            }
        }
        func tasks(grouping sqlite: SQLiteTasks) throws -> Load {
            let grouped = try GroupedTasks(sqlite)
            defer { grouped.close() }
            return try tasks(grouped)
        }
        let peers = try peers(of: run, sides, progress, beside: { try tasks(grouping: $0).rate })
        let threads = try measurements(compare(run, sides, peers, rounds: rounds), bars: bars)
        let strata = try sides.strata()
        // RocksDB has no interface for tasks.
        let loads = try alternating(
            rounds: rounds, [{ try tasks(strata) }, { try tasks(grouping: peers.sqlite) }]
        ) { Glibc.sync() }
        return threads
            + measurements(
                TaskFigures(
                    metric: "\(metric) tasks", strata: loads[0],
                    peers: [("SQLite grouped", peers.sqlite.configuration, loads[1])]), bars: bars)
    }

    func singles(_ sides: TaskSides, _ progress: (String) -> Void) throws -> [Measurement] {
        let run = Self.savingOne(sides, clients: 1, "durable single saves, 1 synchronous client")
        if size.isAlone { return try measurements(compare(run, sides, progress)) }
        progress("records: \(run.metric)")
        let best = try peers(of: run, sides, progress)
        let (seconds, strata) = (seconds(of: run), try sides.strata())
        let frames = StoredFrames.of(try singlePayloads(sides.records))
        let bare = BareLoop(path: "\(folder)/bare", fileBytes: 256 << 20)
        var next = 0
        let loads = try alternating(
            rounds: rounds,
            [
                { try run.load(of: strata, seconds: seconds) },
                {
                    try Load.counting(strata) {
                        try Load.runTasks(
                            clients: 1, seconds: seconds, finish: strata.settle, rest: strata.awaitBackground
                        ) { [numbers = sides.numbers] in
                            try await strata.write(TaskWrite.inserts(numbers.take(1)))
                        }
                    }
                },
                {
                    try bare.load(seconds: seconds) { write in
                        try frames[next % frames.count].withUnsafeBytes { try write($0) }
                        next += 1
                    }
                }, { try run.load(of: best.sqlite, seconds: seconds) },
                { try run.load(of: best.rocks, seconds: seconds) },
            ]
        ) { Glibc.sync() }
        let peers = [
            ("bare loop", "", loads[2]), ("SQLite", best.sqlite.configuration, loads[3]),
            ("RocksDB", best.rocks.configuration, loads[4]),
        ]
        return measurements(
            TaskFigures(metric: run.metric, strata: loads[0], peers: peers),
            bars: [
                "bare loop": bar(.ratioAtLeast(0.6), quick: .ratioAtLeast(0.6)),
                "SQLite": bar(.ratioAtLeast(1.3), quick: .ratioAtLeast(1)),
            ])
            + measurements(
                TaskFigures(
                    metric: "durable single saves, 1 asynchronous client", strata: loads[1], peers: [peers[0]]))
    }

    /// Returns the payloads that the log gets for single saves.
    private func singlePayloads(_ records: TaskRecords) throws -> [ArraySlice<UInt8>] {
        let path = "\(folder)/payloads.strata"
        defer { removeTree(path) }
        let store = try Store.open(at: path)
        _ = try store.modify(TaskRecords.makingZone, as: TaskRecords.actor)
        var first = store.offset + 1
        for number in 0..<500 {
            _ = try store.modify(records.saving(number..<number + 1), as: TaskRecords.actor)
            // The one that brings the names is not like the others.
            if number == 0 { first = store.offset + 1 }
        }
        try store.close()
        let log = try SegmentedLog.open(at: path)
        defer { try? log.close() }
        var cursor = try log.read(from: first)
        var payloads: [ArraySlice<UInt8>] = []
        while let commit = try cursor.next() { payloads.append(commit.payload[...]) }
        return payloads
    }
}
