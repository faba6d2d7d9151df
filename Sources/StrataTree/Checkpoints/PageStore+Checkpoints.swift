import StrataModel

extension PageStore {
    /// Makes a published state durable. The caller guarantees that the log durably contains `position`, and that the
    /// state is folded from exactly that prefix of the log.
    ///
    /// - Parameters:
    ///   - opaque: bytes that are returned when the file is opened.
    ///   - isPaced: true to pause between slices as the options say; pointless if the disk has no other user.
    /// - Throws: ``StrataError`` for file and disk errors; the previous checkpoint then remains the newest.
    @discardableResult
    package func checkpoint(
        _ snapshot: Snapshot, at position: Position, opaque: [UInt8] = [], isPaced: Bool = true
    ) throws -> Checkpoint {
        try durable().write(snapshot, at: position, opaque: opaque, isPaced: isPaced)
    }

    /// Ends the pauses of checkpoints, also of one that is being written: a thread waits for its end, so nothing else
    /// needs the disk.
    package func hurryCheckpoints() { checkpoints?.isHurried.store(true, ordering: .relaxed) }

    private func durable() throws -> Checkpoints {
        guard let checkpoints else {
            throw StrataError(.invalidArgument, "A store in memory has no checkpoints.")
        }
        return checkpoints
    }

    /// The checkpoints that can be opened, oldest first.
    package var keptCheckpoints: [Checkpoint] {
        checkpoints?.state.withLock { state in
            guard let newest = state.newest, let header = newest.header else { return [] }
            return newest.kept.map { Checkpoint($0) } + [Checkpoint(header, opaque: newest.opaque)]
        } ?? []
    }

    /// The state of a checkpoint; nil if the checkpoint has been dropped.
    package func snapshot(of checkpoint: Checkpoint) throws -> Snapshot? {
        let checkpoints = try durable()
        let isThere = checkpoints.state.withLock { state in
            guard state.newest?.pinned.contains(checkpoint.epoch) == true else { return false }
            core.pin(checkpoint.epoch)
            return true
        }
        guard isThere else { return nil }
        do {
            let bytes = try checkpoints.file.readRecord(checkpoint.record, epoch: checkpoint.epoch)
            let record = try CheckpointRecord.decode(bytes, pageCount: checkpoint.pageCount, skipsRuns: true)
            return Snapshot(core: core, epoch: checkpoint.epoch, roots: record.roots)
        } catch {
            core.unpin(checkpoint.epoch)
            throw error
        }
    }
}
