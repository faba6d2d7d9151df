import StrataLog
import StrataModel
import StrataSystem
import StrataTree

/// What the page file of a store says of itself, and how it fits the log. Nothing is locked or written for it.
///
/// ```swift
/// if let views = try Views.summary(of: reader, in: path, files: files) { print(views.finding, views.position) }
/// ```
public struct ViewsSummary: Sendable {
    public var path: String
    public var byteCount: Int
    /// What opening would find. Headers and records of checkpoints are looked at, hardly any other page is.
    public var finding: PageFileFinding
    /// The state of the log up to which the newest checkpoint that can be taken has everything; nil if none can.
    public var position: Position?
    /// When that was written, in microseconds since 1970.
    public var time: Int64?
    /// Why other checkpoints cannot be taken.
    public var reasons: [StrataError]
    /// How many names of each namespace (docs/format.md §8) there were by then; empty if that cannot be told.
    public var nameCounts: [Namespace: UInt64] = [:]
}

extension Views {
    /// - Returns: nil where there is no page file.
    public static func summary(
        of log: LogReader, in directory: String, files: any FileSystem
    ) throws -> ViewsSummary? {
        let store = log.identity.storeID
        let file = try PageStore.summary(in: directory, store: store, files: files) { try log.has($0) }
        guard let file else { return nil }
        var summary = ViewsSummary(
            path: file.path, byteCount: file.byteCount, finding: file.finding, position: file.checkpoint?.position,
            time: file.checkpoint?.time, reasons: file.reasons)
        guard let checkpoint = file.checkpoint else { return summary }
        do { _ = try digests(noted: checkpoint.opaque) } catch let error as StrataError {
            (summary.finding, summary.position, summary.time) = (.newer, nil, nil)
            summary.reasons.append(error)
            return summary
        }
        do {
            let found = try glance(of: log, in: directory, files: files) {
                ($1.position, $1.time, try nameCounts(in: $0))
            }
            // A later checkpoint than the one above, maybe.
            if let found { (summary.position, summary.time, summary.nameCounts) = found }
        } catch let error as StrataError where isDamage(error) {
            (summary.finding, summary.reasons) = (.damaged, summary.reasons + [error])
        }
        return summary
    }

    /// Reads the trees of the newest checkpoint, as ``PageStore/glance(in:store:files:isValid:_:)`` does.
    ///
    /// - Returns: nil if there is none that can be taken, or they come too fast.
    public static func glance<Result>(
        of log: LogReader, in directory: String, files: any FileSystem,
        _ body: (Snapshot, Checkpoint) throws -> Result
    ) throws -> Result? {
        try PageStore.glance(in: directory, store: log.identity.storeID, files: files, isValid: log.has) {
            _ = try digests(noted: $1.opaque)
            return try body($0, $1)
        }
    }

    private static func nameCounts(in trees: Snapshot) throws -> [Namespace: UInt64] {
        var counts: [Namespace: UInt64] = [:]
        for namespace in Namespace.allCases { counts[namespace] = try trees.nameCount(namespace) }
        return counts
    }
}
