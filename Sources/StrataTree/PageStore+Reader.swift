import StrataModel
import StrataSystem

/// A checkpoint that another process wrote, held for reading.
public struct OpenedPageReader: Sendable {
    /// The writer keeps its pages as long as this or something made of it is there.
    public let snapshot: Snapshot
    public let checkpoint: Checkpoint
}

extension PageStore {
    /// Opens the newest checkpoint for reading, while another process may write.
    ///
    /// To see a later one, open again.
    /// - Throws: ``StrataError``: `notFound` if there is no checkpoint that can be taken, `readOnlyMedium` or
    ///   `permissionDenied` if this process cannot say in `readers` that it is there. Then the log must be folded.
    public static func openReader(
        in directory: String, store: Identifier, platform: Platform = Platform(),
        options: PageStoreOptions = PageStoreOptions(), isValid: (Position) throws -> Bool
    ) throws -> OpenedPageReader {
        let path = viewsPath(directory)
        let readers = ReadersFile(try platform.files.open(readersPath(directory), .writeOrCreate))
        let slot = try readers.takeSlot()
        let rules = SlotRules(store: store, capacity: options.maximumPages, skipsChainCheck: false)
        for _ in 0..<1_000 {
            let file = try PageFile(
                try platform.files.open(path, .read), capacity: options.maximumPages, access: options.access,
                lease: slot)
            var isOutdated = false
            for index in newestFirst(file) {
                // What is read before the epoch is pinned may change meanwhile, so that it is only good for choosing.
                guard let header = try? CheckpointHeader.decode(try file.readSlot(index)),
                    rules.objection(to: header, fileBytes: try file.file.size(), path: path) == nil
                else { continue }
                try slot.set(epoch: header.epoch)
                let reading = try SlotReading.read(index, of: file, rules, skipsRuns: true, isValid: isValid)
                guard reading.header == header || options.knobs.readsHeadersOnce else {
                    isOutdated = true
                    break
                }
                if let record = reading.record {
                    return try reader(file, header, record, options)
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
        _ file: PageFile, _ header: CheckpointHeader, _ record: CheckpointRecord, _ options: PageStoreOptions
    ) throws -> OpenedPageReader {
        let memory = try PageMemory(
            capacity: options.maximumPages, slotCapacity: options.maximumArenaPages, source: file,
            cachedPages: options.access.cachedPages)
        var ledger = PageLedger(pageCount: header.pageCount, capacity: options.maximumPages)
        ledger.pin(header.epoch)
        let core = PageCore(memory: memory, ledger: ledger, lastEpoch: header.epoch)
        return OpenedPageReader(
            snapshot: Snapshot(core: core, epoch: header.epoch, roots: record.roots),
            checkpoint: Checkpoint(header, opaque: record.opaque))
    }
}
