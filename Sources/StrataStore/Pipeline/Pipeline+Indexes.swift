import StrataModel
import StrataTree
import StrataViews

/// How far the indexes of a line of forks have come.
struct IndexProgressMark: Sendable {
    var keeper: IndexKeeper
    /// How many events the catch-up that is under way, or the last one, goes to.
    var targetEvents: UInt64
    /// How many events the indexes show.
    var shownEvents: UInt64
    var isUnderWay = false
}

/// What is published of the indexes, and how much they lack.
struct IndexState {
    /// A slice of catching up looks at so many records while nobody asks for anything, so that who then does waits for
    /// a few milliseconds at most.
    static let idleSliceRecords = 250
    /// And at so many where writers pay: larger slices touch fewer pages for each record.
    static let owedSliceRecords = 2_500
    /// Beyond this lag each batch does a slice. The more comes together, the fewer pages of the indexes change for each
    /// record, and pages are what a checkpoint writes.
    static let tolerableLag: UInt64 = 20_000
    /// Up to this lag, indexes are completed in one go for a checkpoint.
    static let completedLag: UInt64 = 2_000
    /// Up to this lag, catching up is left until somebody asks or more comes.
    static let idleLag: UInt64 = 1_000
    /// Who asked for nothing for so long will not wait for a slice.
    static let quietMilliseconds = 20

    var mark: IndexProgressMark
    var publishedEvents: UInt64 = 0
    /// That of the newest state.
    private(set) var catalog: IndexCatalog
    var hasIndexes: Bool { !catalog.isEmpty }
    /// Whether indexes are to be brought up to date as soon as can be: a query waits, or a checkpoint.
    var isWanted = false
    /// Whether idle threads know that they are due.
    private var isKnownDue = false
    /// Whether a state may be published already whose indexes show more than `mark` says.
    var isPublishing = false
    /// How many wait for that to be over.
    var waitingReaders = 0
    /// Why indexes that are to be built are not, until others are declared.
    var buildFailure: (any Error)?
    /// Whether a build is about to end, and needs a moment in which no catch-up is under way.
    var isBuildEnding = false
    /// Whether indexes wait to be built, or to be taken out.
    var hasBuilds: Bool { buildFailure == nil && !(catalog.building.isEmpty && catalog.leaving.isEmpty) }

    init(_ keeper: IndexKeeper, _ catalog: IndexCatalog = IndexCatalog()) {
        mark = IndexProgressMark(keeper: keeper, targetEvents: 0, shownEvents: 0)
        self.catalog = catalog
        isWanted = hasIndexes
    }

    /// The views were folded again, and the indexes are to be built again.
    mutating func begin(with keeper: IndexKeeper, _ catalog: IndexCatalog) {
        mark = IndexProgressMark(keeper: keeper, targetEvents: publishedEvents, shownEvents: publishedEvents)
        self.catalog = catalog
        (isPublishing, buildFailure) = (false, nil)
        isWanted = hasIndexes
    }

    /// Others have been declared, or are not any more.
    mutating func take(_ catalog: IndexCatalog) {
        self.catalog = catalog
        buildFailure = nil
    }

    /// A catch-up that is under way goes on; another one does not begin just when a build ends.
    var toleratedLag: UInt64 { isBuildEnding && !mark.isUnderWay ? 2 * Self.tolerableLag : Self.tolerableLag }
    var lag: UInt64 { publishedEvents - mark.shownEvents }
    /// Whether a thread should work on them that has been idle for a while.
    var isDue: Bool { hasIndexes && (isWanted || lag > Self.idleLag) }
    /// Whether an idle thread should work on them at once.
    var isUrgent: Bool { hasIndexes && isWanted }

    /// Whether they are due for the first time since they were not.
    mutating func hasBecomeDue() -> Bool {
        defer { isKnownDue = isDue }
        return isDue && !isKnownDue
    }
}

extension Pipeline {
    /// Work on the indexes in front of a batch, where they are far behind or a checkpoint waits for them. The caller
    /// has the turn to decide.
    func stepIndexes(for batch: inout Batch) {
        let (indexes, isOwed) = state.withLock { ($0.indexes, checkpointer?.waitsForIndexes ?? false) }
        guard indexes.hasIndexes else {
            // Nothing is to be compared with later, so nothing older is kept.
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
                // The fork refuses everything now, so that the batch is judged on another one, and on new views where a
                // page was wrong.
                batch.isBroken = true
                indexDamage = ViewsDamage(error, line.views)
            }
        }
    }

    /// - Returns: whether there is more to do.
    private func advance(
        _ mark: inout IndexProgressMark, in fork: Fork, to target: Snapshot, _ events: UInt64, limit: Int
    ) throws -> Bool {
        if !mark.isUnderWay { (mark.targetEvents, mark.isUnderWay) = (events, true) }
        let hasMore = try mark.keeper.advance(fork, to: target, limit: limit)
        if !hasMore { (mark.shownEvents, mark.isUnderWay) = (mark.targetEvents, false) }
        return hasMore
    }

    /// A slice, published at once. The caller has both turns.
    ///
    /// - Returns: whether there is more to do.
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
            // At the end of the store nobody waits for its indexes any more.
            if !state.withLock({ $0.isClosed }), rebuilt(after: error) != nil { return true }
            // Without rest it would be tried for ever; whoever reads the page next is told.
            state.withLock { $0.indexes.isWanted = false }
            return false
        }
    }

    /// At the end, so that the last checkpoint has them. Nobody else has a turn any more.
    func completeIndexes() {
        guard state.withLock({ $0.indexes.hasIndexes && $0.refusal == nil }) else { return }
        while advancePublished(limit: IndexState.owedSliceRecords) {}
    }

    /// A slice while nobody asks for anything. The caller has both turns, and gives them up.
    func catchUpIndexes() {
        _ = advancePublished(limit: IndexState.idleSliceRecords)
        releaseDeciding()
        releaseAppending()
        state.notifyAll()
    }

    /// Makes a fork the newest state, and has the pipeline know which indexes that has. The caller has the turn to
    /// append.
    ///
    /// - Parameters:
    ///   - changesIndexes: whether rows of indexes were changed in it, so that `update` brings another mark.
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

    /// A batch becomes the newest state. The caller has the turn to append.
    func publish(_ batch: Batch, _ fork: Fork) throws -> Snapshot {
        let views = views
        let before = views.pages.snapshot()
        let snapshot = try publish(fork, of: views, over: before, changesIndexes: batch.changesIndexes) {
            state, snapshot in
            state.indexes.publishedEvents += UInt64(batch.eventCount)
            if !state.indexes.hasIndexes {
                // Indexes that come with this batch have no rows that could show another state.
                state.indexes.mark.keeper = IndexKeeper(snapshot)
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

    /// After the views followed the log by themselves. The caller has the turn to append.
    func noteCatalog(_ snapshot: Snapshot, over before: Snapshot) throws {
        if snapshot.shares(ViewTree.indexCatalog, with: before) { return }
        let catalog = try IndexCatalog(snapshot)
        state.withLock { $0.indexes.take(catalog) }
        wakeBuilder()
    }

    // MARK: Reading

    /// The newest state, and what its indexes show.
    func indexedSnapshot() -> (snapshot: Snapshot, lag: IndexLag) {
        state.withLock { $0.indexes.waitingReaders += 1 }
        return state.wait { state in
            if state.indexes.isPublishing { return nil }
            state.indexes.waitingReaders -= 1
            return (views.pages.snapshot(), state.indexes.mark.keeper.lag)
        }
    }

    /// Has the indexes brought up to date, and waits for what has been published by now.
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
