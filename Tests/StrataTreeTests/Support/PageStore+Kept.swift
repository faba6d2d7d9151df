import Testing

@testable import StrataTree

extension PageStore {
    /// The checkpoints that can be opened, oldest first.
    var keptCheckpoints: [Checkpoint] {
        checkpoints?.state.withLock { state in
            guard let newest = state.newest, let header = newest.header else { return [] }
            return newest.kept.map { Checkpoint($0) } + [Checkpoint(header, opaque: newest.opaque)]
        } ?? []
    }

    /// Returns the state of a checkpoint; nil if the checkpoint has been dropped.
    func snapshot(of checkpoint: Checkpoint) throws -> Snapshot? {
        let checkpoints = try #require(checkpoints)
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
