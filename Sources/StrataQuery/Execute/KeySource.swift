import StrataTree
import StrataViews

/// Iterates over the index entries of a plan's source.
final class KeySource {
    let scene: QueryContext
    /// The ordinals of the zones to search.
    let zones: [UInt64]
    private(set) var rowsRead = 0
    private var steps = 0
    private let isCancelled: () -> Bool

    init(_ scene: QueryContext, _ zones: SearchedZones, isCancelled: @escaping () -> Bool) {
        self.scene = scene
        self.isCancelled = isCancelled
        self.zones = zones.ordinals
    }

    func countRow() throws {
        rowsRead += 1
        try countStep()
    }

    /// Counts a search or a row that is read.
    func countStep() throws {
        steps += 1
        if steps % 256 == 0, isCancelled() { throw QueryError.cancelled }
    }

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
            for key in keys {
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
        var record: [UInt8] = []
        for zone in zones {
            for range in match.ranges {
                let goesOn = try forEachRow(of: match.id, in: zone, from: range.lower, to: range.upper) { row in
                    record.removeAll(keepingCapacity: true)
                    row.appendRecordKey(to: &record)
                    return try body(record)
                }
                if !goesOn { return false }
            }
        }
        return true
    }

    /// Calls `body` with the rows of an index in one zone, in order; returns false once `body` has.
    ///
    /// - Parameter lower: a kind and a value, or a prefix of them; so is `upper`.
    func forEachRow(
        of id: IndexID, in zone: UInt64, from lower: [UInt8], to upper: [UInt8], _ body: (IndexRow) throws -> Bool
    ) throws -> Bool {
        var goesOn = true
        try countStep()
        let start = IndexKey.start(scene.database, id).bytes.count
        let zoneStart = IndexKey.start(scene.database, id, zone: zone).bytes
        try (zoneStart + lower).withUnsafeBytes { lower in
            try (zoneStart + upper).withUnsafeBytes { upper in
                try scene.trees.scan(ViewTree.index, from: lower, to: upper) { key, _ in
                    try countRow()
                    goesOn = try body(IndexRow(key, after: start))
                    return goesOn
                }
            }
        }
        return goesOn
    }

    /// Calls `body` with the rows of an index in several zones, in the order of values, then names, then zones; returns
    /// false once `body` has.
    ///
    /// - Parameter zones: in the order of their ordinals.
    func forEachRow(
        of id: IndexID, in zones: [UInt64], from place: RowPlace, to upper: [UInt8],
        _ body: (IndexRow) throws -> Bool
    ) throws -> Bool {
        if zones.count == 1 {
            return try forEachRow(of: id, in: zones[0], from: place.bytes(in: zones[0]), to: upper, body)
        }
        let rows = try MergedRows(self, id, in: zones, from: place, to: upper)
        if let zone = rows.onlyZone {
            return try forEachRow(of: id, in: zone, from: place.bytes(in: zone), to: upper, body)
        }
        while let goesOn = try rows.withRow(body) {
            if !goesOn { return false }
            try rows.step()
        }
        return true
    }

    static func zone(of key: [UInt8]) throws -> UInt64 {
        try key.withUnsafeBytes { key in
            var reader = KeyReader(key)
            return try reader.readNumber()
        }
    }
}
