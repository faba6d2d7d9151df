import StrataModel
import StrataTree

extension ViewTree {
    package static let index = TreeID(rawValue: 16)
}

/// The rows of all indexes: database, index, zone, value, name → nothing. ``RecordFold`` writes them with the records,
/// and ``IndexBuild`` those of new indexes.
enum IndexMaintainer: ViewMaintainer {
    static let tree = ViewTree.index
    static let name = "index"
    static let isFolded = false

    static func describe(_ key: UnsafeRawBufferPointer, _ words: EntryWords) throws -> String {
        let (id, byteCount) = try IndexID.start(ofRow: key)
        let source = try IndexRow(key, after: byteCount).recordKey.withUnsafeBytes { try words.record(at: $0) }
        return "\(IndexCatalogMaintainer.text(of: id, words)), row of \(source)"
    }

    /// Returns the offset of the record's version.
    static func origin(of entry: ViewEntry, in trees: Snapshot) throws -> UInt64? {
        let byteCount = try IndexID.start(ofRow: entry.key).byteCount
        return try trees.origin(ofRecord: try IndexRow(entry.key, after: byteCount).recordKey)
    }
}

extension IndexID {
    /// Returns the index of a row, and the length of the key's prefix up to and including the index.
    static func start(ofRow key: UnsafeRawBufferPointer) throws -> (id: IndexID, byteCount: Int) {
        var reader = KeyReader(key)
        // Skip the database.
        _ = try reader.readNumber()
        let start = reader.position
        let id = try IndexID(key: UnsafeRawBufferPointer(rebasing: key[start...]))
        try reader.skip(id.key.count)
        return (id, reader.position)
    }
}
