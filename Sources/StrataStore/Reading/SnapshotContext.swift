import StrataModel
import StrataSystem
import StrataTree
import StrataViews

/// The objects that reading a state requires in addition to its trees.
final class SnapshotContext: Sendable {
    /// The number of damaged pages that one read recovers from.
    private static let patience = 2

    let names: Directory
    let history: RecordHistory
    /// Nil if the trees are not in a file.
    let replacements: SnapshotReplacements?
    /// The keys that open encrypted values.
    let keys: KeyRing

    init(
        _ history: RecordHistory, _ replacements: SnapshotReplacements?, _ keys: KeyRing, newSecret: StoreSecret?
    ) {
        names = Directory(newSecret: newSecret)
        self.history = history
        self.keys = keys
        self.replacements = replacements
    }

    /// Reads a state. If one of its pages is damaged, the same state is folded again from the log and read instead.
    ///
    /// - Parameter acceptsNewer: true if any later state is acceptable, which is cheaper.
    func reading<Result>(
        _ trees: Snapshot, acceptsNewer: Bool = false, _ body: (Snapshot) throws -> Result
    ) throws -> Result {
        guard let replacements else { return try body(trees) }
        var trees = trees
        for _ in 0..<Self.patience {
            do { return try body(trees) } catch let error as StrataError where Views.isDamage(error) {
                trees = try replacements.replacement(for: trees, because: error, acceptsNewer: acceptsNewer)
            }
        }
        return try body(trees)
    }
}
