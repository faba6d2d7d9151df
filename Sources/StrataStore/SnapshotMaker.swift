import StrataTree

/// What goes with every snapshot that is handed out.
struct SnapshotMaker: Sendable {
    let names: NameDirectory
    let history: RecordHistory
    let gate: StoreGate

    func make(_ trees: Snapshot) -> StoreSnapshot {
        StoreSnapshot(trees: trees, names: names, history: history, gate: gate)
    }
}
