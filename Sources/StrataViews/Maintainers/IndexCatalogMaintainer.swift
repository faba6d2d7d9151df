import StrataModel
import StrataTree

extension ViewTree {
    package static let indexCatalog = TreeID(rawValue: 17)
}

/// The existing indexes: index → progress (``IndexCatalog``).
enum IndexCatalogMaintainer: ViewMaintainer {
    static let tree = ViewTree.indexCatalog
    static let name = "indexes"
    static let isFolded = false

    static func describe(_ key: UnsafeRawBufferPointer, _ words: EntryWords) throws -> String {
        text(of: try IndexID(key: key), words)
    }

    static func text(of id: IndexID, _ words: EntryWords) -> String {
        let subject = id.subject.field.map { words.name(.field, UInt64($0)) } ?? "subject \(id.subject.rawValue)"
        return "index of \(words.name(.recordType, id.type)).\(subject) (\(id.form))"
    }

    /// Returns the offset of the commit that last changed the schema of the index's type.
    static func origin(of entry: ViewEntry, in trees: Snapshot) throws -> UInt64? {
        var reader = KeyReader(entry.key)
        return try trees.version(in: ViewTree.schema, key: ViewKeys.numbers(try reader.readNumber()))?.offset
    }
}
