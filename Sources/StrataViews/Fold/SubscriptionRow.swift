import StrataModel
import StrataTree

/// The row of a subscription.
package struct SubscriptionRow: Sendable {
    /// The version of the event that last saved it.
    package var version: Version
    /// The event that last saved it, with the user, the database and the content; ordinals are the store's.
    package var event: SubscriptionSavedEvent

    package var subscription: Subscription { event.subscription }

    init(decoding row: UnsafeRawBufferPointer) throws {
        version = try RowLayout.version(of: row, "a subscription's version")
        event = try RowLayout.event(in: row)
    }
}

extension TreeReading {
    package func subscription(_ database: UInt64, _ user: UInt64, _ id: String) throws -> SubscriptionRow? {
        try subscription(key: ViewKeys.subscription(database, user, id))
    }

    func subscription(key: [UInt8]) throws -> SubscriptionRow? {
        try get(ViewTree.subscriptions, key: key) { try SubscriptionRow(decoding: $0) }
    }

    /// Calls `body` with each subscription to a database, of all users or of one, until it returns false. Users come in
    /// the order of their ordinals, and the subscriptions of each in the order of the keys of their IDs.
    ///
    /// ```swift
    /// try snapshot.trees.forEachSubscription(of: database) { row in
    ///     index.insert(row.subscription, of: row.event.user)
    ///     return true
    /// }
    /// ```
    package func forEachSubscription(
        of database: UInt64, user: UInt64? = nil, _ body: (SubscriptionRow) throws -> Bool
    ) throws {
        func scan(from lower: UnsafeRawBufferPointer, to upper: UnsafeRawBufferPointer) throws {
            try self.scan(ViewTree.subscriptions, from: lower, to: upper) { try body(SubscriptionRow(decoding: $1)) }
        }
        guard let user else { return try ViewKeys.withBounds(ofNumber: database, scan) }
        let lower = ViewKeys.numbers(database, user)
        try lower.withUnsafeBytes { lower in
            try ViewKeys.behind(lower).withUnsafeBytes { try scan(from: lower, to: $0) }
        }
    }

    /// Calls `body` with the ID of each of a user's subscriptions that has the same content as the given one, until it
    /// returns false. The notification is not part of the content.
    package func forEachSubscriptionID(
        saying subscription: Subscription, _ database: UInt64, _ user: UInt64, _ body: (String) throws -> Bool
    ) throws {
        let lower = ViewKeys.content(of: subscription, database, user)
        try lower.withUnsafeBytes { lower in
            try ViewKeys.behind(lower).withUnsafeBytes { upper in
                try scan(ViewTree.subscriptionContents, from: lower, to: upper) { key, _ in
                    var place = KeyWriter()
                    place.append(number: database)
                    place.append(number: user)
                    place.append(lastText: key[lower.count...])
                    let row = try self.subscription(key: place.bytes)
                    // Two contents may have the same hash.
                    guard let row, row.subscription.saysTheSame(as: subscription) else { return true }
                    return try body(row.subscription.id)
                }
            }
        }
    }
}

extension Subscription {
    /// Returns true if both fire for the same changes, regardless of their IDs and notifications.
    fileprivate func saysTheSame(as other: Subscription) -> Bool {
        kind == other.kind && zone == other.zone && recordType == other.recordType && options == other.options
            && predicate.utf8.elementsEqual(other.predicate.utf8)
    }
}

extension ViewKeys {
    static func subscription(_ database: UInt64, _ user: UInt64, _ id: String) -> [UInt8] {
        var key = KeyWriter()
        key.append(number: database)
        key.append(number: user)
        key.append(lastName: id)
        return key.bytes
    }

    static func subscriptionContent(of event: SubscriptionSavedEvent) -> [UInt8] {
        var id = KeyWriter()
        id.append(lastName: event.subscription.id)
        return content(of: event.subscription, event.database, event.user) + id.bytes
    }

    /// Returns the common prefix of the keys of a user's subscriptions with the same content.
    fileprivate static func content(of subscription: Subscription, _ database: UInt64, _ user: UInt64) -> [UInt8] {
        var key = KeyWriter()
        key.append(number: database)
        key.append(number: user)
        let start = DigestHash.hash(
            0,
            words: [
                UInt64(subscription.kind.rawValue), subscription.options.rawValue, subscription.zone,
                subscription.recordType,
            ])
        let hash = DigestHash.hash(start, text: subscription.predicate)
        return key.bytes + withUnsafeBytes(of: hash.littleEndian) { [UInt8]($0) }
    }

    /// Returns a bound after all keys that continue `start` with a name. No name begins with FF.
    fileprivate static func behind(_ start: UnsafeRawBufferPointer) -> [UInt8] { start + [0xFF] }
}
