import StrataModel
import StrataSystem
import Synchronization

/// Writes checkpoints of a page store to its file, one at a time, and tracks the epochs that they keep alive.
final class Checkpoints: Sendable {
    let core: PageCore
    let file: PageFile
    let readers: ReadersFile
    let store: Identifier
    let options: PageStoreOptions
    let time: any TimeSource
    let files: any FileSystem
    let directory: String
    let state: Lock<CheckpointSlots>
    /// True while a checkpoint is being written.
    private let turn = Monitor(false)
    /// True if checkpoints no longer pause, because a thread waits for their end.
    let isHurried = Atomic(false)

    init(
        core: PageCore, file: PageFile, readers: ReadersFile, store: Identifier, options: PageStoreOptions,
        platform: Platform, directory: String, state: CheckpointSlots
    ) {
        self.core = core
        self.file = file
        self.readers = readers
        self.store = store
        self.options = options
        time = platform.time
        files = platform.files
        self.directory = directory
        self.state = Lock(state)
    }

    /// Writes a checkpoint and returns once it is durable. After an error the previous checkpoint remains the newest,
    /// and the caller may retry.
    func write(
        _ snapshot: Snapshot, at position: Position, opaque: [UInt8], isPaced: Bool = true
    ) throws -> Checkpoint {
        try inTurn {
            do {
                return try writeInTurn(snapshot, at: position, opaque: opaque, isPaced: isPaced)
            } catch {
                state.withLock { $0.failureCount += 1 }
                throw error
            }
        }
    }

    /// Runs `body` to replace this file by another one. This file is not written after that.
    func replace(_ snapshot: Snapshot, at position: Position, _ body: (_ sequence: UInt64) throws -> Void) throws {
        try inTurn {
            let before = state.withLock { $0 }
            try check(snapshot, at: position, opaque: [], after: before)
            try body(before.lastSequence + 1)
            state.withLock { $0.isReplaced = true }
        }
    }

    private func inTurn<Result>(_ body: () throws -> Result) throws -> Result {
        turn.wait { isTaken -> Void? in
            if isTaken { return nil }
            isTaken = true
            return ()
        }
        defer {
            turn.withLock { $0 = false }
            turn.notifyAll()
        }
        return try body()
    }

    private func writeInTurn(
        _ snapshot: Snapshot, at position: Position, opaque: [UInt8], isPaced: Bool
    ) throws -> Checkpoint {
        let before = state.withLock { $0 }
        try check(snapshot, at: position, opaque: opaque, after: before)
        try settleSlots(before)
        var draft = try draft(snapshot, at: position, opaque: opaque, after: before)
        var moved: [MovedPage] = []
        do {
            try writePages(&draft, isPaced: isPaced, &moved)
        } catch {
            takeBack(moved)
            core.withLedger { [draft] ledger in
                let freed = draft.pins.flatMap { ledger.unpin($0) }
                return ((), freed + ledger.takeBackLoans(of: draft.owner))
            }
            throw error
        }
        core.withLedger { [draft] ledger in
            ledger.forgetLoans(of: draft.owner)
            return ((), ledger.retire(.record(draft.plan.record, of: draft.header.epoch)))
        }
        do {
            try file.write(draft.header.encoded(), toSlot: draft.slot)
            try file.file.sync()
        } catch {
            takeBack(moved)
            // The header may be durable now or later, so what it reaches is kept until the slot is overwritten durably.
            state.withLock { [draft] in $0.doubtful += draft.pins }
            throw error
        }
        finish(draft, before)
        return Checkpoint(draft.header, opaque: opaque)
    }

    /// Marks all pages of a failed checkpoint as unwritten again.
    private func takeBack(_ moved: [MovedPage]) {
        core.memory.takeBack(moved)
        core.withLedger { ledger in
            ledger.markDirtyAgain(moved.lazy.map(\.number))
            return ((), [])
        }
    }

    private func check(
        _ snapshot: Snapshot, at position: Position, opaque: [UInt8], after state: CheckpointSlots
    ) throws {
        if state.isReplaced {
            throw StrataError(.closed, "The page file was replaced by another one.", .init(path: file.path))
        }
        let newest = state.newest?.header
        guard snapshot.core === core, snapshot.epoch >= newest?.epoch ?? 0,
            position.offset >= newest?.position.offset ?? 0
        else {
            throw StrataError(
                .invalidArgument,
                "A checkpoint must be of a state of this store that is not older than the last checkpoint.",
                .init(
                    path: file.path, expected: "offset \(newest?.position.offset ?? 0) or later",
                    found: "\(position)"))
        }
        guard opaque.count <= ViewFormat.maximumOpaqueBytes else {
            throw StrataError(
                .tooLarge, "The data kept with a checkpoint is too long.",
                .init(expected: "at most \(ViewFormat.maximumOpaqueBytes) bytes", found: "\(opaque.count)"))
        }
    }

    /// Puts the durable checkpoint into its slot and releases what the old one kept alive.
    private func finish(_ draft: CheckpointDraft, _ before: CheckpointSlots) {
        if file.base == nil { core.memory.moveToFile(draft.plan.dirty) }
        let live = readers.liveEpochs(orAll: before.pinned)
        let letGo = state.withLock { state in
            let letGo = state.slots[draft.slot].pinned + state.doubtful + state.readers
            state.slots[draft.slot] = .init(header: draft.header, kept: draft.kept, opaque: draft.opaque)
            state.doubtful = []
            state.readers = live
            state.lastSequence = draft.header.sequence
            state.checkpointCount += 1
            return letGo
        }
        core.withLedger { ledger in
            ledger.markClean(draft.plan.dirty)
            ledger.forgetBirths(upTo: draft.header.epoch)
            for epoch in live { ledger.pin(epoch) }
            // Freed in parts, because each epoch may have held a large part of the file.
            return ((), letGo.flatMap { ledger.unpin($0, atMost: 0) })
        }
        core.release()
        core.room.changed()
    }
}
