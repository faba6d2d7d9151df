import StrataModel
import StrataRules
import StrataTree
import StrataViews

/// The past of records as members of shares may see it (docs/rules.md §5.13).
extension StoreSnapshot {
    /// Returns true if a member could read a state of a record while it was the newest (B356).
    ///
    /// Only the last change of a member's permission is known. A state that was replaced before that change is
    /// therefore not visible, except to the member who wrote it.
    func wasVisible(_ record: Record, in shared: SharedZone, _ trees: Snapshot) throws -> Bool {
        if record.header.modifiedBy == shared.member { return true }
        let key = RecordKey(zone: shared.zone, name: record.id.name)
        return try shared.current.contains { membership in
            guard let share = try trees.share(membership.share) else { return false }
            let offset = max(record.version.offset, membership.changed.offset, context.history.floor)
            guard try context.history.state(of: key, asOf: offset, trees)?.version == record.version else {
                return false
            }
            guard let root = share.root, !isSameText(share.record.name, key.name) else { return true }
            return try isBelow(root, key, asOf: offset, trees)
        }
    }

    /// Returns true if the parents of a record led to the root as of a commit.
    func isBelow(_ root: String, _ record: RecordKey, asOf offset: UInt64, _ trees: Snapshot) throws -> Bool {
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
