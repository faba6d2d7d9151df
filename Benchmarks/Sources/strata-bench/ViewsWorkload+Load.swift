import Glibc
import StrataLog
import StrataModel
import StrataSystem
import StrataTree
import StrataViews

extension ViewsWorkload {
    /// Saves of new records in random names, as a store with few records takes them and as one with many does.
    func sustained(_ progress: (String) -> Void) throws -> [Measurement] {
        let (few, many) = size.isQuick ? (20_000, 200_000) : (100_000, 10_000_000)
        let seconds: Double = size.isQuick ? 3 : 120
        progress("views: saves for \(Int(seconds)) s at \(many) records")
        let large = try load(records: many, seconds: seconds)
        progress("views: saves at \(few) records")
        let small = try load(records: few, seconds: min(seconds, 10))
        return [
            Measurement(
                workload: Self.name, metric: "sustained saves at \(many) records", unit: "thousand/s",
                strata: [large.rate], peer: "at \(few)", peerValues: [small.rate], bar: .ratioAtLeast(0.4)),
            Measurement(
                workload: Self.name, metric: "longest stall meanwhile", unit: "ms", strata: [large.longestStall],
                bar: .atMost(100)),
            Measurement(
                workload: Self.name, metric: "anonymous memory meanwhile", unit: "MiB", strata: [large.memory],
                bar: .atMost(256)),
        ]
    }

    private func load(
        records: Int, seconds: Double
    ) throws -> (rate: Double, longestStall: Double, memory: Double) {
        let path = "\(folder)/load-\(records).strata"
        defer { removeTree(path) }
        var sample = SavedRecords(seed: 9)
        let log = try prepare(records, path, &sample)
        let views = try Views.open(log, store: log.identity.storeID, in: path).views
        let flusher = try Flusher(views)
        var stalls = StallParts()
        var memory = 0.0
        var count = 0
        let random = SeededRandom(seed: 4)
        let start = secondsNow()
        var last = start
        while last - start < seconds {
            let payload = try batch(&sample, random).encoded()
            let number = log.end.offset + 1
            let began = secondsNow()
            _ = flusher.awaitRoom(milliseconds: 10_000)
            let hadRoom = secondsNow()
            try append(payload, at: number, to: log)
            let appended = secondsNow()
            let fold = Fold(try views.trees.fork())
            try payload.withUnsafeBytes { try fold.apply($0, offset: number, time: log.endTime ?? 0) }
            try fold.flush()
            let folded = secondsNow()
            try views.trees.publish(fold.fork)
            flusher.didPublish()
            last = secondsNow()
            stalls.add([hadRoom - began, appended - hadRoom, folded - appended, last - folded])
            count += Self.batch
            if count % (100 * Self.batch) == 0 { memory = max(memory, MemoryGauge.anonymousMebibytes) }
        }
        let rate = Double(count) / (last - start) / 1e3
        try flusher.stop()
        try log.close()
        if getenv("STRATA_BENCH_ROUNDS") != nil { printError("views: longest saves at \(records): \(stalls)") }
        return (rate, stalls.longest, max(memory, MemoryGauge.anonymousMebibytes))
    }

    /// A store with so many records and a state of all of them.
    private func prepare(_ records: Int, _ path: String, _ sample: inout SavedRecords) throws -> SegmentedLog {
        let log = try SegmentedLog.open(at: path, options: LogOptions(durability: .system))
        try append(Self.names(), at: 1, to: log)
        try save(records, to: log, &sample, isOrdered: true)
        try log.sync()
        let views = try Views.open(log, store: log.identity.storeID, in: path).views
        try views.settle()
        try log.close()
        return try SegmentedLog.open(at: path)
    }

    private func batch(_ sample: inout SavedRecords, _ random: SeededRandom) throws -> Envelope {
        var envelope = Envelope(header: EnvelopeHeader(user: 1, device: 1, operationKind: .modifyRecords))
        for _ in 0..<Self.batch {
            envelope.events.append(try sample.next(named: random.nextIdentifier().description))
        }
        return envelope
    }

    private func append(_ payload: [UInt8], at number: UInt64, to log: SegmentedLog) throws {
        let time = max(log.endTime ?? 0, Int64(number) * 1_000)
        let commit = NewCommit(id: Identifier(high: 2, low: number), time: time, payload: payload[...])
        _ = try log.append([commit], expecting: log.end)
    }

    /// The cost of a flush for the commits beside it.
    func flushUnderLoad(_ progress: (String) -> Void) throws -> [Measurement] {
        let mebibytes = size.isQuick ? 64 : 256
        progress("views: a flush of \(mebibytes) MiB beside commits")
        let path = "\(folder)/flush.strata"
        defer { removeTree(path) }
        var sample = SavedRecords(seed: 9)
        let log = try SegmentedLog.open(at: path)
        defer { try? log.close() }
        try append(Self.names(), at: 1, to: log)
        var options = TreeStoreOptions()
        options.generationBytes = 2 * mebibytes << 20
        let views = try Views.open(log, store: log.identity.storeID, in: path, options: options).views
        let random = SeededRandom(seed: 6)
        while views.trees.memoryBytes < mebibytes << 20 {
            try append(try batch(&sample, random).encoded(), at: log.end.offset + 1, to: log)
            try Replay(log: log, trees: views.trees).run()
        }
        let payloads = try (0..<50).map { _ in try batch(&sample, random).encoded() }
        let quiet = try commits(payloads, to: log) { secondsNow() - $0 < (size.isQuick ? 1 : 5) }
        let done = Gate()
        let isDone = Lock(false)
        let failure = Lock<(any Error)?>(nil)
        let worker = try WorkerThread(name: "flush") {
            do { try views.settle() } catch { failure.withLock { $0 = error } }
            isDone.withLock { $0 = true }
            done.open()
        }
        let loaded = try commits(payloads, to: log) { _ in !isDone.withLock { $0 } }
        done.wait()
        worker.join()
        if let failure = failure.withLock({ $0 }) { throw failure }
        // Opening wrote a state of the first commit.
        guard views.trees.durablePosition?.offset == views.trees.snapshot().foldedOffset(ViewTree.records) else {
            throw BenchError(message: "the flush wrote no state")
        }
        return [
            Measurement(
                workload: Self.name, metric: "durable commits beside a flush of \(mebibytes) MiB",
                unit: "commits/s", strata: [loaded.rate], peer: "without", peerValues: [quiet.rate],
                bar: .ratioAtLeast(0.6)),
            Measurement(
                workload: Self.name, metric: "p99.9 of them", unit: "ms", strata: [loaded.slow], bar: .atMost(20)),
        ]
    }

    private func commits(
        _ payloads: [[UInt8]], to log: SegmentedLog, while goesOn: (Double) -> Bool
    ) throws -> (rate: Double, slow: Double) {
        var times: [Double] = []
        let start = secondsNow()
        var last = start
        while goesOn(start) {
            try append(payloads[times.count % payloads.count], at: log.end.offset + 1, to: log)
            let now = secondsNow()
            times.append((now - last) * 1e3)
            last = now
        }
        times.sort()
        return (Double(times.count) / (last - start), times[min(times.count - 1, times.count * 999 / 1_000)])
    }

    /// Sorted entries, until they are durable in a run.
    func durableLoad(_ progress: (String) -> Void) throws -> [Measurement] {
        let count = size.isQuick ? 200_000 : 1_000_000
        progress("views: \(count) sorted entries into a run")
        let keys = SampleKeys(seed: 8, count: count)
        let sorted = keys.sorted(count: count)
        let value = [UInt8](repeating: 0x56, count: 200)
        let figures = try (0..<min(size.rounds, 3)).map { round in
            let path = "\(folder)/bulk-\(round)"
            mkdir(path, 0o755)
            defer { removeTree(path) }
            let trees = try TreeStore.open(
                in: path, Views.owner(Identifier(high: 1, low: 1)), hashed: [], isValid: { _ in true }
            ).store
            let (empty, start) = (trees.snapshot(), secondsNow())
            let fork = try trees.fork()
            try value.withUnsafeBytes { value in
                for place in sorted { try keys.with(place) { try fork.put(TreeID(rawValue: 1), $0, value) } }
            }
            try trees.publish(fork)
            try trees.freeze()
            while let waiting = trees.nextToFlush() { try trees.flush(waiting, at: .start, opaque: []) }
            let byteCount = TreeStore.byteCount(of: [trees.snapshot()], without: empty)
            return Double(byteCount) / Double(1 << 20) / (secondsNow() - start)
        }
        return [
            Measurement(
                workload: Self.name, metric: "sorted entries to a durable run", unit: "MiB/s", strata: figures,
                bar: .atLeast(150))
        ]
    }
}

/// The longest batches, and which part of them took how long.
struct StallParts: CustomStringConvertible {
    private static let kept = 8

    /// In milliseconds: room, log, fold, publishing.
    private var batches: [[Double]] = []

    mutating func add(_ seconds: [Double]) {
        let total = seconds.reduce(0, +) * 1e3
        if batches.count == Self.kept, total <= Self.total(batches[Self.kept - 1]) { return }
        batches.append(seconds.map { $0 * 1e3 })
        batches.sort { Self.total($0) > Self.total($1) }
        batches = Array(batches.prefix(Self.kept))
    }

    private static func total(_ batch: [Double]) -> Double { batch.reduce(0, +) }

    var longest: Double { batches.first.map(Self.total) ?? 0 }

    var description: String {
        batches.map { batch in
            let parts = zip(["room", "log", "fold", "publish"], batch).map { "\($0) \(Int($1.rounded()))" }
            return "\(Int(Self.total(batch).rounded())) ms (\(parts.joined(separator: ", ")))"
        }.joined(separator: "; ")
    }
}
