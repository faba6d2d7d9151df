import StrataTree

/// Makes the snapshots that are handed out.
struct SnapshotBuilder: Sendable {
    let context: SnapshotContext
    let gate: StoreGate
    let newestReaders = NewestReaders()

    func make(_ trees: Snapshot) -> StoreSnapshot {
        StoreSnapshot(trees: trees, context: context, gate: gate, readers: newestReaders.readers(of: trees))
    }
}
