import StrataModel
import StrataTree

extension ViewTree {
    package static let shareChanges = TreeID(rawValue: 25)
}

/// The records of hierarchical shares at their last change, for the feeds of participants: number of the share,
/// version → the shared record. ``SharedRecordsMaintainer`` keeps them.
enum ShareChangesMaintainer: ViewMaintainer {
    static let tree = ViewTree.shareChanges
    static let name = "share changes"

    /// - Parameter body: the bytes of the event.
    static func add(
        _ event: SharedRecordEvent, _ body: UnsafeRawBufferPointer, at version: Version, to fork: Fork
    ) throws {
        let key = ViewKeys.numbers(event.share, version.packed)
        if event.original == nil { return try key.withUnsafeBytes { try fork.put(tree, $0, body) } }
        var event = event
        event.original = nil
        var row = ByteWriter(reserving: 64)
        try event.encode(into: &row)
        try fork.put(tree, key: key, row: row.bytes)
    }

    static func remove(_ share: UInt64, at version: Version, from fork: Fork) throws {
        try fork.delete(tree, key: ViewKeys.numbers(share, version.packed))
    }

    static func describe(_ key: UnsafeRawBufferPointer, _ words: EntryWords) throws -> String {
        var reader = KeyReader(key)
        let share = try reader.readNumber()
        return "change \(Version(packed: try reader.readNumber() & .max >> 1).tag) in share \(share)"
    }

    static func origin(of entry: ViewEntry, in trees: Snapshot) throws -> UInt64? {
        var reader = KeyReader(entry.key)
        _ = try reader.readNumber()
        return Version(packed: try reader.readNumber() & .max >> 1).offset
    }
}

extension Snapshot {
    /// Returns the approximate number of records that are or were in a hierarchical share.
    package func estimatedChanges(ofShare share: UInt64) throws -> Double {
        try ViewKeys.withBounds(ofNumber: share) { try estimatedCount(ViewTree.shareChanges, from: $0, to: $1) }
    }

    /// Returns the version of the last change of a record in a hierarchical share; nil if there is none.
    package func lastChange(ofShare share: UInt64) throws -> Version? {
        let cursor = cursor(ViewTree.shareChanges)
        let isFound = try ViewKeys.withBounds(ofNumber: share) { try cursor.seekBefore($1) }
        guard isFound else { return nil }
        return try cursor.withEntry { key, _ -> Version? in
            var reader = KeyReader(key)
            guard try reader.readNumber() == share else { return nil }
            return Version(packed: try reader.readNumber() & .max >> 1)
        } ?? nil
    }
}

extension TreeReading {
    /// Calls `body` with each record of a hierarchical share at its last change, in the order of changes, beginning
    /// after a version, until it returns false.
    package func forEachChange(
        ofShare share: UInt64, after version: Version,
        _ body: (_ version: Version, _ record: SharedRecordEvent) throws -> Bool
    ) throws {
        try forEachEncodedChange(ofShare: share, after: version) { version, row in
            var event = ByteReader(row)
            return try body(version, try SharedRecordEvent(from: &event))
        }
    }

    /// Like ``forEachChange(ofShare:after:_:)``, with the bytes of the events, which are valid only during the call.
    package func forEachEncodedChange(
        ofShare share: UInt64, after version: Version,
        _ body: (_ version: Version, _ event: UnsafeRawBufferPointer) throws -> Bool
    ) throws {
        try ViewKeys.withBounds(ofNumber: share) { _, upper in
            // Appending a 0 byte gives the first possible key after this one.
            try (ViewKeys.numbers(share, version.packed) + [0]).withUnsafeBytes { lower in
                try scan(ViewTree.shareChanges, from: lower, to: upper) { key, row in
                    var reader = KeyReader(key)
                    _ = try reader.readNumber()
                    return try body(Version(packed: try reader.readNumber() & .max >> 1), row)
                }
            }
        }
    }
}
