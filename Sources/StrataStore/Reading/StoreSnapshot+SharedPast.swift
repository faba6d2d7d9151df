import StrataModel
import StrataRules
import StrataTree
import StrataViews

/// The past of records as members of shares may see it (docs/rules.md §5.13).
extension StoreSnapshot {
    /// Returns true if a member could read a state of a record while it was the newest (B356), either when it became
    /// visible or when it was replaced.
    func wasVisible(_ record: Record, in shared: SharedZone, _ trees: Snapshot) throws -> Bool {
        if record.header.modifiedBy == shared.member { return true }
        let key = RecordKey(zone: shared.zone, name: record.id.name)
        let start = max(record.version.offset, context.history.floor)
        let next = try context.history.nextTouch(of: key, after: start)
        let last = next.map { $0 - 1 } ?? trees.foldedOffset(ViewTree.records)
        return try shared.current.contains { membership in
            let first = max(start, membership.joined.offset)
            guard first <= last, let share = try trees.share(membership.share) else { return false }
            guard let root = share.root, !isSameText(share.record.name, key.name) else { return true }
            return try isBelow(root, key, asOf: first, trees) || isBelow(root, key, asOf: last, trees)
        }
    }

    /// Returns true if the parents of a record led to the root as of a commit.
    private func isBelow(_ root: String, _ record: RecordKey, asOf offset: UInt64, _ trees: Snapshot) throws -> Bool {
        var record = record
        var seen: Set<[UInt8]> = []
        while seen.insert(Array(record.name.utf8)).inserted {
            guard let state = try context.history.state(of: record, asOf: offset, trees) else { return false }
            if isSameText(record.name, root) { return true }
            let parent = try state.bytes.withUnsafeBytes { bytes in
                let view = try RecordStateView(bytes, in: 0..<bytes.count)
                return try view.links().parent.map { try view.key($0).name }
            }
            guard let parent else { return false }
            record.name = parent
        }
        return false
    }
}
