import StrataModel
import StrataSystem

extension PageStore {
    /// Whether more than three quarters of a file that is worth it are free. Half of it often is: a state and what the
    /// last checkpoints had beside it.
    public var isSparse: Bool {
        let info = info
        return info.pageCount > 2 * KeptPolicy.smallPages && info.freePages > info.pageCount / 4 * 3
    }

    /// Puts a new file in place of the page file that holds just one state, and opens that.
    ///
    /// This store's snapshots stay good, for other processes too; but it writes no checkpoints any more, and what was
    /// published after `snapshot` is not in the new one. Older checkpoints go with the old file.
    /// - Parameters: as for ``checkpoint(_:at:opaque:)``.
    /// - Throws: ``StrataError`` of the disk; then nothing has changed, unless the new file was in place and could not
    ///   be opened: this store then writes no checkpoints, and the next opening finds the new file.
    public func compact(
        _ snapshot: Snapshot, at position: Position, opaque: [UInt8] = [], platform: Platform = Platform()
    ) throws -> PageStore {
        guard let checkpoints else {
            throw StrataError(.invalidArgument, "A store in memory has no page file.")
        }
        let path = checkpoints.file.path
        let draft = Self.draftPath(path)
        let files = platform.files
        if try files.exists(draft) { try files.remove(draft) }
        try checkpoints.replace(snapshot, at: position) { sequence in
            do {
                let file = try files.open(draft, .create)
                defer { file.close() }
                try checkpoints.copy(snapshot, to: file, at: position, opaque: opaque, sequence: sequence)
                try files.rename(draft, to: path)
            } catch {
                if (try? files.exists(draft)) == true { try? files.remove(draft) }
                throw error
            }
        }
        // If it fails, losing power may bring the old file back, which is whole; the next checkpoint sees to it.
        try? files.syncDirectory(checkpoints.directory)
        let opened = try PageStore.open(
            in: checkpoints.directory, store: checkpoints.store, platform: platform, options: checkpoints.options
        ) { $0 == position }
        return opened.store
    }

    static func draftPath(_ path: String) -> String { path + ".new" }
}

extension Checkpoints {
    /// A whole page file with one state, synced.
    fileprivate func copy(
        _ snapshot: Snapshot, to file: any File, at position: Position, opaque: [UInt8], sequence: UInt64
    ) throws {
        let writer = SliceWriter(file: file, time: time, pace: options.pace)
        var copier = PageCopier(core.memory, writer, epoch: snapshot.epoch)
        let roots = try copier.copy(snapshot.roots)
        let record = CheckpointRecord(roots: roots, free: PageSet(), retired: [], kept: [], opaque: opaque)
        let bytes = CheckpointRecord.otherBytes(trees: roots.ids.count, opaque: opaque.count)
        let run = PageRun(first: copier.next, count: CheckpointRecord.runPages(byteCount: bytes))
        let pageCount = Int(run.range.upperBound)
        // The run may be longer than what is written of it.
        try file.allocate(0..<pageCount * PageLayout.pageBytes)
        let header = CheckpointHeader(
            sequence: sequence, epoch: snapshot.epoch, store: store, position: position, pageCount: pageCount,
            time: time.nowMicroseconds(), record: try writer.write(record, to: run, epoch: snapshot.epoch))
        try file.sync()
        try file.write(header.encoded(), at: 0)
        try file.sync()
    }
}
