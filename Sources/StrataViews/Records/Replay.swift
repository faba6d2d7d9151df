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
        /// How many events of records have been read but are not folded into the trees yet: after the log has been read
        /// the work ends when there are none.
        public var waitingEvents = 0
    }

    /// What is published at once. Pages are copied anew after each time, and changed in place until the next: rarely
    /// is both faster and smaller.
    private static let publishedBytes = 256 << 20
    private static let pageBytes = 4_096
    /// How often progress is told.
    private static let reportedBytes = 16 << 20

    /// What lets many events be folded at once.
    struct Sorting {
        var sorter: EventSorter
        /// How many pages there can be that no checkpoint has written.
        var maximumPages: Int
        var limits = Fold.SliceLimits()
        /// What is published at once. Each time most pages of a large tree are written; but each slice that is sorted
        /// takes some memory when they are merged.
        var publishedBytes = 4 << 30
    }

    let log: any EventLog
    let pages: PageStore

    private let sorting: Sorting?
    /// Nil: all that there is; else the work ends when so many bytes have been folded.
    var intervalBytes: Int?
    /// Called again and again; what it throws ends the work.
    var pulse: () throws -> Void = {}

    public init(log: any EventLog, pages: PageStore) { self.init(log: log, pages: pages, sorting: nil) }

    init(log: any EventLog, pages: PageStore, sorting: Sorting?) {
        self.log = log
        self.pages = pages
        self.sorting = sorting
    }

    /// Folds what the trees do not have yet: where they have nothing, from the log's base on.
    ///
    /// - Throws: ``StrataError``; what was published until then stays.
    public func run(
        upTo limit: UInt64 = .max, progress: (Progress) -> Void = { _ in },
        afterPublishing: (Snapshot) throws -> Void = { _ in }
    ) throws {
        let end = min(log.end.offset, limit)
        var offset = pages.snapshot().foldedOffset(ViewTree.records)
        guard offset < end else { return }
        if offset == 0, log.floor.offset > 0, let base = try log.readBase() {
            let snapshot = try load(base, upTo: end)
            offset = base.horizon.offset
            try afterPublishing(snapshot)
            progress(Progress(offset: offset, end: max(end, offset)))
            guard offset < end else { return }
        }
        var cursor = try log.read(from: offset + 1)
        var next = try cursor.next()
        let fold = Fold(pages.fork(), sorter: sorting?.sorter, limits: sorting?.limits ?? .init())
        var (published, reported, pageCount) = (0, 0, pages.info.pageCount)
        while let commit = next, commit.offset <= limit {
            try pulse()
            try commit.payload.withUnsafeBytes { try fold.apply($0, offset: commit.offset, time: commit.time) }
            published += commit.payload.count
            reported += commit.payload.count
            offset = commit.offset
            next = try cursor.next()
            let isLast = next.map { $0.offset > limit } ?? true
            if isLast || isDue(published, fold.gathered.events, pageCount) {
                let waiting = fold.gathered.events
                let snapshot = try fold.publish(to: pages) { folded in
                    progress(Progress(offset: offset, end: max(end, offset), waitingEvents: max(0, waiting - folded)))
                }
                try afterPublishing(snapshot)
                if intervalBytes != nil { return }
                (published, pageCount) = (0, pages.info.pageCount)
            }
            if isLast || reported >= Self.reportedBytes {
                progress(Progress(offset: offset, end: max(end, offset), waitingEvents: fold.gathered.events))
                reported = 0
            }
        }
    }

    /// Trees without anything begin with what stands for the commits that were let go.
    private func load(_ base: BaseReader, upTo limit: UInt64) throws -> Snapshot {
        guard base.horizon.offset <= limit else {
            throw StrataError(
                .outOfRange, "The history up to the base was compacted.",
                .init(offset: limit, expected: "\(base.horizon.offset) or later", found: "\(limit)"))
        }
        return try base.publish(to: pages, pulse: pulse)
    }

    /// Whether so much has been read that it should be published.
    private func isDue(_ bytes: Int, _ events: Int, _ pageCount: Int) -> Bool {
        guard let sorting else { return bytes >= intervalBytes ?? Self.publishedBytes }
        // An event changes a page that there is, at worst each its own, and what it adds may take twice its size.
        let changed = min(events, pageCount)
        let added = 2 * bytes / Self.pageBytes
        return bytes >= max(sorting.publishedBytes, pageCount * Self.pageBytes / 2)
            || changed + added >= sorting.maximumPages / 2
    }
}
