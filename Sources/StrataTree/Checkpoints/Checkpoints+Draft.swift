import StrataModel
import StrataSystem

/// A checkpoint that is being written.
struct CheckpointDraft: Sendable {
    var slot: Int
    /// Holds the pages of the record until they are written.
    var owner: UInt64
    var plan: CheckpointPlan
    /// Where the record is, it says only when that is written.
    var header: CheckpointHeader
    var roots: TreeRoots
    var kept: [KeptRecord]
    var opaque: [UInt8]

    /// The epochs that are pinned for it.
    var pins: [UInt64] { [header.epoch] + kept.map(\.epoch) }
}

extension Checkpoints {
    /// Pins the state and decides what goes where, without touching the file.
    func draft(
        _ snapshot: Snapshot, _ position: Position, _ opaque: [UInt8], _ before: CheckpointSlots
    ) throws -> CheckpointDraft {
        let owner = core.nextEpoch()
        let otherBytes = CheckpointRecord.otherBytes(trees: snapshot.roots.ids.count, opaque: opaque.count)
        let candidates = Self.candidates(before)
        let epoch = snapshot.epoch
        let options = options
        let (plan, kept) = try core.withLedger { ledger -> ((CheckpointPlan, [KeptRecord]), [PageRun]) in
            let plan = try ledger.planCheckpoint(at: epoch, owner: owner, otherBytes: otherBytes)
            let kept = KeptPolicy.chosen(
                from: candidates, at: position.offset, retiredPages: plan.retiredPages, livePages: plan.livePages,
                atMost: options.maximumKeptCheckpoints)
            for epoch in [epoch] + kept.map(\.epoch) { ledger.pin(epoch) }
            return ((plan, kept), [])
        }
        let header = CheckpointHeader(
            sequence: before.lastSequence + 1, epoch: epoch, store: store, position: position,
            pageCount: plan.pageCount, time: time.nowMicroseconds(),
            record: RecordPlace(run: plan.record, byteCount: 0, checksum: 0))
        return CheckpointDraft(
            slot: before.targetIndex, owner: owner, plan: plan, header: header, roots: snapshot.roots, kept: kept,
            opaque: opaque)
    }

    /// What the newest checkpoint keeps, and the one that will be overwritten.
    private static func candidates(_ state: CheckpointSlots) -> [KeptRecord] {
        var candidates = state.newest?.kept ?? []
        if state.newestIndex != state.targetIndex, let old = state.slots[state.targetIndex].header {
            candidates.append(KeptRecord(old))
        }
        return candidates
    }

    /// Writes and syncs everything but the header.
    ///
    /// - Parameter moved: gets the pages that are found in the file from now on.
    func writePages(_ draft: inout CheckpointDraft, isPaced: Bool, _ moved: inout [MovedPage]) throws {
        try file.extend(toPages: draft.plan.pageCount)
        let writer = SliceWriter(
            file: file.file, time: time, pace: isPaced ? options.pace : CheckpointSlice.takeAll,
            roomTaken: { [core, options] in
                Double(core.withLedger { ($0.writableCount, []) }) / Double(max(1, options.maximumDirtyPages))
            })
        draft.header.record = try writer.write(
            CheckpointRecord(
                roots: draft.roots, free: draft.plan.free, retired: draft.plan.retired, kept: draft.kept,
                opaque: draft.opaque),
            to: draft.plan.record, epoch: draft.header.epoch)
        // The ledger copies each list that it shares with the plan before it changes it.
        draft.plan.retired = []
        try writer.write(draft.plan.dirty, afterSlice: { move($0, &moved) }) { [core] number, target in
            // It is pinned, and only this thread moves pages to the file: it stays where it is. That is the file if a
            // checkpoint before failed when it had written the page.
            target.copyMemory(from: try core.memory.page(number).base, byteCount: PageLayout.pageBytes)
        }
        try file.file.sync()
    }

    /// Has pages found in the map of the file, which shows what has been written to it: their memory serves others long
    /// before the checkpoint is over. A file that is read instead keeps them until then.
    private func move(_ numbers: ArraySlice<PageNumber>, _ moved: inout [MovedPage]) {
        guard file.base != nil else { return }
        // Pinned, and just read to be written.
        moved += numbers.compactMap { number in
            core.memory.place(of: number).map { MovedPage(number: number, birth: Page($0).birth) }
        }
        core.memory.moveToFile(numbers)
        core.withLedger { ledger in
            ledger.markClean(numbers)
            return ((), [])
        }
        core.room.changed()
    }
}

extension KeptRecord {
    init(_ header: CheckpointHeader) {
        self.init(
            epoch: header.epoch, position: header.position, record: header.record, pageCount: header.pageCount,
            time: header.time)
    }
}
