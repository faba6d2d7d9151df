import StrataModel
import StrataTree

/// Removes the rows of assets that only compacted commits name, in slices that the pipeline runs between batches.
///
/// Afterward the tree equals the result of folding the base and the log after it (docs/compaction.md §4).
///
/// ```swift
/// var pruning = AssetPruning(to: base)
/// while try pruning.advance(fork, limit: 1_000) { fork = try publishAndFork(fork) }
/// ```
package struct AssetPruning {
    /// The state to which the base was folded.
    private let base: Snapshot
    /// The key at which the next slice begins.
    private var next: [UInt8] = []

    package init(to base: Snapshot) { self.base = base }

    /// Runs a slice; returns true if more remains to be done.
    ///
    /// - Parameters:
    ///   - fork: a fork of a state that has all commits of the base, and possibly later ones.
    ///   - limit: the maximum number of rows that the slice examines.
    package mutating func advance(_ fork: Fork, limit: Int) throws -> Bool {
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
            if let row = change.row {
                try fork.put(ViewTree.assets, key: change.key, row: row)
            } else {
                try fork.delete(ViewTree.assets, key: change.key)
            }
        }
        if !hasMore { try fork.setFoldedOffset(ViewTree.prunedAssets, horizon) }
        return hasMore
    }

    /// Returns true if a state may have rows of assets that the base up to `horizon` lacks.
    package static func isDue(_ state: Snapshot, horizon: UInt64) throws -> Bool {
        try state.foldedOffset(ViewTree.prunedAssets) < horizon && !state.isEmpty(ViewTree.assets)
    }
}

extension Fork {
    /// Returns true if the rows of assets match those of the base up to `horizon` or of a later one.
    package func hasPrunedAssets(through horizon: UInt64) -> Bool { foldedOffset(ViewTree.prunedAssets) >= horizon }
}
