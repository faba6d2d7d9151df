import StrataModel
import StrataSystem

/// A checkpoint that is being written.
struct CheckpointDraft: Sendable {
    var slot: Int
    /// Holds the pages of the record until they are written.
    var owner: UInt64
    var plan: CheckpointPlan
    var header: CheckpointHeader
    var kept: [KeptRecord]
    var opaque: [UInt8]
    var recordBytes: [UInt8]

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
        let bytes = CheckpointRecord(
            roots: snapshot.roots, free: plan.free, retired: plan.retired, kept: kept, opaque: opaque
        ).encoded()
        let place = RecordPlace(
            run: plan.record, byteCount: bytes.count, checksum: bytes.withUnsafeBytes { CRC32C.checksum($0) })
        let header = CheckpointHeader(
            sequence: before.lastSequence + 1, epoch: epoch, store: store, position: position,
            pageCount: plan.pageCount, time: time.nowMicroseconds(), record: place)
        return CheckpointDraft(
            slot: before.targetIndex, owner: owner, plan: plan, header: header, kept: kept, opaque: opaque,
            recordBytes: bytes)
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
    func writePages(_ draft: CheckpointDraft, isPaced: Bool) throws {
        try file.extend(toPages: draft.plan.pageCount, capacity: core.memory.capacity)
        let writer = SliceWriter(file: file.file, time: time, pace: isPaced ? options.pace : CheckpointSlice.takeAll)
        try writer.write(draft.plan.dirty) { [core] number, target in
            // It is pinned, and only this thread moves pages to the file: it stays where it is.
            target.copyMemory(from: core.memory.slot(of: number), byteCount: PageLayout.pageBytes)
        }
        try writer.write(draft.recordBytes, to: draft.header)
        try file.file.sync()
    }
}

extension KeptRecord {
    init(_ header: CheckpointHeader) {
        self.init(
            epoch: header.epoch, position: header.position, record: header.record, pageCount: header.pageCount,
            time: header.time)
    }
}
