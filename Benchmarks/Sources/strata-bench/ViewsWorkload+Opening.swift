import Glibc
import StrataLog
import StrataModel
import StrataSystem
import StrataTree
import StrataViews

extension ViewsWorkload {
    /// The saves after the newest state when a store is killed under full load, at most.
    private static let tailEvents = 100_000

    func openings(_ progress: (String) -> Void) throws -> [Measurement] {
        let counts = size.isQuick ? [100_000, 200_000] : [1_000_000, 10_000_000]
        var measurements: [Measurement] = []
        for count in counts {
            progress("views: opening \(count) records")
            let path = "\(folder)/views-\(count).strata"
            defer { removeTree(path) }
            let figures = try opening(count, path, withTail: count == counts[0])
            measurements.append(
                Measurement(
                    workload: Self.name, metric: "open with a state of all, \(count) records", unit: "ms",
                    strata: figures.closed, bar: .atMost(20)))
            guard !figures.killed.isEmpty else { continue }
            measurements.append(
                Measurement(
                    workload: Self.name, metric: "open as after kill -9, \(count) records, log included", unit: "ms",
                    strata: figures.killed, bar: .atMost(300)))
        }
        return measurements
    }

    private func opening(
        _ count: Int, _ path: String, withTail: Bool
    ) throws -> (closed: [Double], killed: [Double]) {
        var sample = SavedRecords(seed: 9)
        let options = LogOptions(durability: .system)
        let log = try SegmentedLog.open(at: path, options: options)
        try append(Self.names(), at: 1, to: log)
        try save(count, to: log, &sample, isOrdered: true)
        try log.sync()
        var views: Views? = try open(log, path).views
        try views?.settle()
        views = nil
        try log.close()
        let again = try SegmentedLog.open(at: path, options: options)
        var figures: (closed: [Double], killed: [Double]) = ([], [])
        for _ in 0..<size.rounds {
            let start = secondsNow()
            let opened = try open(again, path)
            figures.closed.append((secondsNow() - start) * 1e3)
            try check(opened, count, state: again.end.offset)
        }
        if withTail {
            try save(Self.tailEvents, to: again, &sample)
            try again.sync()
        }
        try again.close()
        guard withTail else { return figures }
        for _ in 0..<size.rounds {
            let start = secondsNow()
            let killed = try SegmentedLog.open(at: path, options: options)
            let opened = try open(killed, path)
            figures.killed.append((secondsNow() - start) * 1e3)
            try check(
                opened, count + Self.tailEvents, state: again.end.offset - UInt64(Self.tailEvents / Self.batch))
            try killed.close()
        }
        return figures
    }

    private func open(_ log: SegmentedLog, _ path: String) throws -> OpenedViews {
        try Views.open(log, store: log.identity.storeID, in: path)
    }

    private func check(_ opened: OpenedViews, _ count: Int, state: UInt64) throws {
        let snapshot = opened.views.trees.snapshot()
        guard opened.beginning == state, try snapshot.entryCount(ViewTree.records) == UInt64(count) else {
            throw BenchError(
                message: "opened at \(opened.beginning) of \(state): \(opened.finding) \(opened.reasons)")
        }
    }

    /// - Parameter isOrdered: whether names come in order, which fills a large store in a fraction of the time.
    func save(
        _ count: Int, to log: SegmentedLog, _ sample: inout SavedRecords, isOrdered: Bool = false
    ) throws {
        let random = SeededRandom(seed: log.end.offset)
        var number = log.end.offset
        for start in stride(from: 0, to: count, by: Self.batch) {
            var envelope = Envelope(header: EnvelopeHeader(user: 1, device: 1, operationKind: .modifyRecords))
            for index in start..<min(start + Self.batch, count) {
                let id = isOrdered ? Identifier(high: UInt64(index) << 32, low: 1) : random.nextIdentifier()
                envelope.events.append(try sample.next(named: id.description))
            }
            number += 1
            try append(envelope, at: number, to: log)
        }
    }
}
