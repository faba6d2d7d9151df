import StrataLog
import StrataModel
import StrataSystem
import StrataTree

/// A summary of a store's states on disk, and of how they fit the log. Reading it locks and writes nothing.
///
/// ```swift
/// if let views = try Views.summary(of: reader, in: path, files: files) { print(views.finding, views.state?.position) }
/// ```
package struct ViewsSummary: Sendable {
    package var path: String
    package var byteCount: Int
    /// The finding that opening would have.
    package var finding: StateFinding
    /// The newest usable state; nil if there is none.
    package var state: DurableState?
    /// The reasons why other states cannot be used.
    package var reasons: [StrataError]
    /// The number of names in each namespace (docs/format.md §8) at that state; empty if unknown.
    package var nameCounts: [Namespace: UInt64] = [:]
}

extension Views {
    /// Returns a summary of the states in the directory of a store; nil if there is none.
    package static func summary(
        of log: LogReader, in directory: String, files: any FileSystem
    ) throws -> ViewsSummary? {
        let found = try TreeStore.summary(in: directory, owner(log.identity.storeID), files: files, isValid: log.has)
        guard let found else { return nil }
        var summary = ViewsSummary(
            path: found.directory, byteCount: found.byteCount, finding: found.finding, state: found.newest?.state,
            reasons: found.reasons)
        let damage = try Self.damage {
            if let trees = found.newest?.trees { summary.nameCounts = try nameCounts(in: trees) }
        }
        if let damage { (summary.finding, summary.reasons) = (.damaged, summary.reasons + [damage]) }
        return summary
    }

    /// Returns the newest usable state on disk, and its trees; nil if there is none.
    package static func newestState(
        of log: LogReader, in directory: String, files: any FileSystem
    ) throws -> (state: DurableState, trees: Snapshot)? {
        try TreeStore.summary(in: directory, owner(log.identity.storeID), files: files, isValid: log.has)?.newest
    }

    private static func nameCounts(in trees: Snapshot) throws -> [Namespace: UInt64] {
        var counts: [Namespace: UInt64] = [:]
        for namespace in Namespace.allCases { counts[namespace] = try trees.nameCount(namespace) }
        return counts
    }
}
