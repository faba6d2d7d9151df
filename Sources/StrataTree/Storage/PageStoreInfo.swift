import StrataModel
import StrataSystem

/// Statistics of a page store.
package struct PageStoreInfo: Sendable {
    /// The number of pages of the file, or of memory in its place.
    package var pageCount: Int
    package var freePages: Int
    /// The number of pages that only older states reach.
    package var waitingPages: Int
    /// The number of published pages that a checkpoint has yet to write.
    package var dirtyPages: Int
    /// The number of pages in the arena, including those of forks.
    package var arenaPages: Int
    /// The number of arena pages that exceed the memory limit.
    package var spilledPages: Int
    /// The number of times that a writer had to wait for a checkpoint.
    package var waits: Int
    /// The number of checkpoints since the store was opened.
    package var checkpoints: Int
    package var failedCheckpoints: Int
    /// The position of the newest durable checkpoint.
    package var checkpointPosition: Position?
}

extension PageStore {
    package var info: PageStoreInfo {
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

    /// Gives up the file's name to another store. This store writes no more checkpoints. Existing readers may continue.
    package func giveUpFile() { checkpoints?.state.withLock { $0.isReplaced = true } }

    /// The dirty pages of the newest state: those that a checkpoint would write now.
    package var writablePages: Int { core.withLedger { ($0.writableCount, []) } }

    /// The maximum number of pages that may wait for a checkpoint.
    package var maximumDirtyPages: Int { checkpoints?.options.maximumDirtyPages ?? Int.max }

    /// Waits while a checkpoint would have more pages to write than the options allow; returns false on timeout.
    ///
    /// From half of the limit on, where checkpoints start, it pauses briefly, longer as the room shrinks, so that
    /// writers slow down to the pace of the checkpoint before they would have to stop. A writer calls it before each
    /// batch, on a different thread than the one that writes checkpoints.
    package func awaitRoom(milliseconds: Int) -> Bool {
        guard let checkpoints else { return true }
        let limit = checkpoints.options.maximumDirtyPages
        let writable = writablePages
        if writable <= limit {
            ThreadStripe.rest(microseconds: WriteBackpressure.rest(pages: writable, limit: limit))
            return true
        }
        return core.room.wait(milliseconds: milliseconds) { [core] in
            core.withLedger { ($0.writableCount <= limit, []) }
        }
    }
}
