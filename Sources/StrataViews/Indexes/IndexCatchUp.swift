import StrataModel
import StrataTree

/// Keeps the ready indexes of a store up to date, in slices that the pipeline runs between batches.
///
/// Indexes lag: they show the records of ``base``, which stays pinned for this purpose. To catch up with a newer state,
/// the changes of rows between the two are sorted and applied in order, so ten saves of a record cost one update. They
/// were collected while the records were folded (``IndexRowLog``); otherwise the two states are compared, and what they
/// share costs nothing.
///
/// A catchUp is a value that matches the fork it worked on: keep the changed catchUp once that fork is published, and
/// discard it if the fork is dropped.
///
/// ```swift
/// var next = catchUp
/// let hasMore = try next.advance(fork, to: store.snapshot(), limit: 1_000, rows)
/// try store.publish(fork)
/// catchUp = next
/// ```
package struct IndexCatchUp: Sendable {
    /// The state that every ready index shows, apart from a catch-up that is running.
    package private(set) var base: Snapshot
    private var underWay: (target: Snapshot, next: Place)?
    /// The records of the last target, up to which changes of rows are no longer needed.
    package private(set) var begun: TreeIdentity?
    private var maker = IndexRowMaker([])
    /// The indexes that ``maker`` makes rows of.
    private var makerIndexes: [IndexID] = []

    /// The place that a running catch-up has reached.
    private enum Place {
        /// All records before this one are shown as in the target.
        case record([UInt8])
        /// The place in collected changes of the rows of some indexes.
        case row(IndexRowChanges, of: [IndexID], at: Int)
    }

    /// The number of changed rows that count as much as a record to examine.
    private static let rowsPerRecord = 4

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
    ///   - limit: the maximum number of records that the slice examines; of collected rows, four times as many.
    ///   - rows: the collected changes of rows, if there are any.
    package mutating func advance(
        _ fork: Fork, to target: Snapshot, limit: Int, _ rows: IndexRowLog = IndexRowLog()
    ) throws -> Bool {
        let ready = try IndexCatalog(fork).ready
        let (target, next) = try underWay ?? (target, begin(target, ready, rows))
        let reached = try ready.isEmpty ? nil : advance(fork, from: next, to: target, ready, limit)
        underWay = reached.map { (target, $0) }
        if reached == nil { try show(target, in: fork) }
        return reached != nil
    }

    private mutating func begin(_ target: Snapshot, _ ready: [IndexID], _ rows: IndexRowLog) throws -> Place {
        let (start, end) = (try base.identity(of: ViewTree.records), try target.identity(of: ViewTree.records))
        begun = end
        guard let parts = rows.changes(from: start, to: end, of: ready) else { return .record([]) }
        return .row(IndexRowChanges.net(parts), of: ready, at: 0)
    }

    /// Returns the place of the next change; nil if there are no more.
    private mutating func advance(
        _ fork: Fork, from next: Place, to target: Snapshot, _ ready: [IndexID], _ limit: Int
    ) throws -> Place? {
        switch next {
        case .record(let key):
            if ready != makerIndexes { (maker, makerIndexes) = (IndexRowMaker(ready), ready) }
            return try IndexChanges.follow(from: base, to: target, startingAt: key, &maker, in: fork) { $0 >= limit }
                .map { .record($0) }
        case .row(let changes, let indexes, let place):
            let (rowLimit, isOver) = limit.multipliedReportingOverflow(by: Self.rowsPerRecord)
            // The rows of an index that is being removed may be gone already.
            return try changes.apply(
                from: place, to: fork, of: ready == indexes ? nil : Set(ready), limit: isOver ? .max : rowLimit
            ).map { .row(changes, of: indexes, at: $0) }
        }
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
