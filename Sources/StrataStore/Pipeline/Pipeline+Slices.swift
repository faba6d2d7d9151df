import StrataTree
import StrataViews

/// Work on the views between batches.
extension Pipeline {
    /// Does some work in a fork that becomes the newest state, while no thread decides or appends. Returns nil if the
    /// store is being closed or refuses writes.
    func betweenBatches<Result>(_ body: (Fork) throws -> Result) throws -> Result? {
        awaitRoom()
        guard claimTurns() else { return nil }
        defer { returnTurns() }
        let views = views
        do { return try publishSlice(of: views) { fork, _ in try body(fork) } } catch {
            live.note(error, in: views)
            throw error
        }
    }

    /// Takes both turns before waiting requests; returns false if the store is being closed or refuses writes.
    func claimTurns() -> Bool {
        assert(holdsNoTurn, "turns are waited for without a turn")
        state.withLock { ($0.turns.claims, $0.turns.waiters) = ($0.turns.claims + 1, $0.turns.waiters + 1) }
        let isTaken = state.wait { state -> Bool? in
            if !state.isClosed, !state.turns.areFree { return nil }
            (state.turns.claims, state.turns.waiters) = (state.turns.claims - 1, state.turns.waiters - 1)
            if state.isClosed || state.refusal != nil { return false }
            state.turns.takeBoth()
            return true
        }
        if !isTaken { state.notifyAll() }
        return isTaken
    }

    func returnTurns() {
        releaseDeciding()
        releaseAppending()
        state.notifyAll()
    }

    /// Completes the current generation of changes; returns its end, and what writes it. The caller has both turns.
    func freeze() throws -> (end: UInt64, flusher: Flusher?) {
        line = nil
        try views.trees.freeze()
        let snapshot = views.trees.snapshot()
        reader.publish(snapshot)
        flusher?.didPublish()
        return (snapshot.foldedOffset(ViewTree.records), flusher)
    }

    /// Publishes the changes that the body makes to a fork of the newest state. The caller has both turns.
    func publishSlice<Result>(of views: Views, _ body: (Fork, Snapshot) throws -> Result) throws -> Result {
        line = nil
        let before = views.trees.snapshot()
        let fork = try views.trees.fork()
        let result = try body(fork, before)
        _ = try publish(fork, of: views, over: before)
        flusher?.didPublish(isInLog: false)
        return result
    }
}
