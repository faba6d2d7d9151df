import StrataModel
import StrataSystem
import StrataTree

/// Builds indexes in bulk, all of them in one pass over the records.
///
/// Reading and sorting can run at any time. Rows are then put into forks in slices, in their order, and changes made in
/// the meantime are applied as a catch-up. Only one thread at a time may call it.
///
/// ```swift
/// let build = IndexBuild(catalog.building, from: catchUp.base, sorter)
/// try build.read { isStopping }
/// while try build.load(into: fork, isOver) { publish }     // a fork for each slice
/// while try build.follow(catchUp, in: fork, isOver) { publish }
/// ```
package final class IndexBuild {
    package enum Phase: Sendable, Hashable {
        /// Waiting for another build to end.
        case waiting
        /// Removing the rows that an earlier build has left; counts rows.
        case clearing
        /// Reading records; counts records.
        case reading
        /// Loading rows; counts rows.
        case loading
        /// Applying the records that changed during the build, whose number is not known in advance.
        case following
    }

    package struct Progress: Sendable, Hashable {
        package var phase: Phase
        package var done: UInt64 = 0
        /// The total; 0 if it is not known.
        package var total: UInt64 = 0

        package init(_ phase: Phase, done: UInt64 = 0, total: UInt64 = 0) {
            self.phase = phase
            self.done = done
            self.total = total
        }
    }

    package let indexes: [IndexID]
    package private(set) var progress: Progress
    /// The state that the rows show once they are loaded.
    private var shown: Snapshot
    /// The state to which the rows are being brought: records below `next` already show it.
    private var target: (state: Snapshot, next: [UInt8])?
    private var maker: IndexRowMaker
    private let sorter: RunSorter
    private static let reportedRecords: UInt64 = 1_024

    package init(_ indexes: [IndexID], from base: Snapshot, _ sorter: RunSorter) {
        self.indexes = indexes
        self.sorter = sorter
        shown = base
        maker = IndexRowMaker(indexes)
        progress = Progress(.reading, total: base.entryCount(ViewTree.records))
    }

    /// Collects the rows of all records and sorts them; returns false if it was stopped.
    ///
    /// - Parameter isStopped: called from time to time.
    package func read(_ isStopped: () -> Bool) throws -> Bool {
        let names = Fork(on: shown)
        let none = UnsafeRawBufferPointer(start: nil, count: 0)
        var goesOn = true
        var rows = IndexRowChanges()
        try shown.scan(ViewTree.records) { key, state in
            rows.removeAll()
            try maker.append(from: nil, to: state, key, in: names, &rows)
            try rows.forEachRow { try sorter.add($1, none) }
            progress.done += 1
            if progress.done % Self.reportedRecords == 0 { goesOn = !isStopped() }
            return goesOn
        }
        if !goesOn || isStopped() { return false }
        try sorter.finish()
        progress = Progress(.loading, total: sorter.count)
        return true
    }

    /// Puts rows into a fork until the slice is over; returns true if there are more.
    package func load(into fork: Fork, _ isOver: () -> Bool) throws -> Bool {
        fork.fillsPages = true
        defer { fork.fillsPages = false }
        let none = UnsafeRawBufferPointer(start: nil, count: 0)
        while let row = sorter.current {
            try fork.putNear(ViewTree.index, row.key, none)
            try sorter.advance()
            progress.done += 1
            if progress.done % 64 == 0, isOver() { return true }
        }
        progress = Progress(.following)
        return false
    }

    /// Applies the changes since the records were read. Once the rows show the same state as the other indexes, marks
    /// the indexes as ready.
    ///
    /// Returns true if more remains to be done. Then either the slice is over, or a catch-up of the other indexes is
    /// running and must finish first.
    package func follow(_ catchUp: IndexCatchUp, in fork: Fork, _ isOver: () -> Bool) throws -> Bool {
        while true {
            if target == nil, !catchUp.base.shares(ViewTree.records, with: shown) { target = (catchUp.base, []) }
            guard let (state, next) = target else { break }
            var count = 0
            let reached = try IndexChanges.follow(
                from: shown, to: state, startingAt: next, &maker, in: fork
            ) {
                count = $0
                return $0 > 0 && $0 % 32 == 0 && isOver()
            }
            progress.done += UInt64(count)
            if let reached {
                target = (state, reached)
                return true
            }
            (shown, target) = (state, nil)
        }
        if catchUp.isUnderWay { return true }
        let catalog = try IndexCatalog(fork)
        for id in indexes where catalog[id] == .building { try IndexCatalog.put(id, .ready, in: fork) }
        return false
    }
}

extension IndexBuild {
    /// Removes about `limit` rows of an index; returns true if there may be more.
    ///
    /// - Parameter database: the database at which to begin, and then the one at which to continue.
    package static func clear(
        _ id: IndexID, from database: inout UInt64, in fork: Fork, limit: Int
    ) throws -> Bool {
        while true {
            var next: UInt64?
            let isCut = try IndexCatchUp.withBounds(of: id, database) { lower, upper in
                var end: [UInt8]?
                var count = 0
                try fork.scan(ViewTree.index, from: lower) { key, _ in
                    guard key.lexicographicallyPrecedes(upper) else {
                        var reader = KeyReader(key)
                        next = try reader.readNumber()
                        return false
                    }
                    count += 1
                    if count > limit { end = [UInt8](key) }
                    return end == nil
                }
                if count == 0 { return false }
                try (end ?? [UInt8](upper)).withUnsafeBytes {
                    try fork.deleteRange(ViewTree.index, from: lower, to: $0)
                }
                return true
            }
            if isCut { return true }
            // The databases in between have no rows of the index.
            guard let found = next, found < .max else { return false }
            database = max(found, database + 1)
        }
    }

    /// Removes from the catalog an index that is no longer declared and has no rows left.
    package static func forget(_ id: IndexID, in fork: Fork) throws {
        if try IndexCatalog(fork)[id] == .leaving { try IndexCatalog.remove(id, in: fork) }
    }
}
