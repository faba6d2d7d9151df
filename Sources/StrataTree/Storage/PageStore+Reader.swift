import StrataModel
import StrataSystem

/// A checkpoint that another process wrote, or this one through another door, held for reading.
public struct OpenedPageReader: Sendable {
    /// Its newest state is the checkpoint's. What is published on top of that stays in this process.
    public let store: PageStore
    /// The writer keeps its pages as long as this or something made of it is there.
    public let snapshot: Snapshot
    public let checkpoint: Checkpoint
}

extension PageStore {
    /// Opens a checkpoint for reading, while another process may write.
    ///
    /// To see a later one, open again.
    ///
    /// ```swift
    /// let opened = try PageStore.openReader(in: path, store: id, upTo: 1_207) { try log.has($0) }
    /// // … fold what the log has from there to 1,207 into opened.store …
    /// ```
    /// - Parameters:
    ///   - limit: the newest checkpoint is taken that is not of a later offset, of those that are kept too.
    ///   - scratch: where pages go that do not fit memory: of a file that is made if there are such, and has no name.
    ///     Nil for memory alone.
    /// - Throws: ``StrataError``: `notFound` if there is no checkpoint that can be taken, `readOnlyMedium` or
    ///   `permissionDenied` if this process cannot say in `readers` that it is there. Then the log must be folded.
    public static func openReader(
        in directory: String, store: Identifier, upTo limit: UInt64 = .max, platform: Platform = Platform(),
        options: PageStoreOptions = PageStoreOptions(), scratch: SpillPlace? = nil,
        isValid: (Position) throws -> Bool
    ) throws -> OpenedPageReader {
        let path = viewsPath(directory)
        let readers = ReadersFile(try platform.files.open(readersPath(directory), .writeOrCreate))
        let choice = ReaderChoice(
            path: path, slot: try readers.takeSlot(), rules: SlotRules(store: store, capacity: options.maximumPages),
            limit: limit)
        for _ in 0..<1_000 {
            let file = try PageFile(
                try platform.files.open(path, .read), capacity: options.maximumPages, access: options.access,
                lease: choice.slot)
            var isOutdated = false
            for candidate in try choice.candidates(in: file) {
                try choice.slot.set(epoch: candidate.kept.epoch)
                // What was read before the epoch is pinned may have changed meanwhile, and was only good for choosing.
                let isThere = (try? CheckpointHeader.decode(try file.readSlot(candidate.slot))) == candidate.header
                guard isThere else {
                    isOutdated = true
                    break
                }
                if let record = try choice.record(of: candidate, in: file, isValid: isValid) {
                    // It may have grown since it was opened.
                    try file.mapAll()
                    return try reader(file, candidate, record, options, scratch)
                }
            }
            if !isOutdated { break }
        }
        throw StrataError(.notFound, "There is no checkpoint that can be read; fold the log.", .init(path: path))
    }

    static func newestFirst(_ file: PageFile) -> [Int] {
        let sequences = (0..<ViewFormat.headerSlots).map {
            (try? CheckpointHeader.decode(try file.readSlot($0)))?.sequence ?? 0
        }
        return sequences.indices.sorted { sequences[$0] > sequences[$1] }
    }

    private static func reader(
        _ file: PageFile, _ choice: ReaderChoice.Candidate, _ record: CheckpointRecord, _ options: PageStoreOptions,
        _ scratch: SpillPlace?
    ) throws -> OpenedPageReader {
        let memory = try PageMemory(
            capacity: file.capacity, slotCapacity: options.maximumArenaPages, source: file,
            cachedPages: options.access.cachedPages, memorySlots: options.maximumMemoryPages,
            spill: scratch.map { SpillFile(files: $0.files, path: $0.path) })
        // Pages of this process's own have numbers behind those of the file.
        var ledger = PageLedger(pageCount: choice.header.pageCount, capacity: memory.capacity)
        ledger.pin(choice.kept.epoch)
        let core = PageCore(memory: memory, ledger: ledger, lastEpoch: choice.header.epoch)
        let snapshot = Snapshot(core: core, epoch: choice.kept.epoch, roots: record.roots)
        return OpenedPageReader(
            store: PageStore(core: core, newest: snapshot), snapshot: snapshot,
            checkpoint: Checkpoint(choice.kept, opaque: record.opaque))
    }
}
