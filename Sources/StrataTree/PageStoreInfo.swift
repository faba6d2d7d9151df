import StrataModel
import StrataSystem

/// How a page store is doing.
public struct PageStoreInfo: Sendable {
    /// Of the file, or of the memory that stands for one.
    public var pageCount: Int
    public var freePages: Int
    /// Pages that only older states reach.
    public var waitingPages: Int
    /// Published pages that a checkpoint has yet to write.
    public var dirtyPages: Int
    /// Pages in the arena, those of forks included.
    public var arenaPages: Int
    /// Those of them that did not fit the memory they may take.
    public var spilledPages: Int
    /// How often a writer had to wait for a checkpoint.
    public var waits: Int
    /// Since the store was opened.
    public var checkpoints: Int
    public var failedCheckpoints: Int
    /// The newest one on the medium.
    public var checkpointPosition: Position?
}

extension PageStore {
    public var info: PageStoreInfo {
        let state = checkpoints?.state.withLock { $0 }
        let arenaPages = core.memory.usedSlots
        let spilledPages = core.memory.spilledSlots
        let waits = core.room.waitCount
        return core.withLedger { ledger in
            let info = PageStoreInfo(
                pageCount: ledger.pageCount, freePages: ledger.freeCount, waitingPages: ledger.waitingCount,
                dirtyPages: ledger.dirty.count, arenaPages: arenaPages,
                spilledPages: spilledPages, waits: waits,
                checkpoints: state?.checkpointCount ?? 0, failedCheckpoints: state?.failureCount ?? 0,
                checkpointPosition: state?.newest?.header?.position)
            return (info, [])
        }
    }

    /// How many pages may wait for a checkpoint.
    public var maximumDirtyPages: Int { checkpoints?.options.maximumDirtyPages ?? Int.max }

    /// Waits while more pages are dirty than the options allow; false if that takes too long.
    ///
    /// From three quarters of that on it rests for a moment, so that writers slow down before they have to stop.
    /// Whoever writes calls it in front of each batch, on another thread than the one that writes checkpoints.
    public func awaitRoom(milliseconds: Int) -> Bool {
        guard let checkpoints else { return true }
        let limit = checkpoints.options.maximumDirtyPages
        let (dirty, writable) = core.withLedger { ledger in
            ((ledger.dirty.count, ledger.dirty.count > limit / 4 * 3 ? ledger.writableCount : 0), [])
        }
        if dirty > limit / 4 * 3, writable <= limit {
            let excess = max(0, writable - limit / 4 * 3)
            ThreadStripe.rest(microseconds: Int64(excess) * Self.longestRestMicroseconds / Int64(max(1, limit / 4)))
            return true
        }
        return core.room.wait(milliseconds: milliseconds) { [core] in
            core.withLedger { ledger in (ledger.dirty.count <= limit || ledger.writableCount <= limit, []) }
        }
    }

    private static var longestRestMicroseconds: Int64 { 20_000 }
}

extension PageLedger {
    /// Dirty pages that the newest state reaches: those that a checkpoint writes.
    var writableCount: Int {
        let waitingDirty = waiting.values.lazy.joined().reduce(0) { sum, retired in
            sum + retired.run.range.reduce(0) { $0 + (dirty.contains($1) ? 1 : 0) }
        }
        return dirty.count - waitingDirty
    }
}
