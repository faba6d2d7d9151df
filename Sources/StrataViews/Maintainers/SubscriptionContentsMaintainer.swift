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
        try fork.put(tree, key: ViewKeys.subscriptionContent(of: event))
    }

    /// Removes the row of a subscription, given by the subscription's own key, before it is changed or deleted.
    static func remove(subscription key: [UInt8], from fork: Fork) throws {
        guard let before = try fork.subscription(key: key) else { return }
        try fork.delete(tree, key: ViewKeys.subscriptionContent(of: before.event))
    }

    static func describe(_ key: UnsafeRawBufferPointer, _ words: EntryWords) throws -> String {
        var reader = KeyReader(key)
        _ = try reader.readNumber()
        let user = words.name(.user, try reader.readNumber())
        try reader.skip(MemoryLayout<UInt128>.size)
        return "content of subscription \(words.text(try reader.readLastText())) of user \(user)"
    }

    /// Returns the offset of the commit that saved the subscription.
    static func origin(of entry: ViewEntry, in trees: Snapshot) throws -> UInt64? {
        var reader = KeyReader(entry.key)
        let user = ViewKeys.numbers(try reader.readNumber(), try reader.readNumber())
        try reader.skip(MemoryLayout<UInt128>.size)
        return try trees.version(in: ViewTree.subscriptions, key: user + [UInt8](try reader.readLastText()))?.offset
    }
}
