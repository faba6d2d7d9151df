import StrataModel
import StrataTree
import StrataViews

/// Iterates over the index entries of a plan's source.
final class KeySource {
    let scene: QueryContext
    private(set) var rowsRead = 0
    private let isCancelled: () -> Bool

    init(_ scene: QueryContext, isCancelled: @escaping () -> Bool) {
        self.scene = scene
        self.isCancelled = isCancelled
    }

    func countRow() throws { try countRows(1) }

    private func countRows(_ count: Int) throws {
        let before = rowsRead
        rowsRead += count
        if before >> 8 != rowsRead >> 8, isCancelled() { throw QueryError.cancelled }
    }

    /// Returns true if a record's rows must be skipped, because the record itself is examined.
    func isTouched(_ key: [UInt8]) -> Bool { !scene.touched.isEmpty && scene.touched.contains(key) }

    /// Calls `body` with the key of each record, in no particular order, until it returns false. A key may occur
    /// several times. The array is reused unless `body` keeps it.
    func forEachKey(_ source: QueryPlan.Source, _ body: ([UInt8]) throws -> Bool) throws {
        _ = try visit(source, body)
    }

    /// Visits the keys of a source; returns false once `body` has.
    private func visit(_ source: QueryPlan.Source, _ body: ([UInt8]) throws -> Bool) throws -> Bool {
        switch source {
        case .nothing, .zones: return true
        case .records(let keys):
            for key in keys where !isTouched(key) {
                guard try scene.covers(zone: Self.zone(of: key)) else { continue }
                if !(try body(key)) { return false }
            }
            return true
        case .index(let match, _): return try visit(match, body)
        case .nearest(let id, _): return try visit(IndexMatch(id: id, ranges: [.all]), body)
        case .union(let sources):
            for source in sources where !(try visit(source, body)) { return false }
            return true
        case .intersection(let small, let large):
            var keys: Set<[UInt8]> = []
            _ = try visit(small) { key in
                keys.insert(key)
                return true
            }
            return try visit(large) { try keys.contains($0) ? body($0) : true }
        }
    }

    private func visit(_ match: IndexMatch, _ body: ([UInt8]) throws -> Bool) throws -> Bool {
        let start = IndexKey.start(scene.database, match.id).bytes
        var record: [UInt8] = []
        for range in match.ranges {
            let goesOn = try forEachRow(from: start + range.lower, to: start + range.upper, after: start.count) {
                row in
                record.removeAll(keepingCapacity: true)
                row.appendRecordKey(to: &record)
                return isTouched(record) ? true : try body(record)
            }
            if !goesOn { return false }
        }
        return true
    }

    /// Calls `body` with the rows of the scene's zones; returns false once `body` has.
    func forEachRow(
        from lower: [UInt8], to upper: [UInt8], after start: Int, _ body: (IndexRow) throws -> Bool
    ) throws -> Bool {
        var goesOn = true
        // Rows end with the zone, and most may have another one; a longer number may end like this one.
        var tail = KeyWriter()
        if let zone = scene.zone { tail.append(number: zone) }
        try lower.withUnsafeBytes { lower in
            try upper.withUnsafeBytes { upper in
                try scene.trees.scanKeys(
                    ViewTree.index, from: lower, to: upper, endingWith: tail.bytes, passing: countRows
                ) { key in
                    let row = try IndexRow(key, after: start)
                    if let zone = scene.zone, try row.zone != zone { return true }
                    goesOn = try body(row)
                    return goesOn
                }
            }
        }
        return goesOn
    }

    static func zone(of key: [UInt8]) throws -> UInt64 {
        try key.withUnsafeBytes { key in
            var reader = KeyReader(key)
            return try reader.readNumber()
        }
    }
}
