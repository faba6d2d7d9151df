import StrataModel
import StrataTree

/// Builds declared indexes and removes others, in slices.
///
/// A build walks through the records in the order of their keys. The catalog has the key that it has reached, so each
/// slice, also after a restart, begins where the one before ended. Folding writes the rows of records up to that key
/// (``IndexWriter``). An index that is declared meanwhile is built up to the same key first.
///
/// ```swift
/// var build = IndexBuild()
/// while try build.advance(fork, from: snapshot, isOver) { publish }     // a fork for each slice
/// ```
package struct IndexBuild {
    /// The number of rows above which they are put, although there are fewer records.
    private static let rowsTogether = 1_024

    /// The number of records whose rows are put together, in order.
    var recordsTogether = 256
    /// The index whose rows are being removed, and the database at which to continue.
    private var clearing: (id: IndexID, database: UInt64)?
    private var rows = IndexRowList()
    private var names = NameCache()

    package init() {}

    /// Does a slice of the work that the catalog requires; returns true if more remains to be done.
    ///
    /// - Parameters:
    ///   - state: the state that the fork was made on.
    ///   - isOver: returns true to end the slice.
    package mutating func advance(_ fork: Fork, from state: Snapshot, _ isOver: () -> Bool) throws -> Bool {
        let catalog = try IndexCatalog(fork)
        for id in catalog.outdated {
            guard try clear(id, in: fork, isOver) else { return true }
            if catalog[id] == .returning {
                try IndexCatalog.put(id, .building(upTo: []), in: fork)
            } else {
                try IndexCatalog.remove(id, in: fork)
            }
        }
        return try build(in: fork, from: state, isOver)
    }

    /// Removes all rows of an index; returns false if the slice is over before.
    private mutating func clear(_ id: IndexID, in fork: Fork, _ isOver: () -> Bool) throws -> Bool {
        var database = clearing?.id == id ? clearing?.database ?? 0 : 0
        while true {
            let next = try IndexKey.withBounds(of: IndexKey.start(database, id)) { lower, upper -> UInt64? in
                var next: UInt64?
                var hasRows = false
                try fork.scan(ViewTree.index, from: lower) { key, _ in
                    var reader = KeyReader(key)
                    next = try reader.readNumber()
                    hasRows = RecordSlice.compare(key, upper) < 0
                    return false
                }
                if hasRows { try fork.deleteRange(ViewTree.index, from: lower, to: upper) }
                return next
            }
            // The databases in between have no rows.
            guard let next, next < .max else { break }
            database = max(next, database + 1)
            clearing = (id, database)
            if isOver() { return false }
        }
        clearing = nil
        return true
    }

    /// Puts the rows of the records that come next; returns false once all indexes are ready.
    private mutating func build(in fork: Fork, from state: Snapshot, _ isOver: () -> Bool) throws -> Bool {
        while true {
            let building = try IndexCatalog(fork).building
            guard var last = building.values.min(by: { $0.lexicographicallyPrecedes($1) }) else { return false }
            let ids = building.filter { $0.value == last }.keys.sorted()
            let bound = building.values.filter { $0 != last }.min { $0.lexicographicallyPrecedes($1) }
            let maker = IndexRowMaker(ids)
            while let reached = try putRows(maker, after: last, through: bound, from: state, in: fork) {
                last = reached
                guard isOver() else { continue }
                for id in ids { try IndexCatalog.put(id, .building(upTo: last), in: fork) }
                return true
            }
            let progress = bound.map { IndexProgress.building(upTo: $0) } ?? .ready
            for id in ids { try IndexCatalog.put(id, progress, in: fork) }
        }
    }

    /// Puts the rows of some records; returns the key of the last one, or nil if there are no more.
    private mutating func putRows(
        _ maker: IndexRowMaker, after last: [UInt8], through bound: [UInt8]?, from state: Snapshot, in fork: Fork
    ) throws -> [UInt8]? {
        rows.removeAll()
        var (reached, count) = ([UInt8](), 0)
        var (zone, database) = (UInt64(0), UInt64(0))
        // The next key in the order of bytes.
        let (lower, upper) = (last + [0], bound.map { $0 + [0] })
        func add(_ record: UnsafeRawBufferPointer, _ bytes: UnsafeRawBufferPointer) throws -> Bool {
            var reader = KeyReader(record)
            let recordZone = try reader.readNumber()
            if recordZone != zone || count == 0 {
                (zone, database) = (recordZone, try names.database(ofZone: recordZone, in: fork))
            }
            try maker.append(try IndexedState(bytes), of: record, in: database, to: &rows)
            reached.removeAll(keepingCapacity: true)
            reached.append(contentsOf: record)
            count += 1
            return count < recordsTogether && rows.count < Self.rowsTogether
        }
        try lower.withUnsafeBytes { lower in
            guard let upper else { return try state.scan(ViewTree.records, from: lower, to: nil, add) }
            try upper.withUnsafeBytes { try state.scan(ViewTree.records, from: lower, to: $0, add) }
        }
        rows.sort()
        let none = UnsafeRawBufferPointer(start: nil, count: 0)
        try rows.forEachRow { try fork.put(ViewTree.index, $0, none) }
        return count == 0 ? nil : reached
    }
}
