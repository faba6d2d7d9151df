import StrataModel
import StrataTree
import StrataViews

/// What goes with every snapshot that is handed out.
struct SnapshotMaker: Sendable {
    let context: SnapshotContext
    let gate: StoreGate

    func make(_ trees: Snapshot) -> StoreSnapshot { StoreSnapshot(trees: trees, context: context, gate: gate) }
}

/// What reading a state takes beside its trees.
final class SnapshotContext: Sendable {
    /// How many damaged pages one reading gets over.
    private static let patience = 2

    let names = NameDirectory()
    let history: RecordHistory
    /// Nil where the trees are not in a file.
    let replacements: SnapshotReplacements?
    /// Open what is encrypted.
    let keys: KeyRing

    init(_ history: RecordHistory, _ replacements: SnapshotReplacements?, _ keys: KeyRing) {
        self.history = history
        self.keys = keys
        self.replacements = replacements
    }

    /// Reads a state. Where one of its pages is damaged, the same state is folded again from the log and read instead.
    ///
    /// - Parameter acceptsNewer: whether any later state will do, which is cheaper.
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
