import StrataModel
import StrataTree

/// Keeps the indexes of a store that are ready, in slices that the pipeline runs between batches.
///
/// Indexes lag: they show the records of ``base``, whose state stays pinned for that. To catch up, that state is
/// compared with a newer one, and what differs is applied in order; so ten saves of a record cost one update. A record
/// that the two states share costs nothing.
///
/// It is a value, and what it knows goes with the fork that it worked on: keep the changed one once that is published,
/// and forget it if the fork is dropped.
///
/// ```swift
/// var next = keeper
/// let hasMore = try next.advance(fork, to: store.snapshot(), limit: 1_000)
/// try store.publish(fork)
/// keeper = next
/// ```
public struct IndexKeeper: Sendable {
    /// What every index that is ready shows, apart from a catch-up that is under way.
    public private(set) var base: Snapshot
    /// A catch-up that is under way: records below `next` are shown as in `target`.
    private var underWay: (target: Snapshot, next: [UInt8])?
    private var maker = IndexRowMaker([])
    /// Those that it makes rows of.
    private var makerIndexes: [IndexID] = []

    /// - Parameter base: a state whose indexes show its own records; ``isComplete(in:)`` tells.
    public init(_ base: Snapshot) { self.base = base }

    /// Whether indexes show the records that are beside them, or none is ready.
    static func isComplete(in snapshot: Snapshot) throws -> Bool {
        try snapshot.foldedOffset(ViewTree.index) == snapshot.foldedOffset(ViewTree.records)
            || IndexCatalog(snapshot).ready.isEmpty
    }

    /// Lets all rows go, so that every index is built anew: which records they show is not known any more.
    static func startAnew(in fork: Fork) throws {
        try fork.deleteRange(ViewTree.index, from: nil, to: nil)
        for (id, progress) in try IndexCatalog(fork).progress {
            if progress == .leaving {
                try IndexCatalog.remove(id, in: fork)
            } else {
                try IndexCatalog.put(id, .building, in: fork)
            }
        }
    }

    /// A state with all its indexes built anew.
    static func rebuilt(_ snapshot: Snapshot) throws -> Fork {
        let fork = Fork(on: snapshot)
        try startAnew(in: fork)
        let build = IndexBuild(try IndexCatalog(fork).building, from: snapshot, RunSorter(spill: nil))
        _ = try build.read { false }
        _ = try build.load(into: fork) { false }
        _ = try build.follow(IndexKeeper(snapshot), in: fork) { false }
        return fork
    }

    /// What goes with a snapshot that is published now.
    public var lag: IndexLag { IndexLag(base: base, target: underWay?.target) }

    public var isUnderWay: Bool { underWay != nil }

    /// Does a slice of a catch-up.
    ///
    /// - Parameters:
    ///   - target: the newest state; taken when the last catch-up is over.
    ///   - limit: how many records the slice may look at.
    /// - Returns: whether there is more to do.
    public mutating func advance(_ fork: Fork, to target: Snapshot, limit: Int) throws -> Bool {
        let (target, next) = underWay ?? (target, [])
        let ready = try IndexCatalog(fork).ready
        if ready != makerIndexes { (maker, makerIndexes) = (IndexRowMaker(ready), ready) }
        let reached =
            ready.isEmpty
            ? nil
            : try IndexChanges.follow(from: base, to: target, startingAt: next, &maker, in: fork) { $0 >= limit }
        underWay = reached.map { (target, $0) }
        if reached == nil { try show(target, in: fork) }
        return reached != nil
    }

    private mutating func show(_ target: Snapshot, in fork: Fork) throws {
        base = target
        try fork.setFoldedOffset(ViewTree.index, target.foldedOffset(ViewTree.records))
    }

    /// The rows of an index in one database.
    static func withBounds<Result>(
        of id: IndexID, _ database: UInt64, _ body: (UnsafeRawBufferPointer, UnsafeRawBufferPointer) throws -> Result
    ) throws -> Result {
        let lower = IndexKey.start(database, id).bytes
        // Not more than 255: a form is a small number.
        let upper = lower.dropLast() + [id.form.rawValue + 1]
        return try lower.withUnsafeBytes { lower in try upper.withUnsafeBytes { try body(lower, $0) } }
    }
}
