import StrataModel
import StrataSystem

/// The checkpoints of a page file with their trees, for checks. Takes no lock and creates or writes nothing.
///
/// A writer may reuse the pages of a checkpoint at any time. The data read from a checkpoint counts only if
/// ``isThere(_:)`` returns true afterward.
///
/// ```swift
/// guard let file = try CheckedPageFile.open(in: path, store: id, files: files, isValid: log.has) else { return }
/// let pages = try file.checkPages(limit: 100)
/// ```
package final class CheckedPageFile: Sendable {
    package struct Entry: Sendable {
        package let checkpoint: Checkpoint
        package let trees: Snapshot
    }

    /// A damaged page, with the first checkpoint that reaches it.
    package struct Damage: Sendable {
        package let checkpoint: Checkpoint
        package let error: StrataError
    }

    /// Oldest first; the last is the newest usable checkpoint.
    package let entries: [Entry]
    /// The kept checkpoints whose records cannot be read.
    private let lost: [Damage]
    private let file: PageFile
    private let files: any FileSystem
    private let directory: String

    /// Opens the page file of a directory. Returns nil if it has no usable checkpoint.
    ///
    /// - Parameter isValid: returns true if the log has that chain value at that offset.
    package static func open(
        in directory: String, store: Identifier, files: any FileSystem, isValid: (Position) throws -> Bool
    ) throws -> CheckedPageFile? {
        let options = PageStoreOptions.checking
        guard try files.exists(PageStore.viewsPath(directory)) else { return nil }
        let file = try PageFile(
            try files.open(PageStore.viewsPath(directory), .read), capacity: options.maximumPages,
            access: options.access)
        let rules = SlotRules(store: store, capacity: options.maximumPages)
        for index in PageStore.newestFirst(file) {
            let reading = try SlotReading.read(index, of: file, rules, skipsRuns: true, isValid: isValid)
            guard let header = reading.header, let record = reading.record else { continue }
            return try CheckedPageFile(
                file, header: header, record: record, options: options, files: files, directory: directory)
        }
        return nil
    }

    private init(
        _ file: PageFile, header: CheckpointHeader, record: CheckpointRecord, options: PageStoreOptions,
        files: any FileSystem, directory: String
    ) throws {
        (self.file, self.files, self.directory) = (file, files, directory)
        let memory = try PageMemory(
            capacity: options.maximumPages, slotCapacity: options.maximumArenaPages, source: file,
            cachedPages: options.access.cachedPages)
        var ledger = PageLedger(pageCount: header.pageCount, capacity: options.maximumPages)
        for epoch in record.kept.map(\.epoch) + [header.epoch] { ledger.pin(epoch) }
        let core = PageCore(memory: memory, ledger: ledger, lastEpoch: header.epoch)
        var (entries, lost): ([Entry], [Damage]) = ([], [])
        for kept in record.kept {
            do {
                let record = try CheckpointRecord.decode(
                    try file.readRecord(kept.record, epoch: kept.epoch), pageCount: kept.pageCount, skipsRuns: true)
                let trees = Snapshot(core: core, epoch: kept.epoch, roots: record.roots)
                entries.append(Entry(checkpoint: Checkpoint(kept, opaque: record.opaque), trees: trees))
            } catch let error as StrataError where error.isOfPage {
                lost.append(Damage(checkpoint: Checkpoint(kept), error: error.located(path: file.path)))
            }
        }
        let newest = Snapshot(core: core, epoch: header.epoch, roots: record.roots)
        self.entries = entries + [Entry(checkpoint: Checkpoint(header, opaque: record.opaque), trees: newest)]
        self.lost = lost
    }

    /// Returns true if the file still names a checkpoint. As long as it does, none of its pages is reused.
    package func isThere(_ checkpoint: Checkpoint) throws -> Bool {
        let path = PageStore.viewsPath(directory)
        guard try files.exists(path) else { return false }
        // Opened by name, because another file may have the name now.
        let options = PageStoreOptions.checking
        let file = try PageFile(try files.open(path, .read), capacity: options.maximumPages, access: options.access)
        return (0..<ViewFormat.headerSlots).contains { index in
            guard let slot = try? file.readSlot(index), let header = try? CheckpointHeader.decode(slot) else {
                return false
            }
            if checkpoint.isSame(KeptRecord(header)) { return true }
            guard let bytes = try? file.readRecord(header.record, epoch: header.epoch),
                let record = try? CheckpointRecord.decode(bytes, pageCount: header.pageCount, skipsRuns: true)
            else { return false }
            return record.kept.contains(where: checkpoint.isSame)
        }
    }

    // MARK: Pages

    /// Reads every page that a checkpoint reaches once, and checks its checksum, number, layout, place in its tree, and
    /// that it is not younger than the checkpoint.
    ///
    /// - Parameters:
    ///   - limit: the maximum number of damaged pages that are reported.
    ///   - pulse: called repeatedly with the number of pages read so far. An error that it throws ends the check.
    /// - Throws: ``StrataError`` if the file cannot be read.
    package func checkPages(
        limit: Int, pulse: (_ count: Int) throws -> Void = { _ in }
    ) throws -> (count: Int, damage: [Damage]) {
        var walk = PageWalk(file)
        var damage = lost
        for entry in entries {
            for id in entry.trees.roots.ids {
                for error in try walk.errors(below: entry.trees.roots[id], of: entry.checkpoint, pulse)
                where damage.count < limit {
                    damage.append(Damage(checkpoint: entry.checkpoint, error: error))
                }
            }
        }
        return (walk.count, damage)
    }
}

extension PageStoreOptions {
    /// Options for reading whole trees: a file that is truncated while it is read causes an error and nothing worse.
    fileprivate static let checking: PageStoreOptions = {
        var options = PageStoreOptions(maximumArenaPages: 8_192)
        options.access = .read(cachedPages: 1_024)
        return options
    }()
}

extension Checkpoint {
    /// Compared in full, because a file that replaces another one counts its epochs from the start.
    fileprivate func isSame(_ kept: KeptRecord) -> Bool {
        epoch == kept.epoch && position == kept.position && time == kept.time
    }
}
