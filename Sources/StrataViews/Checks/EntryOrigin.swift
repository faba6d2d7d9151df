import StrataModel
import StrataTree

/// Which commit made an entry of the trees.
struct EntryOrigin {
    let trees: Snapshot

    /// - Returns: nil for names, of which the trees do not say it, and for what belongs to something that is not there.
    func offset(of id: TreeID, _ key: UnsafeRawBufferPointer, _ row: UnsafeRawBufferPointer) throws -> UInt64? {
        var reader = KeyReader(key)
        switch id {
        case ViewTree.records: return try RecordStateView(row, in: 0..<row.count).version.offset
        case ViewTree.zones: return try ZoneRow(decoding: row).lastChanged
        case ViewTree.zoneChanges:
            _ = try reader.readNumber()
            return try reader.readNumber()
        case ViewTree.references: return try offset(ofRecord: try ReferenceRow(key).sourceKey)
        case ViewTree.index:
            return try offset(ofRecord: try IndexRow(key, behind: try IndexID.start(ofRow: key).byteCount).recordKey)
        case ViewTree.indexCatalog:
            return try offset(in: ViewTree.schema, ViewKeys.numbers(try reader.readNumber()))
        case ViewTree.subscriptionContents:
            let user = ViewKeys.numbers(try reader.readNumber(), try reader.readNumber())
            try reader.skip(MemoryLayout<UInt128>.size)
            return try offset(in: ViewTree.subscriptions, user + [UInt8](try reader.readLastText()))
        case ViewTree.names, ViewTree.ordinals: return nil
        default: return try Self.version(row).offset
        }
    }

    private func offset(ofRecord key: [UInt8]) throws -> UInt64? {
        try key.withUnsafeBytes { key in
            try trees.get(ViewTree.records, key) { try RecordStateView($0, in: 0..<$0.count).version.offset }
        }
    }

    private func offset(in id: TreeID, _ key: [UInt8]) throws -> UInt64? {
        try key.withUnsafeBytes { try trees.get(id, $0) { try Self.version($0).offset } }
    }

    private static func version(_ row: UnsafeRawBufferPointer) throws -> Version {
        var reader = ByteReader(row)
        return try reader.readPackedVersion("a row's version")
    }

    /// The name that an entry is about; nil if it is about something else.
    static func name(
        of id: TreeID, _ key: UnsafeRawBufferPointer, _ row: UnsafeRawBufferPointer
    ) throws -> UsedNames.Key? {
        var reader = KeyReader(key)
        switch id {
        case ViewTree.names:
            let namespace = Namespace(rawValue: try reader.readByte())
            let ordinal = try reader.readNumber()
            return namespace.map { UsedNames.Key($0, ordinal) }
        case ViewTree.ordinals:
            var row = ByteReader(row)
            let ordinal = try row.readVarint("an ordinal")
            return Namespace(rawValue: try reader.readByte()).map { UsedNames.Key($0, ordinal) }
        default: return nil
        }
    }
}

/// A key of references taken apart.
struct ReferenceRow {
    let targetZone: UInt64
    let targetName: [UInt8]
    let kind: ReferenceKind?
    /// Of the record that refers.
    let sourceKey: [UInt8]

    init(_ key: UnsafeRawBufferPointer) throws {
        var reader = KeyReader(key)
        targetZone = try reader.readNumber()
        targetName = try reader.readText()
        kind = ReferenceKind(rawValue: try reader.readByte())
        sourceKey = [UInt8](try reader.readLastText())
    }
}

extension IndexID {
    /// The index that a row is of, and how many bytes of its key say so.
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
