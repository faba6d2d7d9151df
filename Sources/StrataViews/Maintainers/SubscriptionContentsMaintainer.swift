import StrataModel
import StrataTree

extension ViewTree {
    package static let subscriptionContents = TreeID(rawValue: 14)
}

/// The contents of subscriptions, for finding duplicates: database, user, hash of the content, ID → nothing.
enum SubscriptionContentsMaintainer: ViewMaintainer {
    static let tree = ViewTree.subscriptionContents
    static let name = "subscription contents"

    static func add(_ event: SubscriptionSavedEvent, to fork: Fork) throws {
        let none = UnsafeRawBufferPointer(start: nil, count: 0)
        try ViewKeys.subscriptionContent(of: event).withUnsafeBytes { try fork.put(tree, $0, none) }
    }

    /// Removes the row of a subscription, given by the subscription's own key, before it is changed or deleted.
    static func remove(subscription key: [UInt8], from fork: Fork) throws {
        guard let before = try key.withUnsafeBytes({ try fork.subscription(key: $0) }) else { return }
        _ = try ViewKeys.subscriptionContent(of: before.event).withUnsafeBytes { try fork.delete(tree, $0) }
    }

    static func describe(_ key: UnsafeRawBufferPointer, _ words: EntryWords) throws -> String {
        var reader = KeyReader(key)
        _ = try reader.readNumber()
        let user = words.name(.user, try reader.readNumber())
        try reader.skip(MemoryLayout<UInt128>.size)
        return "content of subscription \(words.text(try reader.readLastText())) of user \(user)"
    }

    /// Returns the offset of the commit that saved the subscription.
    static func origin(
        of key: UnsafeRawBufferPointer, _ row: UnsafeRawBufferPointer, in trees: Snapshot
    ) throws -> UInt64? {
        var reader = KeyReader(key)
        let user = ViewKeys.numbers(try reader.readNumber(), try reader.readNumber())
        try reader.skip(MemoryLayout<UInt128>.size)
        return try trees.origin(in: ViewTree.subscriptions, user + [UInt8](try reader.readLastText()))
    }
}

extension Snapshot {
    /// Returns the offset of the version at the beginning of a row; nil if there is no row.
    func origin(in id: TreeID, _ key: [UInt8]) throws -> UInt64? {
        try key.withUnsafeBytes { key in
            try get(id, key) { row in
                var reader = ByteReader(row)
                return try reader.readPackedVersion("a row's version").offset
            }
        }
    }
}
