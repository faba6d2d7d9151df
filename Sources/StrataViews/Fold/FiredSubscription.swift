import StrataModel

/// A subscription that was to fire once and has fired.
package struct FiredSubscription: Sendable {
    /// The event that made it fire.
    package var by: Version
    /// The event that last saved it.
    package var event: SubscriptionSavedEvent

    init(decoding row: UnsafeRawBufferPointer) throws {
        var reader = ByteReader(row)
        by = try reader.readPackedVersion("the event that made a subscription fire")
        event = try SubscriptionSavedEvent(from: &reader)
    }

    static func key(user: UInt64, database: UInt64, id: String) -> [UInt8] {
        var key = KeyWriter()
        key.append(number: user)
        key.append(number: database)
        key.append(lastName: id)
        return key.bytes
    }
}

extension Fold {
    /// Keeps a fired subscription for the devices that have not received its notification.
    func keepFired(_ event: SubscriptionSavedEvent, by version: Version) throws {
        var row = ByteWriter(reserving: 64)
        row.append(version.packed)
        try event.encode(into: &row)
        let key = FiredSubscription.key(user: event.user, database: event.database, id: event.subscription.id)
        try fork.put(ViewTree.firedSubscriptions, key: key, row: row.bytes)
    }

    /// Removes a fired subscription that is saved again, which makes it a new one.
    func forgetFired(_ event: SubscriptionSavedEvent) throws {
        let key = FiredSubscription.key(user: event.user, database: event.database, id: event.subscription.id)
        try fork.delete(ViewTree.firedSubscriptions, key: key)
    }
}
