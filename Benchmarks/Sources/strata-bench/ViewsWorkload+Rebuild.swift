import Glibc
import StrataLog
import StrataModel
import StrataSystem
import StrataTree
import StrataViews

extension ViewsWorkload {
    /// Making the views anew from the log, as somebody waits for it who has lost them.
    func rebuild(_ progress: (String) -> Void) throws -> [Measurement] {
        let records = rebuiltRecords ?? (size.isQuick ? 500_000 : 3_000_000)
        progress("views: making those of \(records) records in random names anew")
        let path = "\(folder)/rebuild.strata"
        defer { removeTree(path) }
        var sample = SavedRecords(seed: 9)
        let log = try SegmentedLog.open(at: path, options: LogOptions(durability: .system))
        defer { try? log.close() }
        try append(Self.names(), at: 1, to: log)
        try save(records, to: log, &sample)
        try log.sync()
        let gauge = AnonymousGauge()
        let start = secondsNow()
        let opened = try Views.open(log, store: log.identity.storeID, in: path) { _ in gauge.look() }
        let seconds = secondsNow() - start
        gauge.look()
        let snapshot = opened.views.trees.snapshot()
        let count = try snapshot.entryCount(ViewTree.records)
        guard count == UInt64(records), opened.beginning == 0 else {
            throw BenchError(message: "the views have \(count) records")
        }
        return [
            Measurement(
                workload: Self.name, metric: "views of \(records) records in random names made anew",
                unit: "thousand/s", strata: [Double(records) / seconds / 1e3], bar: .atLeast(150)),
            Measurement(
                workload: Self.name, metric: "anonymous memory while they are made", unit: "MiB",
                strata: [gauge.highest], bar: .atMost(512)),
        ]
    }
}

/// The most anonymous memory that was seen.
final class AnonymousGauge {
    private let before = MemoryGauge.anonymousMebibytes
    private(set) var highest = 0.0
    /// Beyond what was in use before.
    var extra: Double { highest - before }

    func look() { highest = max(highest, MemoryGauge.anonymousMebibytes) }
}
