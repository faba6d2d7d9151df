import StrataModel
import StrataTree

extension ViewTree {
    package static let firedSubscriptions = TreeID(rawValue: 18)
}

/// The subscriptions that were to fire once and have fired: user, database, ID → firing event and subscription.
enum FiredSubscriptionsMaintainer: ViewMaintainer {
    static let tree = ViewTree.firedSubscriptions
    static let name = "fired subscriptions"
    static let isStated = true

    /// States the subscription as saved and then as deleted, because it has ended.
    static func state(_ entry: ViewEntry, in commit: inout CommitBuilder) throws {
        var reader = ByteReader(entry.row)
        let by = try reader.readPackedVersion("the event that made a subscription fire")
        let saved = try commit.event(in: entry.row, at: reader.position, as: SubscriptionSavedEvent.self)
        try commit.append(saved)
        try commit.append(
            SubscriptionDeletedEvent(
                database: saved.database, user: saved.user, id: saved.subscription.id, firedBy: by))
    }

    static func describe(_ key: UnsafeRawBufferPointer, _ words: EntryWords) throws -> String {
        var reader = KeyReader(key)
        let user = words.name(.user, try reader.readNumber())
        _ = try reader.readNumber()
        return "fired subscription \(words.text(try reader.readLastText())) of user \(user)"
    }
}
