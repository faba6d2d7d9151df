import StrataModel
import StrataSystem

/// A checkpoint held for reading, written by another process or by another store of this process.
package struct OpenedPageReader: Sendable {
    /// A store whose newest state is the checkpoint's. States published on top of that stay in this process.
    package let store: PageStore
    /// The state of the checkpoint. The writer keeps its pages as long as this or anything derived from it exists.
    package let snapshot: Snapshot
    package let checkpoint: Checkpoint
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
    ///   - limit: the highest offset. The newest checkpoint up to it is taken, including kept ones.
    ///   - scratch: the place for pages that do not fit in memory: an unnamed file, created on demand. Nil for memory
    ///     alone.
    /// - Throws: ``StrataError``: `notFound` if there is no usable checkpoint, `readOnlyMedium` or `permissionDenied`
    ///   if this process cannot register in `readers`. The caller must then fold the log.
    package static func openReader(
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
                // What was read before the epoch was pinned may have changed, and served only to choose a candidate.
                let isThere = (try? CheckpointHeader.decode(try file.readSlot(candidate.slot))) == candidate.header
                guard isThere else {
                    isOutdated = true
                    break
                }
                if let record = try choice.record(of: candidate, in: file, isValid: isValid) {
                    // The file may have grown since it was opened.
                    try file.mapAll()
                    return try reader(file, of: candidate, record: record, options: options, scratch: scratch)
                }
            }
            if !isOutdated { break }
        }
        throw StrataError(.notFound, "The page file has no readable checkpoint; fold the log.", .init(path: path))
    }

    static func newestFirst(_ file: PageFile) -> [Int] {
        let sequences = (0..<ViewFormat.headerSlots).map {
            (try? CheckpointHeader.decode(try file.readSlot($0)))?.sequence ?? 0
        }
        return sequences.indices.sorted { sequences[$0] > sequences[$1] }
    }

    private static func reader(
        _ file: PageFile, of choice: ReaderChoice.Candidate, record: CheckpointRecord, options: PageStoreOptions,
        scratch: SpillPlace?
    ) throws -> OpenedPageReader {
        let memory = try PageMemory(
            capacity: file.capacity, slotCapacity: options.maximumArenaPages, source: file,
            cachedPages: options.access.cachedPages, memorySlots: options.maximumMemoryPages,
            spill: scratch.map { SpillFile(files: $0.files, path: $0.path) })
        // Pages of this process have numbers after those of the file.
        var ledger = PageLedger(pageCount: choice.header.pageCount, capacity: memory.capacity)
        ledger.pin(choice.kept.epoch)
        let core = PageCore(memory: memory, ledger: ledger, lastEpoch: choice.header.epoch)
        let snapshot = Snapshot(core: core, epoch: choice.kept.epoch, roots: record.roots)
        return OpenedPageReader(
            store: PageStore(core: core, newest: snapshot), snapshot: snapshot,
            checkpoint: Checkpoint(choice.kept, opaque: record.opaque))
    }
}
