import StrataModel
import StrataTree
import StrataViews

/// The progress of the indexes in a line of forks.
struct IndexProgressMark: Sendable {
    var keeper: IndexCatchUp
    /// The number of events that the running catch-up, or the last one, covers.
    var targetEvents: UInt64
    /// The number of events that the indexes show.
    var shownEvents: UInt64
    var isUnderWay = false
}

/// The published state of the indexes, and their lag.
struct IndexState {
    /// The number of records in a slice of catching up while no requests come, so that a new request waits for a few
    /// milliseconds at most.
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
    var publishedEvents: UInt64 = 0
    /// The catalog of the newest state.
    private(set) var catalog: IndexCatalog
    var hasIndexes: Bool { !catalog.isEmpty }
    /// True if indexes must be brought up to date as soon as possible, for a query or a checkpoint that waits.
    var isWanted = false
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

    init(_ keeper: IndexCatchUp, _ catalog: IndexCatalog = IndexCatalog()) {
        mark = IndexProgressMark(keeper: keeper, targetEvents: 0, shownEvents: 0)
        self.catalog = catalog
        isWanted = hasIndexes
    }

    /// Begins with views that were folded again, whose indexes must be rebuilt.
    mutating func begin(with keeper: IndexCatchUp, _ catalog: IndexCatalog) {
        mark = IndexProgressMark(keeper: keeper, targetEvents: publishedEvents, shownEvents: publishedEvents)
        self.catalog = catalog
        (isPublishing, buildFailure) = (false, nil)
        isWanted = hasIndexes
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

extension Pipeline {
    /// Works on the indexes before a batch, if they lag too far or a checkpoint waits for them. The caller has the turn
    /// to decide.
    func stepIndexes(for batch: inout Batch) {
        let (indexes, isOwed) = state.withLock { ($0.indexes, checkpointer?.waitsForIndexes ?? false) }
        guard indexes.hasIndexes else {
            // Nothing is compared with an older state later, so none is kept.
            line?.indexes = indexes.mark
            return
        }
        if isOwed, indexes.lag <= IndexState.completedLag {
            state.wait { state -> Void? in
                if state.isAppending { return nil }
                state.isAppending = true
                return ()
            }
            while advancePublished(limit: IndexState.owedSliceRecords) {}
            releaseAppending()
        } else if log.assignsNextOffset, isOwed || indexes.lag > indexes.toleratedLag {
            let line = currentLine()
            line.changesIndexes = true
            do {
                _ = try advance(
                    &line.indexes, in: line.fold.whole(), to: line.views.pages.snapshot(), indexes.publishedEvents,
                    limit: IndexState.owedSliceRecords)
            } catch {
                // The fork now refuses everything, so the batch is decided on another fork, and on new views if a page
                // was damaged.
                batch.isBroken = true
                indexDamage = ViewsDamage(error, line.views)
            }
        }
    }

    /// Advances the indexes in a fork; returns true if there is more to do.
    private func advance(
        _ mark: inout IndexProgressMark, in fork: Fork, to target: Snapshot, _ events: UInt64, limit: Int
    ) throws -> Bool {
        if !mark.isUnderWay { (mark.targetEvents, mark.isUnderWay) = (events, true) }
        let hasMore = try mark.keeper.advance(fork, to: target, limit: limit)
        if !hasMore { (mark.shownEvents, mark.isUnderWay) = (mark.targetEvents, false) }
        return hasMore
    }

    /// Does a slice of catching up and publishes it; returns true if there is more to do. The caller has both turns.
    func advancePublished(limit: Int) -> Bool {
        line = nil
        var (mark, events) = state.withLock { ($0.indexes.mark, $0.indexes.publishedEvents) }
        let views = views
        let fork = views.pages.fork()
        do {
            let before = views.pages.snapshot()
            var hasMore = try advance(&mark, in: fork, to: before, events, limit: limit)
            hasMore = hasMore || mark.shownEvents < events
            let snapshot = try publish(fork, of: views, over: before, changesIndexes: true) { state, _ in
                state.indexes.mark = mark
                if !hasMore { state.indexes.isWanted = false }
            }
            if !hasMore { checkpointer?.didPublish(snapshot, bytes: 0, events: 0, hasAllIndexes: true) }
            return hasMore
        } catch {
            // When the store closes, no query waits for its indexes any more.
            if !state.withLock({ $0.isClosed }), rebuilt(after: error) != nil { return true }
            // Otherwise this would be retried forever. The next reader of the page gets the error.
            state.withLock { $0.indexes.isWanted = false }
            return false
        }
    }

    /// Completes the indexes at the end, so that the last checkpoint has them. No other thread has a turn any more.
    func completeIndexes() {
        guard state.withLock({ $0.indexes.hasIndexes && $0.refusal == nil }) else { return }
        while advancePublished(limit: IndexState.owedSliceRecords) {}
    }

    /// Does a slice while no requests come. The caller has both turns, and this gives them up.
    func catchUpIndexes() {
        _ = advancePublished(limit: IndexState.idleSliceRecords)
        releaseDeciding()
        releaseAppending()
        state.notifyAll()
    }

    /// Makes a fork the newest state, and updates the pipeline's catalog of its indexes. The caller has the turn to
    /// append.
    ///
    /// - Parameters:
    ///   - changesIndexes: true if rows of indexes were changed in it, so that `update` sets another mark.
    ///   - update: called under the lock once the state is the newest.
    func publish(
        _ fork: Fork, of views: Views, over before: Snapshot, changesIndexes: Bool,
        _ update: (inout State, Snapshot) -> Void
    ) throws -> Snapshot {
        if changesIndexes { state.withLock { $0.indexes.isPublishing = true } }
        defer { endPublishing() }
        let snapshot = try views.pages.publish(fork)
        let isSameCatalog = snapshot.shares(ViewTree.indexCatalog, with: before)
        let catalog = isSameCatalog ? nil : try IndexCatalog(snapshot)
        state.withLock { state in
            update(&state, snapshot)
            if let catalog { state.indexes.take(catalog) }
            state.indexes.isPublishing = false
        }
        if catalog != nil { wakeBuilder() }
        return snapshot
    }

    private func endPublishing() {
        let isAwaited = state.withLock { state in
            state.indexes.isPublishing = false
            return state.indexes.waitingReaders > 0
        }
        if isAwaited { state.notifyAll() }
    }

    /// Makes the state of a batch the newest. The caller has the turn to append.
    func publish(_ batch: Batch, _ fork: Fork) throws -> Snapshot {
        let views = views
        let before = views.pages.snapshot()
        let snapshot = try publish(fork, of: views, over: before, changesIndexes: batch.changesIndexes) {
            state, snapshot in
            state.indexes.publishedEvents += UInt64(batch.eventCount)
            if !state.indexes.hasIndexes {
                // Indexes declared by this batch have no rows that could show another state.
                state.indexes.mark.keeper = IndexCatchUp(snapshot)
                state.indexes.mark.shownEvents = state.indexes.publishedEvents
            } else if batch.changesIndexes, let mark = batch.indexes {
                state.indexes.mark = mark
            }
        }
        let hasIndexes = state.withLock { $0.indexes.hasIndexes }
        checkpointer?.didPublish(
            snapshot, bytes: batch.byteCount, events: batch.eventCount, hasAllIndexes: !hasIndexes)
        return snapshot
    }

    /// Takes the catalog after the views followed the log by themselves. The caller has the turn to append.
    func noteCatalog(_ snapshot: Snapshot, over before: Snapshot) throws {
        if snapshot.shares(ViewTree.indexCatalog, with: before) { return }
        let catalog = try IndexCatalog(snapshot)
        state.withLock { $0.indexes.take(catalog) }
        wakeBuilder()
    }

    // MARK: Reading

    /// Returns the newest state, and the lag of its indexes.
    func indexedSnapshot() -> (snapshot: Snapshot, lag: IndexLag) {
        state.withLock { $0.indexes.waitingReaders += 1 }
        return state.wait { state in
            if state.indexes.isPublishing { return nil }
            state.indexes.waitingReaders -= 1
            return (views.pages.snapshot(), state.indexes.mark.keeper.lag)
        }
    }

    /// Returns once all indexes are built and show everything that has been published by now.
    func awaitIndexes() {
        awaitCatchUp()
        state.wait { state -> Void? in
            state.indexes.hasBuilds && !state.isClosed && state.refusal == nil ? nil : ()
        }
        awaitCatchUp()
    }

    func awaitCatchUp() {
        let goal = state.withLock { state in
            state.indexes.isWanted = state.indexes.hasIndexes
            return state.indexes.publishedEvents
        }
        state.notifyAll()
        state.wait { state -> Void? in
            let isBehind = state.indexes.isWanted || state.indexes.mark.shownEvents < goal
            return isBehind && state.indexes.hasIndexes && !state.isClosed && state.refusal == nil ? nil : ()
        }
    }
}
