import StrataLog
import StrataModel
import StrataSystem
import StrataTree

/// The state of a store, folded from its log and kept in runs.
///
/// ```swift
/// let opened = try Views.open(log, in: path) { progress in print("\(progress.offset) of \(progress.end)") }
/// let views = opened.views
/// try views.trees.snapshot().digests()
/// ```
package final class Views: Sendable {
    /// The form of the keys and rows of the trees (docs/format-keys.md §1). Views of another form are rebuilt.
    package static let form: UInt16 = 8
    /// The trees whose entries are also found by hash.
    package static let hashed: Set<TreeID> = [ViewTree.records]

    package let trees: TreeStore
    let log: any EventLog
    /// The chain values at the ends of the generations that wait to be written, by offset.
    private let chains = Lock<[UInt64: UInt32]>([:])

    init(trees: TreeStore, log: any EventLog) {
        self.trees = trees
        self.log = log
    }

    package static func owner(_ store: Identifier) -> RunOwner { RunOwner(store: store, form: form) }

    /// Empty trees that leave no files.
    package static func emptyTrees(options: TreeStoreOptions = TreeStoreOptions()) throws -> TreeStore {
        try TreeStore.inMemory(owner(.zero), hashed: hashed, options: options)
    }

    /// Creates views in memory that leave no files.
    package static func inMemory(_ log: any EventLog, options: TreeStoreOptions = TreeStoreOptions()) throws -> Views {
        let views = Views(trees: try emptyTrees(options: options), log: log)
        try Replay(log: log, trees: views.trees).run()
        return views
    }

    /// Notes the positions of the generations that wait: until one is written, a compaction may remove its commits.
    func noteWaiting() {
        let offsets = trees.waitingOffsets(ViewTree.records)
        chains.withLock { known in
            known = offsets.reduce(into: [:]) { $0[$1] = known[$1] ?? (try? log.chain(at: $1)) }
        }
    }

    /// Writes the oldest complete generation of changes as a run, so that opening folds only the commits after it.
    ///
    /// - Parameter snapshot: the result of ``TreeStore/nextToFlush()``.
    /// - Throws: ``StrataError`` of a file, or if the log cannot be synced, because a state on disk is never ahead of
    ///   the log.
    package func flush(_ snapshot: Snapshot) throws {
        let offset = snapshot.foldedOffset(ViewTree.records)
        // Commits may be published before they are synced.
        if offset > log.durableEnd.offset { try log.sync() }
        let noted = offset == 0 ? 0 : chains.withLock { $0[offset] }
        let position = Position(offset: offset, chain: try noted ?? log.chain(at: offset))
        try trees.flush(snapshot, at: position, opaque: Self.note(try snapshot.digests()), floor: log.floor.offset)
    }

    /// Writes all changes, and removes the files of states that were discarded.
    package func settle() throws {
        try trees.freeze()
        while let waiting = trees.nextToFlush() { try flush(waiting) }
        try trees.removeUnnamedFiles()
    }

    /// Encodes the data that a state keeps beside the trees: both digests.
    static func note(_ digests: Digests) -> [UInt8] {
        var writer = ByteWriter(reserving: 32)
        writer.append(digests.state)
        writer.append(digests.content)
        return writer.bytes
    }

    package static func digests(noted bytes: [UInt8]) throws -> Digests {
        try bytes[...].reading { reader in
            let digests = try reader.readDigests()
            try reader.expectEnd("the digests of a state")
            return digests
        }
    }
}
