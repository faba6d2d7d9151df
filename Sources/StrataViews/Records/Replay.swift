import StrataLog
import StrataModel
import StrataTree

/// Brings the trees of a store to the end of its log.
///
/// ```swift
/// try Replay(log: log, trees: trees).run { progress in print(progress.offset) }
/// ```
package struct Replay {
    package struct Progress: Sendable, Hashable {
        /// The offset up to which the log has been folded, and the end of the log.
        package var offset: UInt64
        package var end: UInt64
    }

    /// The bytes of payloads after which a state is published, so that its changes can be written as a run.
    private static let publishedBytes = 8 << 20

    let log: any EventLog
    let trees: TreeStore

    /// The bytes of payloads after which the work ends; nil to fold everything.
    var intervalBytes: Int?
    /// Called repeatedly; an error that it throws ends the work.
    var pulse: () throws -> Void = {}

    package init(log: any EventLog, trees: TreeStore) {
        self.log = log
        self.trees = trees
    }

    /// Folds the commits that the trees do not have yet. Empty trees begin with the log's base.
    ///
    /// - Throws: ``StrataError``; states that were published until then stay.
    package func run(
        upTo limit: UInt64 = .max, progress: (Progress) -> Void = { _ in },
        afterPublishing: (Snapshot) throws -> Void = { _ in }
    ) throws {
        let end = min(log.end.offset, limit)
        var offset = trees.snapshot().foldedOffset(ViewTree.records)
        guard offset < end else { return }
        if offset == 0, log.floor.offset > 0, let base = try log.readBase() {
            let snapshot = try load(base, upTo: end, progress)
            offset = base.horizon.offset
            try afterPublishing(snapshot)
            progress(Progress(offset: offset, end: max(end, offset)))
            guard offset < end else { return }
        }
        var cursor = try log.read(from: offset + 1)
        var next = try cursor.next()
        let fold = Fold(try trees.fork())
        var (total, published) = (0, 0)
        while let commit = next, commit.offset <= limit {
            try pulse()
            try commit.payload.withUnsafeBytes { try fold.apply($0, offset: commit.offset, time: commit.time) }
            total += commit.payload.count
            offset = commit.offset
            next = try cursor.next()
            let isLast = next.map { $0.offset > limit } ?? true
            let isEnough = intervalBytes.map { total >= $0 } ?? false
            guard isLast || isEnough || total - published >= Self.publishedBytes else { continue }
            published = total
            try afterPublishing(try fold.publish(to: trees))
            progress(Progress(offset: offset, end: max(end, offset)))
            if isEnough { return }
        }
    }

    /// Loads the base, which replaces the compacted commits, into empty trees.
    private func load(_ base: BaseReader, upTo limit: UInt64, _ progress: (Progress) -> Void) throws -> Snapshot {
        guard base.horizon.offset <= limit else {
            throw StrataError(
                .outOfRange, "The history up to the base was compacted.",
                .init(offset: limit, expected: "\(base.horizon.offset) or later", found: "\(limit)"))
        }
        return try base.publish(to: trees) {
            try pulse()
            progress(Progress(offset: 0, end: limit))
        }
    }
}
