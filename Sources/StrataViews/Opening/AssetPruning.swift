import StrataModel
import StrataTree

/// Takes out the rows of assets that only let go commits name, in slices that the pipeline runs between batches.
///
/// Afterwards the tree is the one that folding the base and the log behind it gives (docs/compaction.md §4).
///
/// ```swift
/// var pruning = AssetPruning(to: base)
/// while try pruning.advance(fork, limit: 1_000) { fork = try publishAndFork(fork) }
/// ```
public struct AssetPruning {
    /// The state that the base came to when it was folded.
    private let base: Snapshot
    /// Where the next slice begins.
    private var next: [UInt8] = []

    public init(to base: Snapshot) { self.base = base }

    /// Does a slice.
    ///
    /// - Parameters:
    ///   - fork: of a state that has all commits of the base, and any behind it.
    ///   - limit: how many rows the slice may look at.
    /// - Returns: whether there is more to do.
    public mutating func advance(_ fork: Fork, limit: Int) throws -> Bool {
        let horizon = base.foldedOffset(ViewTree.assets)
        let start = next
        var changes: [(key: [UInt8], row: [UInt8]?)] = []
        var count = 0
        var hasMore = false
        try start.withUnsafeBytes { start in
            try fork.scan(ViewTree.assets, from: start.isEmpty ? nil : start) { key, row in
                guard count < limit else {
                    (next, hasMore) = ([UInt8](key), true)
                    return false
                }
                count += 1
                if try AssetRow(decoding: row).version.offset > horizon { return true }
                let kept = try base.get(ViewTree.assets, key) { [UInt8]($0) }
                if kept.map({ row.elementsEqual($0) }) != true { changes.append(([UInt8](key), kept)) }
                return true
            }
        }
        for change in changes {
            try change.key.withUnsafeBytes { key in
                if let row = change.row {
                    try row.withUnsafeBytes { try fork.put(ViewTree.assets, key, $0) }
                } else {
                    _ = try fork.delete(ViewTree.assets, key)
                }
            }
        }
        if !hasMore { try fork.setFoldedOffset(ViewTree.prunedAssets, horizon) }
        return hasMore
    }

    /// Whether a state has rows of assets that the base up to `horizon` may not have.
    public static func isDue(_ state: Snapshot, horizon: UInt64) -> Bool {
        state.entryCount(ViewTree.assets) > 0 && state.foldedOffset(ViewTree.prunedAssets) < horizon
    }
}

extension Fork {
    /// Whether the rows of assets are those that the base up to `horizon`, or a later one, begins with.
    public func hasPrunedAssets(through horizon: UInt64) -> Bool { foldedOffset(ViewTree.prunedAssets) >= horizon }
}
