import StrataLog
import StrataModel
import StrataTree

/// Brings the trees of a store to the end of its log.
///
/// ```swift
/// try Replay(log: log, pages: pages).run { progress in print(progress.offset) }
/// ```
package struct Replay {
    package struct Progress: Sendable, Hashable {
        /// The offset up to which the log has been read, and the end of the log.
        package var offset: UInt64
        package var end: UInt64
        /// The number of events of records that have been read but not yet folded. Once the log has been read, the work
        /// ends when none are left.
        package var waitingEvents = 0
    }

    /// The bytes of payloads after which a state is published. Publishing rarely is faster and takes less space,
    /// because pages are copied once after each publication and then changed in place.
    private static let publishedBytes = 256 << 20
    private static let pageBytes = 4_096
    /// The bytes of payloads between two reports of progress.
    private static let reportedBytes = 16 << 20

    /// The means to fold many events together.
    struct Sorting {
        var sorter: EventSorter
        /// The maximum number of pages that no checkpoint has written.
        var maximumPages: Int
        var limits = Fold.SliceLimits()
        /// The bytes of payloads after which a state is published. Publishing writes most pages of a large tree each
        /// time, but each sorted slice takes some memory when they are merged.
        var publishedBytes = 4 << 30
    }

    let log: any EventLog
    let pages: PageStore

    private let sorting: Sorting?
    /// The bytes of payloads after which the work ends; nil to fold everything.
    var intervalBytes: Int?
    /// Called repeatedly; an error that it throws ends the work.
    var pulse: () throws -> Void = {}

    package init(log: any EventLog, pages: PageStore) { self.init(log: log, pages: pages, sorting: nil) }

    init(log: any EventLog, pages: PageStore, sorting: Sorting?) {
        self.log = log
        self.pages = pages
        self.sorting = sorting
    }

    /// Folds the commits that the trees do not have yet. Empty trees begin with the log's base.
    ///
    /// - Returns: the bytes of the payloads that were read from the log.
    /// - Throws: ``StrataError``; states that were published until then stay.
    @discardableResult
    package func run(
        upTo limit: UInt64 = .max, progress: (Progress) -> Void = { _ in },
        afterPublishing: (Snapshot) throws -> Void = { _ in }
    ) throws -> Int {
        let end = min(log.end.offset, limit)
        var offset = pages.snapshot().foldedOffset(ViewTree.records)
        guard offset < end else { return 0 }
        if offset == 0, log.floor.offset > 0, let base = try log.readBase() {
            let snapshot = try load(base, upTo: end, progress)
            offset = base.horizon.offset
            try afterPublishing(snapshot)
            progress(Progress(offset: offset, end: max(end, offset)))
            guard offset < end else { return 0 }
        }
        var cursor = try log.read(from: offset + 1)
        var next = try cursor.next()
        let fold = Fold(pages.fork(), sorter: sorting?.sorter, limits: sorting?.limits ?? .init())
        var (total, published, reported, pageCount) = (0, 0, 0, pages.info.pageCount)
        while let commit = next, commit.offset <= limit {
            try pulse()
            try commit.payload.withUnsafeBytes { try fold.apply($0, offset: commit.offset, time: commit.time) }
            total += commit.payload.count
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
                if intervalBytes != nil {
                    progress(Progress(offset: offset, end: max(end, offset)))
                    return total
                }
                (published, pageCount) = (0, pages.info.pageCount)
            }
            if isLast || reported >= Self.reportedBytes {
                progress(Progress(offset: offset, end: max(end, offset), waitingEvents: fold.gathered.events))
                reported = 0
            }
        }
        return total
    }

    /// Loads the base, which replaces the compacted commits, into empty trees.
    private func load(_ base: BaseReader, upTo limit: UInt64, _ progress: (Progress) -> Void) throws -> Snapshot {
        guard base.horizon.offset <= limit else {
            throw StrataError(
                .outOfRange, "The history up to the base was compacted.",
                .init(offset: limit, expected: "\(base.horizon.offset) or later", found: "\(limit)"))
        }
        return try base.publish(to: pages) {
            try pulse()
            progress(Progress(offset: 0, end: limit))
        }
    }

    /// Returns true if enough has been read to publish a state.
    private func isDue(_ bytes: Int, _ events: Int, _ pageCount: Int) -> Bool {
        guard let sorting else { return bytes >= intervalBytes ?? Self.publishedBytes }
        // An event changes at most one existing page, and the data that it adds may take twice its size.
        let changed = min(events, pageCount)
        let added = 2 * bytes / Self.pageBytes
        return bytes >= max(sorting.publishedBytes, pageCount * Self.pageBytes / 2)
            || changed + added >= sorting.maximumPages / 2
    }
}
