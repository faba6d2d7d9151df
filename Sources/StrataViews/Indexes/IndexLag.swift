import StrataModel
import StrataTree

/// The states that the indexes of a snapshot show when they lag behind its records.
///
/// A reader of an index skips the rows of touched records, and reads those records directly.
///
/// ```swift
/// guard let touched = try lag.touched(in: snapshot, limit: 1_000) else { wait for the indexes }
/// ```
package struct IndexLag: Sendable {
    let base: Snapshot
    /// The state that the rows of some records already show.
    let target: Snapshot?

    /// Returns the keys of the records whose rows may not match `snapshot`; nil if there are more than `limit`.
    package func touched(in snapshot: Snapshot, limit: Int) throws -> Set<[UInt8]>? {
        var touched: Set<[UInt8]> = []
        var states = [base, snapshot]
        // A record may be unchanged from `base` while its rows already show `target`.
        if let target { states.insert(target, at: 1) }
        for (old, new) in zip(states, states.dropFirst()) where !new.shares(ViewTree.records, with: old) {
            try new.forEachChange(of: ViewTree.records, since: old) { key, _ in
                touched.insert([UInt8](key))
                return touched.count <= limit
            }
            if touched.count > limit { return nil }
        }
        return touched
    }
}
