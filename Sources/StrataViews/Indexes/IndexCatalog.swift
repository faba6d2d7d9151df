import StrataModel
import StrataTree

/// The indexes of a store and the progress of each.
///
/// The catalog follows the schema: folding a *schema changed* event declares the indexes that the fields require, and
/// marks the type's other indexes for removal.
///
/// ```swift
/// let catalog = try IndexCatalog(store.snapshot())
/// guard catalog[IndexID(type: type, .field(title))] == .ready else { look at the records }
/// ```
package struct IndexCatalog: Sendable, Hashable {
    package private(set) var progress: [IndexID: IndexProgress] = [:]

    package init() {}

    package init(_ trees: some TreeReading) throws { try self.init(trees, from: nil, to: nil) }

    /// Reads the indexes of one record type.
    package init(_ trees: some TreeReading, of type: UInt64) throws {
        self = try ViewKeys.withBounds(ofNumber: type) { try IndexCatalog(trees, from: $0, to: $1) }
    }

    private init(
        _ trees: some TreeReading, from lower: UnsafeRawBufferPointer?, to upper: UnsafeRawBufferPointer?
    ) throws {
        try trees.scan(ViewTree.indexCatalog, from: lower, to: upper) { key, row in
            progress[try IndexID(key: key)] = try IndexProgress(row: row)
            return true
        }
    }

    package subscript(id: IndexID) -> IndexProgress? { progress[id] }

    package var isEmpty: Bool { progress.isEmpty }
    /// True if indexes have yet to be built or removed.
    package var isUnfinished: Bool { progress.values.contains { $0 != .ready } }
    /// The indexes in their order, without those that are being removed.
    package var declared: [IndexID] { progress.filter { $0.value != .leaving }.keys.sorted() }
    package var ready: [IndexID] { progress.filter { $0.value == .ready }.keys.sorted() }
    /// The indexes whose rows have to be removed.
    package var outdated: [IndexID] {
        progress.filter { $0.value == .leaving || $0.value == .returning }.keys.sorted()
    }
    /// The indexes that are being built, each with the key of the last record whose rows are there.
    package var building: [IndexID: [UInt8]] {
        progress.compactMapValues { if case .building(upTo: let last) = $0 { last } else { nil } }
    }

    // MARK: Changing

    static func put(_ id: IndexID, _ progress: IndexProgress, in fork: Fork) throws {
        try fork.put(ViewTree.indexCatalog, key: id.key, row: progress.row)
    }

    static func remove(_ id: IndexID, in fork: Fork) throws {
        try fork.delete(ViewTree.indexCatalog, key: id.key)
    }

    /// Updates the catalog to the indexes that the fields of a record type require. Their rows are added and removed
    /// later.
    static func follow(_ fields: [SchemaField], of type: UInt64, in fork: Fork) throws {
        let catalog = try IndexCatalog(fork, of: type)
        let indexed = fields.filter { !$0.indexes.isEmpty }
        if catalog.isEmpty, indexed.isEmpty { return }
        var asked: Set<IndexID> = []
        for field in indexed {
            guard let text = try fork.field(UInt64(field.field)) else { continue }
            asked.formUnion(IndexID.asked(by: field, named: text, of: type))
        }
        for id in asked.sorted() where catalog[id] == nil || catalog[id] == .leaving {
            try put(id, catalog[id] == nil ? .building(upTo: []) : .returning, in: fork)
        }
        for (id, progress) in catalog.progress where progress != .leaving && !asked.contains(id) {
            try put(id, .leaving, in: fork)
        }
    }
}
