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
        for (id, progress) in try IndexCatalog(fork).progress {
            if progress == .leaving {
                try IndexCatalog.remove(id, in: fork)
            } else {
                try IndexCatalog.put(id, .building(below: []), in: fork)
            }
        }
    }

    /// A state with all its indexes built anew.
    static func rebuilt(_ snapshot: Snapshot) throws -> Fork {
        let fork = Fork(on: snapshot)
        try startAnew(in: fork)
        var keeper = IndexKeeper(snapshot)
        while try keeper.advance(fork, to: snapshot, limit: 100_000) {}
        return fork
    }

    /// What goes with a snapshot that is published now.
    public var lag: IndexLag { IndexLag(base: base, target: underWay?.target) }

    /// Does a slice of what there is to do: catching up first, then building, then taking out.
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
    static func withBounds<Result>(
        of id: IndexID, _ database: UInt64, _ body: (UnsafeRawBufferPointer, UnsafeRawBufferPointer) throws -> Result
    ) throws -> Result {
        let lower = IndexKey.start(database, id).bytes
        // Not more than 255: a form is a small number.
        let upper = lower.dropLast() + [id.form.rawValue + 1]
        return try lower.withUnsafeBytes { lower in try upper.withUnsafeBytes { try body(lower, $0) } }
    }

    // MARK: Catching up

    /// Nil when all differences have been applied; else the key of the next record to look at.
    private mutating func catchUp(_ fork: Fork, to target: Snapshot, from next: [UInt8], limit: Int) throws -> [UInt8]?
    {
        let catalog = try IndexCatalog(fork).byType
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
        let catalog = try IndexCatalog(fork)
        let unfinished = catalog.byType.values.joined().filter { $0.progress != .ready }.sorted { $0.id < $1.id }
        guard let first = unfinished.first, case .building(let start) = first.progress else {
            return try clear(catalog, fork, limit: limit)
        }
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
        return reached != nil || group.count < unfinished.count || !catalog.leaving.isEmpty
    }

    // MARK: Taking out

    /// Takes out rows of indexes that nobody asks for any more; whether there are more.
    private func clear(_ catalog: IndexCatalog, _ fork: Fork, limit: Int) throws -> Bool {
        guard let id = catalog.leaving.first else { return false }
        if limit == 0 { return true }
        if try Self.clear(id, in: fork, limit: limit) { return true }
        try IndexCatalog.remove(id, in: fork)
        return catalog.leaving.count > 1
    }

    /// Takes out about `limit` rows of an index; whether there are more.
    static func clear(_ id: IndexID, in fork: Fork, limit: Int) throws -> Bool {
        var database: UInt64 = 0
        while true {
            var next: UInt64?
            let isCut = try withBounds(of: id, database) { lower, upper in
                var end: [UInt8]?
                var count = 0
                try fork.scan(ViewTree.index, from: lower) { key, _ in
                    guard key.lexicographicallyPrecedes(upper) else {
                        if count == 0 {
                            var reader = KeyReader(key)
                            next = try reader.readNumber()
                        }
                        return false
                    }
                    count += 1
                    if count > limit { end = [UInt8](key) }
                    return end == nil
                }
                guard count > 0 else { return false }
                next = database
                guard let end else {
                    try fork.deleteRange(ViewTree.index, from: lower, to: upper)
                    return false
                }
                try end.withUnsafeBytes { try fork.deleteRange(ViewTree.index, from: lower, to: $0) }
                return true
            }
            if isCut { return true }
            // Databases between have no row at all.
            guard let next, next < .max else { return false }
            database = max(next, database + 1)
        }
    }
}

/// Rows to add and to remove, gathered so that they can be applied in order.
private struct IndexChanges {
    private var rows = IndexRows()
    private var changes: [(key: [UInt8], isAddition: Bool)] = []

    mutating func add(
        _ state: UnsafeRawBufferPointer, _ key: UnsafeRawBufferPointer,
        _ catalog: [UInt64: [(id: IndexID, progress: IndexProgress)]], _ names: inout NameCache, _ fork: Fork,
        isOld: Bool
    ) throws {
        let view = try RecordStateView(state, in: 0..<state.count)
        guard let indexes = catalog[try view.header().type] else { return }
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
