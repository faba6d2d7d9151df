import StrataModel
import StrataSystem

/// Opens a page file: docs/format-views.md §9.
struct PageStoreOpening {
    let directory: String
    let store: Identifier
    let platform: Platform
    let options: PageStoreOptions
    let readers: ReadersFile

    private var path: String { PageStore.viewsPath(directory) }

    func open(_ isValid: (Position) throws -> Bool) throws -> OpenedPageStore {
        try readers.fill()
        let live = try readers.liveEpochs()
        let draft = PageStore.draftPath(path)
        // A compaction was interrupted.
        if try platform.files.exists(draft) { try platform.files.remove(draft) }
        guard try platform.files.exists(path) else { return try begin(.missing, [], live: live) }
        let file: PageFile
        let readings: [SlotReading]
        do {
            file = try PageFile(
                try platform.files.open(path, .write), capacity: options.maximumPages, access: options.access)
            let rules = SlotRules(store: store, capacity: file.capacity)
            readings = try readSlots(of: file, rules, isValid)
        } catch let error as StrataError where error.code == .inputOutput {
            return try begin(.damaged, [error], live: live)
        }
        let reasons = readings.compactMap(\.error)
        guard let taken = Self.best(readings), let header = taken.header, let record = taken.record else {
            return try begin(Self.worst(readings), reasons, live: live)
        }
        var slots = CheckpointSlots()
        for (index, reading) in readings.enumerated() {
            if let record = reading.record {
                slots.slots[index] = .init(header: reading.header, kept: record.kept, opaque: record.opaque)
            }
            slots.slots[index].isRejected = reading.error != nil
        }
        if let newest = slots.newestIndex { slots.slots[newest].isUnconfirmed = true }
        slots.lastSequence = readings.compactMap(\.header?.sequence).max() ?? 0
        // A reader of an unusable checkpoint reads pages that count as free here.
        let known = Set(slots.pinned)
        if let unknown = live.first(where: { $0 > header.epoch && !known.contains($0) }) {
            let error = StrataError(
                .locked, "A process reads a checkpoint that this process cannot use.",
                .init(path: path, found: "\(unknown)"))
            return try begin(.inUse, reasons + [error], live: live)
        }
        slots.readers = live
        let lastEpoch = max(readings.compactMap(\.header?.epoch).max() ?? 0, live.last ?? 0)
        let store = try restore(file, header: header, record: record, slots: slots, lastEpoch: lastEpoch)
        return OpenedPageStore(
            store: store, checkpoint: Checkpoint(header, opaque: record.opaque),
            finding: reasons.isEmpty ? .whole : .otherSlot, reasons: reasons)
    }

    /// Reads the header slots. Of a checkpoint that is not taken, only the pins matter.
    private func readSlots(
        of file: PageFile, _ rules: SlotRules, _ isValid: (Position) throws -> Bool
    ) throws -> [SlotReading] {
        var readings = (0..<ViewFormat.headerSlots).map { _ in SlotReading() }
        for index in PageStore.newestFirst(file) {
            let isTaken = Self.best(readings) != nil
            readings[index] = try SlotReading.read(index, of: file, rules, skipsRuns: isTaken, isValid: isValid)
        }
        return readings
    }

    static func best(_ readings: [SlotReading]) -> SlotReading? {
        readings.filter { $0.record != nil }.max { ($0.header?.sequence ?? 0) < ($1.header?.sequence ?? 0) }
    }

    /// The most serious reason why neither slot can be taken.
    static func worst(_ readings: [SlotReading]) -> PageFileFinding {
        let order: [PageFileFinding] = [.newer, .foreign, .stale, .damaged]
        return order.first { finding in readings.contains { $0.finding == finding } } ?? .missing
    }

    private func restore(
        _ file: PageFile, header: CheckpointHeader, record: CheckpointRecord, slots: CheckpointSlots,
        lastEpoch: UInt64
    ) throws -> PageStore {
        var ledger = PageLedger(pageCount: header.pageCount, capacity: file.capacity)
        for epoch in slots.pinned { ledger.pin(epoch) }
        // The pin of the snapshot.
        ledger.pin(header.epoch)
        ledger.restore(
            free: record.free,
            retired: record.retired + [RetiredList(birth: header.epoch, end: 0, runs: RunList([header.record.run]))])
        return try makeStore(file, ledger, slots, epoch: header.epoch, roots: record.roots, lastEpoch: lastEpoch)
    }

    /// Creates an empty store in a new file; the caller folds the log again.
    private func begin(
        _ finding: PageFileFinding, _ reasons: [StrataError], live: [UInt64]
    ) throws -> OpenedPageStore {
        let files = platform.files
        if try files.exists(path) {
            if finding == .damaged {
                try PageStore.setAside(in: directory, files: files)
            } else {
                try files.remove(path)
            }
        }
        let file = try PageFile(try files.open(path, .create), capacity: options.maximumPages, access: options.access)
        try files.syncDirectory(directory)
        var ledger = PageLedger(pageCount: ViewFormat.headerSlots, capacity: file.capacity)
        let epoch = (live.last ?? 0) + 1
        ledger.pin(epoch)
        let store = try makeStore(
            file, ledger, CheckpointSlots(), epoch: epoch, roots: TreeRoots(), lastEpoch: epoch)
        return OpenedPageStore(store: store, checkpoint: nil, finding: finding, reasons: reasons)
    }

    private func makeStore(
        _ file: PageFile, _ before: PageLedger, _ slots: CheckpointSlots, epoch: UInt64, roots: TreeRoots,
        lastEpoch: UInt64
    ) throws -> PageStore {
        var ledger = before
        ledger.remembersBirths = true
        let memory = try PageMemory(
            capacity: file.capacity, slotCapacity: options.maximumArenaPages, source: file,
            cachedPages: options.access.cachedPages, memorySlots: options.maximumMemoryPages,
            spill: SpillFile(files: platform.files, path: path + ".spill"))
        let core = PageCore(memory: memory, ledger: ledger, lastEpoch: lastEpoch)
        let checkpoints = Checkpoints(
            core: core, file: file, readers: readers, store: store, options: options, platform: platform,
            directory: directory, state: slots)
        return PageStore(
            core: core, newest: Snapshot(core: core, epoch: epoch, roots: roots), checkpoints: checkpoints)
    }
}
