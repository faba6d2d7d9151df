import StrataTree
import StrataViews

/// The progress of the indexes in a line of forks.
struct IndexProgressMark: Sendable {
    var catchUp: IndexCatchUp
    /// The number of events that the running catch-up, or the last one, covers.
    var targetEvents: UInt64
    /// The number of events that the indexes show.
    var shownEvents: UInt64
    var isUnderWay = false

    /// Advances the indexes in a fork; returns true if there is more to do.
    mutating func advance(
        in fork: Fork, to target: Snapshot, _ events: UInt64, _ rows: IndexRowLog, limit: Int
    ) throws -> Bool {
        if !isUnderWay { (targetEvents, isUnderWay) = (events, true) }
        let hasMore = try catchUp.advance(fork, to: target, limit: limit, rows)
        if !hasMore { (shownEvents, isUnderWay) = (targetEvents, false) }
        return hasMore
    }
}

/// The published state of the indexes, and their lag.
struct IndexState {
    /// The number of records in a slice of catching up while no requests come, so that a new request waits for a few
    /// milliseconds at most. Four collected rows count as a record here.
    static let idleSliceRecords = 250
    /// The number of records in a slice that writers wait for: larger slices touch fewer pages per record.
    static let owedSliceRecords = 2_500
    /// The lag above which each batch does a slice. The more records are taken together, the fewer index pages change
    /// for each record, and pages are what a checkpoint writes.
    static let tolerableLag: UInt64 = 20_000
    /// The lag up to which indexes are completed in one go for a checkpoint.
    static let completedLag: UInt64 = 2_000
    /// The lag up to which catching up waits until a query needs it or more events come.
    static let idleLag: UInt64 = 1_000
    /// The time without new commits after which a slice is unlikely to delay a request.
    static let quietMilliseconds = 20

    var mark: IndexProgressMark
    /// The changes of rows that published states brought and no catch-up has taken.
    var rows = IndexRowLog()
    var publishedEvents: UInt64
    /// The catalog of the newest state.
    private(set) var catalog: IndexCatalog
    var hasIndexes: Bool { !catalog.isEmpty }
    /// True if idle threads must bring the indexes up to date as soon as possible.
    var isWanted = false
    /// The number of queries that wait for a catch-up, so that requests do a part of it too.
    var waitingQueries = 0
    /// True if idle threads know that the indexes are due.
    private var isKnownDue = false
    /// True if a state may already be published whose indexes show more than `mark` says.
    var isPublishing = false
    /// The number of readers that wait until publishing ends.
    var waitingReaders = 0
    /// The reason why indexes are not being built; cleared when others are declared.
    var buildFailure: (any Error)?
    /// True if a build is about to end and needs a moment without a running catch-up.
    var isBuildEnding = false
    /// True if indexes wait to be built or removed.
    var hasBuilds: Bool { buildFailure == nil && !(catalog.building.isEmpty && catalog.leaving.isEmpty) }

    /// - Parameter publishedEvents: the number of events that the newest state has and `catchUp` does not show, or of
    ///   commits if these were not counted.
    init(_ catchUp: IndexCatchUp, _ catalog: IndexCatalog = IndexCatalog(), publishedEvents: UInt64 = 0) {
        mark = IndexProgressMark(catchUp: catchUp, targetEvents: 0, shownEvents: 0)
        self.publishedEvents = publishedEvents
        self.catalog = catalog
        isWanted = hasIndexes
    }

    /// Begins with views that were folded again, whose indexes must be rebuilt.
    mutating func begin(with catchUp: IndexCatchUp, _ catalog: IndexCatalog) {
        mark = IndexProgressMark(catchUp: catchUp, targetEvents: publishedEvents, shownEvents: publishedEvents)
        self.catalog = catalog
        (isPublishing, buildFailure) = (false, nil)
        rows.removeAll()
        isWanted = hasIndexes
    }

    /// Takes the progress that a published state has.
    mutating func take(_ mark: IndexProgressMark) {
        self.mark = mark
        if let begun = mark.catchUp.begun { rows.forget(through: begun) }
    }

    /// Takes a state as shown, because there is no index.
    mutating func skip(to snapshot: Snapshot) {
        mark.catchUp = IndexCatchUp(snapshot)
        mark.shownEvents = publishedEvents
        rows.removeAll()
    }

    /// Takes a new catalog, after indexes were declared or removed.
    mutating func take(_ catalog: IndexCatalog) {
        self.catalog = catalog
        buildFailure = nil
    }

    /// The lag that batches tolerate. It is doubled while a build is ending, so that no new catch-up begins then.
    var toleratedLag: UInt64 { isBuildEnding && !mark.isUnderWay ? 2 * Self.tolerableLag : Self.tolerableLag }
    var lag: UInt64 { publishedEvents - mark.shownEvents }
    /// True if a thread that has been idle for a while should work on the indexes.
    var isDue: Bool { hasIndexes && (isWanted || lag > Self.idleLag) }
    /// True if an idle thread should work on the indexes immediately.
    var isUrgent: Bool { hasIndexes && isWanted }

    /// Returns true if the indexes are due and were not at the last call.
    mutating func hasBecomeDue() -> Bool {
        defer { isKnownDue = isDue }
        return isDue && !isKnownDue
    }
}
