import StrataModel
import StrataTree

/// Keeps the indexes of a store, in slices that the pipeline runs between batches.
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
    private var names = NameCache()

    /// - Parameter base: a state whose indexes show its own records; ``isComplete(in:)`` tells.
    public init(_ base: Snapshot) { self.base = base }

    /// Whether indexes show the records that are beside them, or there are none.
    static func isComplete(in snapshot: Snapshot) -> Bool {
        snapshot.entryCount(ViewTree.indexCatalog) == 0
            || snapshot.foldedOffset(ViewTree.index) == snapshot.foldedOffset(ViewTree.records)
    }

    /// Lets all rows go, so that every index is built anew: which records they show is not known any more.
    static func startAnew(in fork: Fork) throws {
        try fork.deleteRange(ViewTree.index, from: nil, to: nil)
        for (id, _) in try IndexCatalog(fork).all { try IndexCatalog.put(id, .building(below: []), in: fork) }
    }

    /// What goes with a snapshot that is published now.
    public var lag: IndexLag { IndexLag(base: base, target: underWay?.target) }

    /// Adds an index, which is built from then on; one that is there already stays as it is.
    public func declare(_ id: IndexID, in fork: Fork) throws {
        let isKnown = try id.key.withUnsafeBytes { try fork.get(ViewTree.indexCatalog, $0) { _ in true } } ?? false
        if !isKnown { try IndexCatalog.put(id, .building(below: []), in: fork) }
    }

    /// The indexes that have been declared.
    public static func declared(in snapshot: Snapshot) throws -> [IndexID] {
        var ids: [IndexID] = []
        try snapshot.scan(ViewTree.indexCatalog) { key, _ in
            ids.append(try IndexID(key: key))
            return true
        }
        return ids
    }

    /// Removes an index with its rows.
    public func remove(_ id: IndexID, databases: [UInt64], in fork: Fork) throws {
        _ = try id.key.withUnsafeBytes { try fork.delete(ViewTree.indexCatalog, $0) }
        for database in databases {
            try Self.withBounds(of: id, database) { try fork.deleteRange(ViewTree.index, from: $0, to: $1) }
        }
    }

    /// Does a slice of what there is to do: catching up first, then building.
    ///
    /// - Parameters:
    ///   - target: the newest state; taken when the last catch-up is over.
    ///   - limit: how many records the slice may look at.
    /// - Returns: whether there is more to do.
    public mutating func advance(_ fork: Fork, to target: Snapshot, limit: Int) throws -> Bool {
        if underWay == nil {
            if target.shares(ViewTree.records, with: base) {
                try show(target, in: fork)
            } else {
                underWay = (target, [])
            }
        }
        if let (target, next) = underWay {
            guard let reached = try catchUp(fork, to: target, from: next, limit: limit) else {
                underWay = nil
                try show(target, in: fork)
                return try build(fork, limit: 0)
            }
            underWay = (target, reached)
            return true
        }
        return try build(fork, limit: limit)
    }

    private mutating func show(_ target: Snapshot, in fork: Fork) throws {
        base = target
        try fork.setFoldedOffset(ViewTree.index, target.foldedOffset(ViewTree.records))
    }

    /// The rows of an index in one database.
    static func withBounds(
        of id: IndexID, _ database: UInt64, _ body: (UnsafeRawBufferPointer, UnsafeRawBufferPointer) throws -> Void
    ) throws {
        let lower = IndexKey.start(database, id).bytes
        // Not more than 255: a form is a small number.
        let upper = lower.dropLast() + [id.form.rawValue + 1]
        try lower.withUnsafeBytes { lower in try upper.withUnsafeBytes { try body(lower, $0) } }
    }

    // MARK: Catching up

    /// Nil when all differences have been applied; else the key of the next record to look at.
    private mutating func catchUp(_ fork: Fork, to target: Snapshot, from next: [UInt8], limit: Int) throws -> [UInt8]?
    {
        let catalog = try IndexCatalog(fork)
        var changes = IndexChanges()
        var count = 0
        var reached: [UInt8]?
        try next.withUnsafeBytes { lower in
            try target.forEachChange(of: ViewTree.records, since: base, from: lower) { key, change in
                if count == limit {
                    reached = [UInt8](key)
                    return false
                }
                count += 1
                switch change {
                case .added(let new): try changes.add(new, key, catalog, &names, fork, isOld: false)
                case .removed(let old): try changes.add(old, key, catalog, &names, fork, isOld: true)
                case .replaced(let old, let new):
                    try changes.add(old, key, catalog, &names, fork, isOld: true)
                    try changes.add(new, key, catalog, &names, fork, isOld: false)
                }
                return true
            }
        }
        try changes.apply(to: fork)
        return reached
    }

    // MARK: Building

    /// Builds indexes that are not complete, from `base`; whether there is more to build.
    private mutating func build(_ fork: Fork, limit: Int) throws -> Bool {
        let unfinished = try IndexCatalog(fork).all.filter { $0.progress != .ready }
        guard let first = unfinished.first, case .building(let start) = first.progress else { return false }
        if limit == 0 { return true }
        // Those that have come as far go together, so that the records are read once for all of them.
        let group = unfinished.filter { $0.progress == first.progress }.map(\.id)
        let byType = Dictionary(grouping: group, by: \.type)
        var changes = IndexChanges()
        var count = 0
        var reached: [UInt8]?
        try start.withUnsafeBytes { lower in
            try base.scan(ViewTree.records, from: lower) { key, state in
                if count == limit {
                    reached = [UInt8](key)
                    return false
                }
                count += 1
                try changes.add(state, key, byType, &names, fork)
                return true
            }
        }
        try changes.apply(to: fork)
        for id in group { try IndexCatalog.put(id, reached.map { .building(below: $0) } ?? .ready, in: fork) }
        return reached != nil || group.count < unfinished.count
    }
}

/// Rows to add and to remove, gathered so that they can be applied in order.
private struct IndexChanges {
    private var rows = IndexRows()
    private var changes: [(key: [UInt8], isAddition: Bool)] = []

    mutating func add(
        _ state: UnsafeRawBufferPointer, _ key: UnsafeRawBufferPointer, _ catalog: IndexCatalog,
        _ names: inout NameCache,
        _ fork: Fork, isOld: Bool
    ) throws {
        let view = try RecordStateView(state, in: 0..<state.count)
        guard let indexes = catalog.byType[try view.header().type] else { return }
        try collect(view, state, key, indexes.filter { $0.progress.covers(key) }.map(\.id), &names, fork)
        changes += rows.keys.map { ($0, !isOld) }
    }

    mutating func add(
        _ state: UnsafeRawBufferPointer, _ key: UnsafeRawBufferPointer, _ byType: [UInt64: [IndexID]],
        _ names: inout NameCache, _ fork: Fork
    ) throws {
        let view = try RecordStateView(state, in: 0..<state.count)
        guard let indexes = byType[try view.header().type] else { return }
        try collect(view, state, key, indexes, &names, fork)
        changes += rows.keys.map { ($0, true) }
    }

    private mutating func collect(
        _ view: RecordStateView, _ state: UnsafeRawBufferPointer, _ key: UnsafeRawBufferPointer, _ indexes: [IndexID],
        _ names: inout NameCache, _ fork: Fork
    ) throws {
        var reader = KeyReader(key)
        let zone = try reader.readNumber()
        rows.start(
            database: try names.database(ofZone: zone, in: fork), zone: zone, name: try reader.readLastText())
        for index in indexes { try rows.collect(index, view, state) }
    }

    mutating func apply(to fork: Fork) throws {
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
            // Removed and added again, the row stays as it is.
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
