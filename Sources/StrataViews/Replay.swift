import StrataLog
import StrataModel
import StrataTree

/// Brings the trees of a store to the end of its log.
///
/// ```swift
/// try Replay(log: log, pages: pages).run { progress in print(progress.offset) }
/// ```
public struct Replay {
    public struct Progress: Sendable, Hashable {
        /// Up to where the log has been read, and where it ends.
        public var offset: UInt64
        public var end: UInt64
    }

    /// What is published at once. Pages are copied anew after each time, and changed in place until the next: rarely
    /// is both faster and smaller.
    private static let publishedBytes = 256 << 20
    /// How often progress is told.
    private static let reportedBytes = 16 << 20

    let log: any EventLog
    let pages: PageStore

    public init(log: any EventLog, pages: PageStore) {
        self.log = log
        self.pages = pages
    }

    /// Folds what the trees do not have yet.
    ///
    /// - Throws: ``StrataError``; what was published until then stays.
    public func run(
        upTo limit: UInt64 = .max, progress: (Progress) -> Void = { _ in },
        afterPublishing: (Snapshot) throws -> Void = { _ in }
    ) throws {
        let end = min(log.end.offset, limit)
        var offset = pages.snapshot().foldedOffset(ViewTree.records)
        guard offset < end else { return }
        var cursor = try log.read(from: offset + 1)
        var next = try cursor.next()
        let fold = Fold(pages.fork())
        var (published, reported) = (0, 0)
        while let commit = next, commit.offset <= limit {
            try commit.payload.withUnsafeBytes { try fold.apply($0, offset: commit.offset, time: commit.time) }
            published += commit.payload.count
            reported += commit.payload.count
            offset = commit.offset
            next = try cursor.next()
            let isLast = next.map { $0.offset > limit } ?? true
            if isLast || published >= Self.publishedBytes {
                try afterPublishing(try fold.publish(to: pages))
                published = 0
            }
            if isLast || reported >= Self.reportedBytes {
                progress(Progress(offset: offset, end: max(end, offset)))
                reported = 0
            }
        }
    }
}
