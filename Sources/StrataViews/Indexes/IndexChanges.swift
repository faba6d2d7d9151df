import StrataModel
import StrataTree

/// Rows to add and to remove, gathered so that they can be applied in order.
struct IndexChanges {
    private var maker: IndexRowMaker
    private var changes: [(key: [UInt8], isAddition: Bool)] = []

    private init(_ maker: IndexRowMaker) { self.maker = maker }

    /// Brings the rows of indexes from one state of the records to another, beginning at a record's key. Returns the
    /// key of the next record to examine; nil when there are no more.
    ///
    /// - Parameter isOver: called with the number of records examined so far; returns true to stop there.
    static func follow(
        from old: Snapshot, to new: Snapshot, startingAt next: [UInt8], _ maker: inout IndexRowMaker, in fork: Fork,
        isOver: (Int) -> Bool
    ) throws -> [UInt8]? {
        if new.shares(ViewTree.records, with: old) { return nil }
        var changes = IndexChanges(maker)
        defer { maker = changes.maker }
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
                case .added(let new): try changes.add(new, key, fork, isOld: false)
                case .removed(let old): try changes.add(old, key, fork, isOld: true)
                case .replaced(let old, let new):
                    try changes.add(old, key, fork, isOld: true)
                    try changes.add(new, key, fork, isOld: false)
                }
                return true
            }
        }
        try changes.apply(to: fork)
        return reached
    }

    private mutating func add(
        _ state: UnsafeRawBufferPointer, _ key: UnsafeRawBufferPointer, _ fork: Fork, isOld: Bool
    ) throws {
        for row in try maker.rows(of: state, key, in: fork) { changes.append((row, !isOld)) }
    }

    private mutating func apply(to fork: Fork) throws {
        changes.sort { a, b in
            if a.key != b.key { return a.key.lexicographicallyPrecedes(b.key) }
            return !a.isAddition && b.isAddition
        }
        let none = UnsafeRawBufferPointer(start: nil, count: 0)
        var start = 0
        while start < changes.count {
            let key = changes[start].key
            let end = changes[start...].firstIndex { $0.key != key } ?? changes.count
            defer { start = end }
            // A row that is both removed and added stays unchanged.
            let (isOld, isNew) = (!changes[start].isAddition, changes[end - 1].isAddition)
            if isOld == isNew { continue }
            try key.withUnsafeBytes { key in
                if isNew {
                    try fork.put(ViewTree.index, key, none)
                } else {
                    try fork.delete(ViewTree.index, key)
                }
            }
        }
    }
}

/// Builds the rows that records have in some indexes.
struct IndexRowMaker {
    private let byType: [UInt64: [IndexID]]
    private var names = NameCache()
    private var rows = IndexRows()

    init(_ indexes: [IndexID]) { byType = Dictionary(grouping: indexes, by: \.type) }

    /// - Parameter fork: a fork that has the names of all zones.
    mutating func rows(
        of state: UnsafeRawBufferPointer, _ key: UnsafeRawBufferPointer, in fork: Fork
    ) throws -> [[UInt8]] {
        let view = try RecordStateView(state, in: 0..<state.count)
        guard let indexes = byType[try view.header().type] else { return [] }
        var reader = KeyReader(key)
        let zone = try reader.readNumber()
        rows.start(
            database: try names.database(ofZone: zone, in: fork), zone: zone, name: try reader.readLastText())
        for index in indexes { try rows.collect(index, view, state) }
        return rows.keys
    }
}
