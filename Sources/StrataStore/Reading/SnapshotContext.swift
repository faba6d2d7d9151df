import StrataModel
import StrataSystem
import StrataTree
import StrataViews

/// The objects that reading a state requires in addition to its trees.
final class SnapshotContext: Sendable {
    let names: Directory
    let history: RecordHistory
    let live: LiveViews
    /// The keys that open encrypted values.
    let keys: KeyRing

    init(_ history: RecordHistory, _ live: LiveViews, _ keys: KeyRing, newSecret: StoreSecret?) {
        names = Directory(newSecret: newSecret)
        self.history = history
        self.keys = keys
        self.live = live
    }

    /// Reads a state. If a frame of it is damaged, waits until the views were folded again, and reads the newest state
    /// if that has the same offset.
    ///
    /// - Parameter acceptsNewer: true if any later state is acceptable.
    /// - Throws: ``StrataError`` `viewsDamaged` if the state has ended, or if folding takes too long.
    func reading<Result>(
        _ trees: Snapshot, acceptsNewer: Bool = false, _ body: (Snapshot) throws -> Result
    ) throws -> Result {
        var trees = trees
        while true {
            do { return try body(trees) } catch {
                let newest = try live.sound(after: error, reading: trees).trees.snapshot()
                let isSame = newest.foldedOffset(ViewTree.records) == trees.foldedOffset(ViewTree.records)
                guard acceptsNewer || isSame else { throw live.error }
                trees = newest
            }
        }
    }
}
