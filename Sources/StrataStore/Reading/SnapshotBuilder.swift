import StrataSystem
import StrataTree

/// Makes the snapshots that are handed out. All of the newest state share the zones that were looked up in it, so that
/// a program that takes a snapshot for each fetch looks a zone up once.
struct SnapshotBuilder: Sendable {
    let context: SnapshotContext
    let gate: StoreGate
    /// The state is held, so it must be replaced when the next one is published.
    private let newest = Lock<(trees: Snapshot, zones: ZoneTable)?>(nil)

    func make(_ trees: Snapshot) -> StoreSnapshot {
        let zones = newest.withLock { $0?.trees === trees ? $0?.zones : nil } ?? ZoneTable()
        return StoreSnapshot(trees: trees, context: context, gate: gate, zoneTable: zones)
    }

    /// Takes the newest state; nil for none.
    func publish(_ trees: Snapshot?) {
        let before = newest.withLock { newest in
            defer { newest = trees.map { ($0, ZoneTable()) } }
            return newest
        }
        // Outside the lock: releasing a state takes the lock of its generation.
        _ = consume before
    }
}
