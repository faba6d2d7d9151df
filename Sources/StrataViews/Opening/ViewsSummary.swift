import StrataLog
import StrataModel
import StrataSystem
import StrataTree

/// A summary of a store's page file, and of how it fits the log. Reading it locks and writes nothing.
///
/// ```swift
/// if let views = try Views.summary(of: reader, in: path, files: files) { print(views.finding, views.position) }
/// ```
package struct ViewsSummary: Sendable {
    package var path: String
    package var byteCount: Int
    /// The finding that opening would have. Headers and checkpoint records are read, but hardly any other page.
    package var finding: PageFileFinding
    /// The position of the log that the newest usable checkpoint covers; nil if no checkpoint is usable.
    package var position: Position?
    /// The time when that checkpoint was written, in microseconds since 1970.
    package var time: Int64?
    /// The reasons why other checkpoints cannot be used.
    package var reasons: [StrataError]
    /// The number of names in each namespace (docs/format.md §8) at that checkpoint; empty if unknown.
    package var nameCounts: [Namespace: UInt64] = [:]
}

extension Views {
    /// Returns a summary of the page file in a directory; nil if there is none.
    package static func summary(
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
        let damage = try Self.damage {
            let found = try glance(of: log, in: directory, files: files) {
                ($1.position, $1.time, try nameCounts(in: $0))
            }
            // This may be a later checkpoint than the one above.
            if let found { (summary.position, summary.time, summary.nameCounts) = found }
        }
        if let damage { (summary.finding, summary.reasons) = (.damaged, summary.reasons + [damage]) }
        return summary
    }

    /// Reads the trees of the newest checkpoint, as ``PageStore/glance(in:store:files:isValid:_:)`` does. Returns nil
    /// if none is usable, or if writers replace them too quickly.
    package static func glance<Result>(
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
