import StrataModel
import StrataTree

/// Keeps the ready indexes of a store up to date, in slices that the pipeline runs between batches.
///
/// Indexes lag: they show the records of ``base``, which stays pinned for this purpose. To catch up, that state is
/// compared with a newer one and the differences are applied in order, so ten saves of a record cost one update. A part
/// that the two states share costs nothing.
///
/// A keeper is a value that matches the fork it worked on: keep the changed keeper once that fork is published, and
/// discard it if the fork is dropped.
///
/// ```swift
/// var next = keeper
/// let hasMore = try next.advance(fork, to: store.snapshot(), limit: 1_000)
/// try store.publish(fork)
/// keeper = next
/// ```
package struct IndexCatchUp: Sendable {
    /// The state that every ready index shows, apart from a catch-up that is running.
    package private(set) var base: Snapshot
    /// The running catch-up: records below `next` are shown as in `target`.
    private var underWay: (target: Snapshot, next: [UInt8])?
    private var maker = IndexRowMaker([])
    /// The indexes that ``maker`` makes rows of.
    private var makerIndexes: [IndexID] = []

    /// - Parameter base: a state whose indexes show its own records; see ``isComplete(in:)``.
    package init(_ base: Snapshot) { self.base = base }

    /// Returns true if the indexes show the records of the same state, or if none is ready.
    static func isComplete(in snapshot: Snapshot) throws -> Bool {
        try snapshot.foldedOffset(ViewTree.index) == snapshot.foldedOffset(ViewTree.records)
            || IndexCatalog(snapshot).ready.isEmpty
    }

    /// Removes all rows so that every index is rebuilt, because it is no longer known which records they show.
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

    /// Returns a fork of a state with all its indexes rebuilt.
    static func rebuilt(_ snapshot: Snapshot) throws -> Fork {
        let fork = Fork(on: snapshot)
        try startAnew(in: fork)
        let build = IndexBuild(try IndexCatalog(fork).building, from: snapshot, RunSorter(spill: nil))
        _ = try build.read { false }
        _ = try build.load(into: fork) { false }
        _ = try build.follow(IndexCatchUp(snapshot), in: fork) { false }
        return fork
    }

    /// The lag of the indexes in a snapshot that is published now.
    package var lag: IndexLag { IndexLag(base: base, target: underWay?.target) }

    package var isUnderWay: Bool { underWay != nil }

    /// Runs a slice of a catch-up; returns true if more remains to be done.
    ///
    /// - Parameters:
    ///   - target: the newest state; used when no catch-up is running.
    ///   - limit: the maximum number of records that the slice examines.
    package mutating func advance(_ fork: Fork, to target: Snapshot, limit: Int) throws -> Bool {
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

    /// Calls `body` with the bounds of the rows of an index in one database.
    static func withBounds<Result>(
        of id: IndexID, _ database: UInt64, _ body: (UnsafeRawBufferPointer, UnsafeRawBufferPointer) throws -> Result
    ) throws -> Result {
        let lower = IndexKey.start(database, id).bytes
        // This never exceeds 255, because a form is a small number.
        let upper = lower.dropLast() + [id.form.rawValue + 1]
        return try lower.withUnsafeBytes { lower in try upper.withUnsafeBytes { try body(lower, $0) } }
    }
}
