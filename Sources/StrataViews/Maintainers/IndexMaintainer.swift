import StrataModel
import StrataTree

extension ViewTree {
    public static let index = TreeID(rawValue: 16)
}

/// The rows of all indexes: database, index, value, record → nothing. ``IndexKeeper`` brings them up to date.
enum IndexMaintainer: ViewMaintainer {
    static let tree = ViewTree.index
    static let name = "index"
    static let isFolded = false

    static func describe(_ key: UnsafeRawBufferPointer, _ words: EntryWords) throws -> String {
        let (id, byteCount) = try IndexID.start(ofRow: key)
        let source = try IndexRow(key, behind: byteCount).recordKey.withUnsafeBytes { try words.record(at: $0) }
        return "\(IndexCatalogMaintainer.text(of: id, words)), row of \(source)"
    }

    /// The commit that made the record what it is.
    static func origin(
        of key: UnsafeRawBufferPointer, _ row: UnsafeRawBufferPointer, in trees: Snapshot
    ) throws -> UInt64? {
        try trees.origin(ofRecord: try IndexRow(key, behind: try IndexID.start(ofRow: key).byteCount).recordKey)
    }

}

extension IndexID {
    /// Returns the index that a row is of, and how many bytes of its key say so.
    static func start(ofRow key: UnsafeRawBufferPointer) throws -> (id: IndexID, byteCount: Int) {
        var reader = KeyReader(key)
        // The database.
        _ = try reader.readNumber()
        let start = reader.position
        let id = try IndexID(key: UnsafeRawBufferPointer(rebasing: key[start...]))
        try reader.skip(id.key.count)
        return (id, reader.position)
    }
}
