import StrataModel
import StrataTree
import StrataViews

/// Replaces views in which a page is damaged with new ones, folded from the log (docs/architecture.md §5).
extension Pipeline {
    /// Replaces damaged views with new ones, unless another thread has done so. The caller has the turn to append, so
    /// that no thread publishes meanwhile; the line of a thread that is deciding is lost.
    ///
    /// - Throws: ``StrataError`` if that is impossible. The pipeline then refuses writes.
    func rebuildViews(_ damage: ViewsDamage) throws {
        let before = working.withLock { $0 }
        guard damage.views === before.views else { return }
        guard let rebuilder else { throw damage.error }
        try state.withLock { state in
            try state.rebuilds.requireChance(after: damage.error)
            state.rebuilds.count += 1
            state.rebuilds.lastReason = damage.error
        }
        // Before the file is set aside: a checkpoint may put another in its place.
        before.checkpointer?.abandon()
        do {
            try takeRebuilt(by: rebuilder)
        } catch {
            let cause = error as? StrataError
            let failure = StrataError(
                cause?.code ?? .inputOutput, "A page of the views is damaged, and the views could not be rebuilt.",
                cause?.context ?? .init(), cause: error)
            state.withLock { $0.rebuilds.failure = failure }
            refuse(failure)
            throw failure
        }
    }

    private func takeRebuilt(by rebuilder: ViewsRebuilder) throws {
        let opened = try rebuilt(by: rebuilder)
        guard let policy = rebuilder.checkpoints else { return take(opened) }
        let snapshot = opened.views.pages.snapshot()
        let catalog = try IndexCatalog(snapshot)
        let checkpointer = try Checkpointer(opened.views, policy: policy)
        checkpointer.didPublish(snapshot, bytes: 0, events: 0, hasAllIndexes: catalog.isEmpty)
        take(WorkingViews(views: opened.views, checkpointer: checkpointer), snapshot, catalog)
    }

    /// Starts over if a compaction removed commits that were still to be folded: its base has them now.
    private func rebuilt(by rebuilder: ViewsRebuilder) throws -> OpenedViews {
        while true {
            let floor = log.floor.offset
            do { return try rebuilder.rebuilt() } catch let error as StrataError
                where error.code == .outOfRange && log.floor.offset > floor
            { continue }
        }
    }

    /// Folds the log into new views although the current ones are sound, so that no page keeps what the log no longer
    /// has. The old file is gone on return; readers of its states can continue.
    ///
    /// - Parameter options: the options of views in memory.
    func renewViews(_ options: PageStoreOptions) throws {
        try takeTurnToAppend()
        defer { releaseAppending() }
        guard let rebuilder else {
            let views = try Views.inMemory(log, options: options)
            let snapshot = views.pages.snapshot()
            return take(WorkingViews(views: views, checkpointer: nil), snapshot, try IndexCatalog(snapshot))
        }
        checkpointer?.abandon()
        do {
            try takeRebuilt(by: rebuilder)
            try rebuilder.removeSetAside()
        } catch {
            // No page file keeps what is written from now on, and there may be none to open.
            let failure = StrataError(.refusingWrites, "The views could not be rebuilt.", cause: error)
            refuse(failure)
            throw failure
        }
    }

    /// Takes the views of a store that is only read.
    func take(_ opened: OpenedViews) {
        take(WorkingViews(views: opened.views, checkpointer: nil), opened.keeper, IndexCatalog())
    }

    private func take(_ new: WorkingViews, _ snapshot: Snapshot, _ catalog: IndexCatalog) {
        // Indexes without rows show any state.
        take(new, IndexCatchUp(snapshot), catalog)
    }

    private func take(_ new: WorkingViews, _ keeper: IndexCatchUp, _ catalog: IndexCatalog) {
        state.withLock { state in
            working.withLock { $0 = new }
            state.losses += 1
            if state.refusal == nil { (state.end, state.endTime) = (log.end, log.endTime ?? state.endTime) }
            state.indexes.begin(with: keeper, catalog)
        }
        state.notifyAll()
        wakeBuilder()
    }

    /// Returns the newest views, which are folded again if `broken` is one of their states. The caller has no turn.
    func viewsWithout(_ broken: Snapshot, because error: StrataError) throws -> Views {
        let views = views
        guard views.pages.isSource(of: broken), let damage = ViewsDamage(error, views) else { return views }
        try takeTurnToAppend()
        defer { releaseAppending() }
        try rebuildViews(damage)
        return self.views
    }

    /// Waits for the turn to append. The caller has no turn.
    private func takeTurnToAppend() throws {
        state.withLock { $0.turnWaiters += 1 }
        try state.wait { state -> Void? in
            if state.isClosed {
                state.turnWaiters -= 1
                throw StoreGate.error
            }
            if state.isAppending { return nil }
            state.isAppending = true
            state.turnWaiters -= 1
            return ()
        }
    }

    /// Folds the views again and decides the whole batch again, if a damaged page was found. Nothing of the batch is in
    /// the log yet. The caller has both turns.
    func decideAgainIfDamaged(_ batch: inout Batch) {
        let found = batch.damage ?? indexDamage ?? checkpointer?.failure.flatMap { ViewsDamage($0, views) }
        indexDamage = nil
        guard let found, rebuilder != nil else { return }
        do { try rebuildViews(found) } catch {
            for index in batch.entries.indices where batch.entries[index].isDamaged {
                batch.entries[index].outcome = .failed(error)
            }
            return
        }
        line = nil
        let submissions = batch.submissions
        putBackAudits(of: &batch, written: 0)
        batch = Batch()
        decide(submissions, &batch)
        complete(&batch)
    }

    /// Rebuilds the views if commits are in the log that no state shows; returns a state that shows them. The caller
    /// has the turn to append.
    func rebuilt(after error: any Error) -> Snapshot? {
        guard let damage = ViewsDamage(error, views), (try? rebuildViews(damage)) != nil else { return nil }
        return views.pages.snapshot()
    }
}
