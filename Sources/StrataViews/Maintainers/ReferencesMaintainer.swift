import StrataModel
import StrataTree

extension ViewTree {
    package static let references = TreeID(rawValue: 4)
}

/// The references between records, for cascades and parents: target, kind, source → nothing. ``RecordFold`` updates
/// them with the records.
enum ReferencesMaintainer: ViewMaintainer {
    static let tree = ViewTree.references
    static let name = "references"

    static func describe(_ key: UnsafeRawBufferPointer, _ words: EntryWords) throws -> String {
        let row = try ReferenceRow(key)
        let source = try row.sourceKey.withUnsafeBytes { try words.record(at: $0) }
        let target = try words.text(packed: row.targetName)
        return "reference from \(source) to record \(target) of \(words.zone(row.targetZone))"
    }

    /// Returns the offset of the source record's version.
    static func origin(of entry: ViewEntry, in trees: Snapshot) throws -> UInt64? {
        try trees.origin(ofRecord: try ReferenceRow(entry.key).sourceKey)
    }
}

/// A key of the tree of references, split into its parts.
private struct ReferenceRow {
    let targetZone: UInt64
    /// The name of the target, packed.
    let targetName: [UInt8]
    /// The key of the referring record.
    let sourceKey: [UInt8]

    init(_ key: UnsafeRawBufferPointer) throws {
        var reader = KeyReader(key)
        targetZone = try reader.readNumber()
        targetName = try reader.readText()
        // Skip the kind.
        _ = try reader.readByte()
        sourceKey = [UInt8](try reader.readLastText())
    }
}

extension ViewKeys {
    /// Returns the common prefix of the keys of all references of a kind to a record; with `after`, the first key
    /// after them.
    static func reference(_ target: RecordKey, _ kind: ReferenceKind, after: Bool = false) -> KeyWriter {
        var key = KeyWriter()
        key.append(number: target.zone)
        key.append(recordName: target.name)
        key.append(byte: kind.rawValue + (after ? 1 : 0))
        return key
    }
}
