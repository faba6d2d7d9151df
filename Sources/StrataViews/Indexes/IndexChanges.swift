import StrataModel
import StrataTree

/// Brings the rows of indexes from one state of the records to another by comparing the two.
enum IndexChanges {
    /// Begins at a record's key. Returns the key of the next record to examine; nil when there are no more.
    ///
    /// - Parameter isOver: called with the number of records examined so far; returns true to stop there.
    static func follow(
        from old: Snapshot, to new: Snapshot, startingAt next: [UInt8], _ maker: inout IndexRowMaker, in fork: Fork,
        isOver: (Int) -> Bool
    ) throws -> [UInt8]? {
        if new.shares(ViewTree.records, with: old) { return nil }
        var changes = IndexRowChanges()
        var count = 0
        var reached: [UInt8]?
        try next.withUnsafeBytes { lower in
            try new.forEachChange(of: ViewTree.records, since: old, from: lower) { key, change in
                if isOver(count) {
                    reached = [UInt8](key)
                    return false
                }
                count += 1
                switch change {
                case .added(let new): try maker.append(from: nil, to: new, key, in: fork, &changes)
                case .removed(let old): try maker.append(from: old, to: nil, key, in: fork, &changes)
                case .replaced(let old, let new): try maker.append(from: old, to: new, key, in: fork, &changes)
                }
                return true
            }
        }
        _ = try IndexRowChanges.net([changes]).apply(to: fork)
        return reached
    }
}

/// Builds the rows that records have in some indexes.
struct IndexRowMaker {
    private let byType: [UInt64: [IndexID]]
    private var names = NameCache()
    /// The indexes of the last record's type, and the database of its zone.
    private var lastType: (type: UInt64, indexes: [IndexID]) = (0, [])
    private var lastZone: (zone: UInt64, database: UInt64) = (0, 0)

    init(_ indexes: [IndexID]) { byType = Dictionary(grouping: indexes, by: \.type) }

    /// Appends the rows that a change of a record removes and adds. Rows of values that stay are left out.
    ///
    /// - Parameters:
    ///   - old: the state before the change; nil if there was no record.
    ///   - new: the state after it; nil if the record is gone.
    ///   - fork: a fork that has the names of all zones.
    mutating func append(
        from old: UnsafeRawBufferPointer?, to new: UnsafeRawBufferPointer?, _ key: UnsafeRawBufferPointer,
        in fork: Fork, _ changes: inout IndexRowChanges
    ) throws {
        let old = try old.map { try IndexedState($0) }
        let new = try new.map { try IndexedState($0) }
        var place: IndexRows?
        if let old {
            for index in indexes(of: old.header.type) {
                if let new, try new.hasSameRows(as: old, in: index) { continue }
                let rows = try place ?? rows(at: key, in: fork)
                place = rows
                try rows.append(index, old, isAddition: false, to: &changes)
            }
        }
        if let new {
            for index in indexes(of: new.header.type) {
                if let old, try new.hasSameRows(as: old, in: index) { continue }
                let rows = try place ?? rows(at: key, in: fork)
                place = rows
                try rows.append(index, new, isAddition: true, to: &changes)
            }
        }
    }

    private mutating func indexes(of type: UInt64) -> [IndexID] {
        if type != lastType.type { lastType = (type, byType[type] ?? []) }
        return lastType.indexes
    }

    private mutating func rows(at key: UnsafeRawBufferPointer, in fork: Fork) throws -> IndexRows {
        var reader = KeyReader(key)
        let zone = try reader.readNumber()
        if zone != lastZone.zone { lastZone = (zone, try names.database(ofZone: zone, in: fork)) }
        return IndexRows(database: lastZone.database, zone: zone, name: try reader.readLastText())
    }
}
