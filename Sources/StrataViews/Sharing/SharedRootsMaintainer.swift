import StrataModel
import StrataTree

extension ViewTree {
    package static let sharedRoots = TreeID(rawValue: 28)
}

/// The newest share of each root, which may have ended: zone, name of the root, empty for the zone as a whole → share.
/// ``SharesMaintainer`` keeps it.
enum SharedRootsMaintainer: ViewMaintainer {
    static let tree = ViewTree.sharedRoots
    static let name = "shared roots"

    static func note(_ share: ShareSavedEvent, in fork: Fork) throws {
        let key = ViewKeys.sharedRoot(share.root, in: share.record.zone)
        if let newest = try fork.newestShare(at: key), newest >= share.share { return }
        var row = ByteWriter(reserving: 10)
        row.appendVarint(share.share)
        try fork.put(tree, key: key, row: row.bytes)
    }

    static func describe(_ key: UnsafeRawBufferPointer, _ words: EntryWords) throws -> String {
        var reader = KeyReader(key)
        let zone = words.zone(try reader.readNumber())
        let root = try reader.readLastText()
        return root.isEmpty ? "the share of \(zone)" : "the share of root \(words.text(root)) in \(zone)"
    }

    /// Returns the offset of the commit that last saved the share.
    static func origin(of entry: ViewEntry, in trees: Snapshot) throws -> UInt64? {
        var reader = ByteReader(entry.row)
        let share = try reader.readVarint("a share")
        return try trees.version(in: ViewTree.shares, key: ViewKeys.numbers(share))?.offset
    }
}

extension ViewKeys {
    fileprivate static func sharedRoot(_ root: String?, in zone: UInt64) -> [UInt8] {
        var key = KeyWriter(reserving: 32)
        key.append(number: zone)
        key.append(lastName: root ?? "")
        return key.bytes
    }
}

extension TreeReading {
    /// Returns the newest share of a root in the current life of its zone if that share has ended.
    ///
    /// - Parameters:
    ///   - root: nil for the zone as a whole.
    ///   - life: the incarnation of the zone.
    package func endedShare(of root: String?, in zone: UInt64, life: Version) throws -> ShareSavedEvent? {
        guard let number = try newestShare(at: ViewKeys.sharedRoot(root, in: zone)), let share = try share(number),
            share.isEnded, isSameText(share.root ?? "", root ?? ""), try isShare(number, ofLife: life)
        else { return nil }
        return share
    }

    /// Returns true if a share was last saved in a life of its zone.
    ///
    /// - Parameter life: the incarnation of the zone.
    package func isShare(_ number: UInt64, ofLife life: Version) throws -> Bool {
        try version(in: ViewTree.shares, key: ViewKeys.numbers(number)).map { $0 >= life } ?? false
    }

    fileprivate func newestShare(at key: [UInt8]) throws -> UInt64? {
        try get(ViewTree.sharedRoots, key: key) { row in
            var reader = ByteReader(row)
            return try reader.readVarint("a share")
        }
    }
}
