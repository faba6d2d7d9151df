import StrataModel
import StrataSystem
import Synchronization

extension Checkpoints {
    /// Pins the state and plans the checkpoint, without touching the file.
    func draft(
        _ snapshot: Snapshot, at position: Position, opaque: [UInt8], after before: CheckpointSlots
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

    /// The checkpoints kept by the newest one, and the one that will be overwritten.
    private static func candidates(_ state: CheckpointSlots) -> [KeptRecord] {
        var candidates = state.newest?.kept ?? []
        if state.newestIndex != state.targetIndex, let old = state.slots[state.targetIndex].header {
            candidates.append(KeptRecord(old))
        }
        return candidates
    }

    /// Writes and syncs everything but the header.
    ///
    /// - Parameter moved: receives the pages that are now read from the file.
    func writePages(_ draft: inout CheckpointDraft, isPaced: Bool, _ moved: inout [MovedPage]) throws {
        try file.extend(toPages: draft.plan.pageCount)
        let roomTaken = { [core, options] in
            Double(core.withLedger { ($0.writableCount, []) }) / Double(max(1, options.maximumDirtyPages))
        }
        let writer = SliceWriter(
            file: file.file, time: time, pace: { [self] slice in if isPaced { pause(after: slice) } },
            roomTaken: roomTaken,
            isInHurry: { [self] in
                !isPaced || isHurried.load(ordering: .relaxed) || roomTaken() > CheckpointSlice.ampleFill
            })
        draft.header.record = try writer.write(
            CheckpointRecord(
                roots: draft.roots, free: draft.plan.free, retired: draft.plan.retired, kept: draft.kept,
                opaque: draft.opaque),
            to: draft.plan.record, epoch: draft.header.epoch)
        // Released now, because the ledger copies each list that it shares with the plan before changing it.
        draft.plan.retired = []
        try writer.write(draft.plan.dirty, afterSlice: { move($0, &moved) }) { [core] number, target in
            // The page is pinned, and only this thread moves pages to the file, so it does not move. It may already be
            // in the file if a previous checkpoint failed after writing it.
            target.copyMemory(from: try core.memory.page(number).base, byteCount: PageLayout.pageBytes)
        }
        try file.file.sync()
    }

    private func pause(after slice: CheckpointSlice) {
        if !isHurried.load(ordering: .relaxed) { options.pace(slice) }
    }

    /// Redirects the pages to the map of the file, which shows what has been written, so that their memory is reused
    /// long before the checkpoint ends. Without a map, the pages stay in memory until then.
    private func move(_ numbers: ArraySlice<PageNumber>, _ moved: inout [MovedPage]) {
        guard file.base != nil else { return }
        // The place is valid: the page is pinned and was just read for writing.
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
