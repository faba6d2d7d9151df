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

    /// Whether a page of the file turned out to be damaged: the file has been put away, and opening makes another one.
    public var isDamaged: Bool { checkpoints?.state.withLock { $0.isDamaged } ?? false }

    /// The name of the file is another store's from now on: this one writes no checkpoint any more, and leaves the name
    /// alone whatever it finds in its own pages. Those who read it still may go on.
    public func giveUpFile() { checkpoints?.state.withLock { $0.isReplaced = true } }

    /// The dirty pages of the newest state: those that a checkpoint would write now.
    public var writablePages: Int { core.withLedger { ($0.writableCount, []) } }

    /// How many pages may wait for a checkpoint.
    public var maximumDirtyPages: Int { checkpoints?.options.maximumDirtyPages ?? Int.max }

    /// Waits while a checkpoint would have more pages to write than the options allow; false if that takes too long.
    ///
    /// From half of that on, where checkpoints start, it rests for a moment, the longer the less room there is: writers
    /// come down to the pace of the checkpoint before they would have to stop.
    /// Whoever writes calls it in front of each batch, on another thread than the one that writes checkpoints.
    public func awaitRoom(milliseconds: Int) -> Bool {
        guard let checkpoints else { return true }
        let limit = checkpoints.options.maximumDirtyPages
        let writable = writablePages
        if writable <= limit {
            ThreadStripe.rest(microseconds: Room.rest(pages: writable, limit: limit))
            return true
        }
        return core.room.wait(milliseconds: milliseconds) { [core] in
            core.withLedger { ($0.writableCount <= limit, []) }
        }
    }
}
