import StrataModel
import StrataTree

/// What the indexes of a snapshot show, when they are behind its records.
///
/// Whoever reads an index skips the rows of touched records, and looks at those records themselves.
///
/// ```swift
/// guard let touched = try lag.touched(in: snapshot, limit: 1_000) else { wait for the indexes }
/// ```
public struct IndexLag: Sendable {
    let base: Snapshot
    /// Rows of some records already show this state.
    let target: Snapshot?

    /// Keys of the records whose rows may not show what `snapshot` has; nil if there are more than `limit`.
    public func touched(in snapshot: Snapshot, limit: Int) throws -> Set<[UInt8]>? {
        var touched: Set<[UInt8]> = []
        var states = [base, snapshot]
        // A record may be as it was in `base`, and its rows those of `target`.
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
