import StrataModel
import StrataSystem

extension PageStore {
    /// True if more than three quarters of a large file are free. Half of a file is often free: it holds the pages of
    /// one state and of the last checkpoints.
    package var isSparse: Bool {
        let info = info
        return info.pageCount > 2 * KeptPolicy.smallPages && info.freePages > info.pageCount / 4 * 3
    }

    /// Replaces the page file by a new one that contains a single state, and opens it.
    ///
    /// This store's snapshots remain valid, also in other processes. But it writes no more checkpoints, and states
    /// published after `snapshot` are not in the new file. Older checkpoints are dropped with the old file.
    /// - Parameters: as for ``checkpoint(_:at:opaque:)``.
    /// - Throws: ``StrataError`` for disk errors. Then nothing has changed, unless the new file was in place and could
    ///   not be opened: this store then writes no checkpoints, and the next opening finds the new file.
    package func compact(
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
        // If the sync fails, a power failure may bring back the old file, which is intact; the next checkpoint syncs
        // again.
        try? files.syncDirectory(checkpoints.directory)
        let opened = try PageStore.open(
            in: checkpoints.directory, store: checkpoints.store, platform: platform, options: checkpoints.options
        ) { $0 == position }
        return opened.store
    }

    static func draftPath(_ path: String) -> String { path + ".new" }
}

extension Checkpoints {
    /// Writes and syncs a complete page file with one state.
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
        // The run may be longer than its written part.
        try file.allocate(0..<pageCount * PageLayout.pageBytes)
        let header = CheckpointHeader(
            sequence: sequence, epoch: snapshot.epoch, store: store, position: position, pageCount: pageCount,
            time: time.nowMicroseconds(), record: try writer.write(record, to: run, epoch: snapshot.epoch))
        try file.sync()
        try file.write(header.encoded(), at: 0)
        try file.sync()
    }
}
