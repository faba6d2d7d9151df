import StrataModel
import StrataTree

/// Which indexes there are, and how far each has been built.
struct IndexCatalog {
    private(set) var byType: [UInt64: [(id: IndexID, progress: IndexProgress)]] = [:]

    init(_ fork: Fork) throws {
        try fork.scan(ViewTree.indexCatalog) { key, row in
            let id = try IndexID(key: key)
            byType[id.type, default: []].append((id, try IndexProgress(row: row)))
            return true
        }
    }

    var all: [(id: IndexID, progress: IndexProgress)] { byType.values.flatMap { $0 }.sorted { $0.id < $1.id } }

    static func put(_ id: IndexID, _ progress: IndexProgress, in fork: Fork) throws {
        try id.key.withUnsafeBytes { key in
            try progress.row.withUnsafeBytes { try fork.put(ViewTree.indexCatalog, key, $0) }
        }
    }
}

extension Snapshot {
    /// The indexes of a record type that show all records.
    public func readyIndexes(ofType type: UInt64) throws -> Set<IndexID> {
        var ready: Set<IndexID> = []
        try ViewKeys.withBounds(ofNumber: type) { lower, upper in
            try scan(ViewTree.indexCatalog, from: lower, to: upper) { key, row in
                if try IndexProgress(row: row) == .ready { ready.insert(try IndexID(key: key)) }
                return true
            }
        }
        return ready
    }
}
