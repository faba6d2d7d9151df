import StrataLog
import StrataModel
import StrataStore
import StrataSystem
import Synchronization

extension StoreWorkload {
    private static let saveRounds = 10
    private static let savesTogether = 5_000
    /// Of the log's commits: what is behind is the tail that a store keeps.
    private static let compactedPercent: UInt64 = 98

    /// Letting go of a log nine tenths of which are superseded: alone, and beside somebody who saves.
    func compactions(_ progress: (String) -> Void) throws -> [Measurement] {
        let payloadBytes = size.isQuick ? 48 << 20 : 1 << 30
        progress("store: \(payloadBytes >> 20) MiB of saves, each record \(Self.saveRounds) times")
        let path = "\(folder)/compacted.strata"
        defer { removeTree(path) }
        let filled = try fillSuperseding(path, payloadBytes)
        let alone = try compactAlone(path, filled)
        removeTree(path)
        progress("store: the same again, for a compaction beside saves")
        let again = try fillSuperseding(path, payloadBytes)
        return alone + (try compactBesideSaves(path, again, progress))
    }

    private struct Filled {
        /// Of the commits up to the horizon, before compression.
        var payloadBytes: Int
        var horizon: UInt64
        var recordCount: Int
    }

    private func fillSuperseding(_ path: String, _ payloadBytes: Int) throws -> Filled {
        var options = StoreOptions.embedded
        options.durability = .system
        let store = try Store.open(at: path, options: options)
        _ = try store.modify(TaskRecords.makingZone, as: TaskRecords.actor)
        let recordBytes = 400
        let count = payloadBytes / recordBytes / Self.saveRounds
        for round in 0..<Self.saveRounds {
            for start in stride(from: 0, to: count, by: Self.savesTogether) {
                let numbers = start..<min(count, start + Self.savesTogether)
                _ = try store.modify(records.saving(numbers, asIn: round), as: TaskRecords.actor)
            }
        }
        let horizon = store.offset * Self.compactedPercent / 100
        try store.close()
        // Sealing has its own figures.
        let log = try SegmentedLog.open(at: path)
        while try log.sealNext() {}
        try log.close()
        let reader = try LogReader.open(at: path)
        var cursor = try reader.read(from: 1)
        var bytes = 0
        while let commit = try cursor.next(), commit.offset <= horizon { bytes += commit.payload.count }
        return Filled(payloadBytes: bytes, horizon: horizon, recordCount: count)
    }

    private func megabytesPerSecond(_ filled: Filled, _ seconds: Double) -> Double {
        Double(filled.payloadBytes) / 1e6 / seconds
    }

    private func compactAlone(_ path: String, _ filled: Filled) throws -> [Measurement] {
        let store = try Store.open(at: path)
        defer { try? store.close() }
        let isOver = Atomic(false)
        let isWatched = Gate()
        let highest = Lock(0.0)
        let watcher = try WorkerThread(name: "memory") {
            let gauge = AnonymousGauge()
            isWatched.open()
            while !isOver.load(ordering: .relaxed) {
                gauge.look()
                ThreadPause.rest(microseconds: 5_000)
            }
            let extra = gauge.extra
            highest.withLock { $0 = extra }
        }
        isWatched.wait()
        let start = secondsNow()
        let done = try store.compact(before: filled.horizon + 1)
        let seconds = secondsNow() - start
        isOver.store(true, ordering: .relaxed)
        watcher.join()
        let freed = Double(done.freedBytes) / Double(max(1, done.baseBytes))
        return [
            measured("compaction: payloads of the log", "MB/s", megabytesPerSecond(filled, seconds), .atLeast(80)),
            measured("compaction: bytes freed for each of the base", "bytes", freed, .none),
            measured("compaction: memory", "MiB", highest.withLock { $0 }, .atMost(64)),
        ]
    }

    private func compactBesideSaves(
        _ path: String, _ filled: Filled, _ progress: (String) -> Void
    ) throws -> [Measurement] {
        let store = try Store.open(at: path)
        defer { try? store.close() }
        let numbers = TaskNumbers(from: filled.recordCount)
        let normal = try savesPerSecond(store, numbers) { [seconds] start in secondsNow() - start < seconds }
        let isOver = Atomic(false)
        let failure = Lock<String?>(nil)
        let took = Lock(0.0)
        let compactor = try WorkerThread(name: "compaction") {
            let start = secondsNow()
            do { try store.compact(before: filled.horizon + 1) } catch { failure.withLock { $0 = "\(error)" } }
            took.withLock { $0 = secondsNow() - start }
            isOver.store(true, ordering: .relaxed)
        }
        let beside = try savesPerSecond(store, numbers) { _ in !isOver.load(ordering: .relaxed) }
        compactor.join()
        if let message = failure.withLock({ $0 }) { throw BenchError(message: message) }
        return [
            Measurement(
                workload: Self.name, metric: "single saves beside a compaction", unit: "saves/s",
                strata: [beside.rate], peer: "without", peerValues: [normal.rate], bar: .ratioAtLeast(0.6)),
            measured("99.9 of 100 saves beside a compaction", "ms", beside.slow, .atMost(30)),
            measured("99.9 of 100 saves without", "ms", normal.slow, .none),
            measured(
                "compaction beside saves: payloads of the log", "MB/s",
                megabytesPerSecond(filled, took.withLock { $0 }), .none),
        ]
    }

    private func measured(_ metric: String, _ unit: String, _ value: Double, _ bar: Measurement.Bar) -> Measurement {
        Measurement(workload: Self.name, metric: metric, unit: unit, strata: [value], bar: bar)
    }

    /// One client that waits for each answer: how many it gets, and how long the slowest of a thousand takes.
    private func savesPerSecond(
        _ store: Store, _ numbers: TaskNumbers, while goesOn: (_ start: Double) -> Bool
    ) throws -> (rate: Double, slow: Double) {
        var milliseconds: [Double] = []
        let start = secondsNow()
        var last = start
        while goesOn(start) {
            let answer = try store.modify(records.saving(numbers.take(1)), as: TaskRecords.actor)
            _ = try answer.result.saves[0].get()
            let now = secondsNow()
            milliseconds.append((now - last) * 1_000)
            last = now
        }
        guard !milliseconds.isEmpty else { throw BenchError(message: "it was over before anything was saved") }
        milliseconds.sort()
        let place = min(milliseconds.count - 1, milliseconds.count * 999 / 1_000)
        return (Double(milliseconds.count) / (last - start), milliseconds[place])
    }
}
