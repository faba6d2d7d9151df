import StrataModel
import StrataTree

/// Collects the changes of index rows while records are folded into one fork. The collected changes are dropped with
/// that fork.
struct IndexRowCollector {
    /// The maximum size of what is collected in one fork.
    private static let maximumBytes = 16 << 20

    private var maker: IndexRowMaker
    private var indexes: [IndexID]
    /// Nil if they are no longer complete.
    private var changes: IndexRowChanges? = IndexRowChanges()
    private var start: TreeIdentity
    /// The catalog that named the indexes.
    private var catalog: TreeIdentity

    /// Begins with the state that the fork has now.
    init(in fork: Fork) throws {
        indexes = try IndexCatalog(fork).ready
        maker = IndexRowMaker(indexes)
        start = try fork.identity(of: ViewTree.records)
        catalog = try fork.identity(of: ViewTree.indexCatalog)
    }

    /// Collects what a change of a record changes in the indexes.
    ///
    /// - Parameters:
    ///   - old: the state before; nil if the record is new.
    ///   - new: the state after; nil if the record is deleted.
    mutating func collect(
        from old: UnsafeRawBufferPointer?, to new: UnsafeRawBufferPointer?, _ key: UnsafeRawBufferPointer,
        in fork: Fork
    ) throws {
        // Taken out, because a second reference would cause a copy.
        guard !indexes.isEmpty, var list = changes.take() else { return }
        try maker.append(from: old, to: new, key, in: fork, &list)
        if list.byteCount <= Self.maximumBytes { changes = list }
    }

    /// Forgets the changes, because records were changed in another way.
    mutating func lose() { changes = nil }

    /// Returns the changes in a fork that accepts no more, and begins with the state that it has; nil if they are not
    /// complete.
    mutating func next(after fork: Fork) throws -> IndexRowPart? {
        let end = try fork.identity(of: ViewTree.records)
        let part = changes.take().map { IndexRowPart(changes: $0, indexes: indexes, start: start, end: end) }
        if try catalog == fork.identity(of: ViewTree.indexCatalog) {
            (changes, start) = (IndexRowChanges(), end)
        } else {
            self = try IndexRowCollector(in: fork)
        }
        return part
    }
}
