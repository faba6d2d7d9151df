import StrataModel
import StrataTree

extension ViewTree {
    package static let subscriptions = TreeID(rawValue: 5)
}

/// The subscriptions of all users: database, user, ID → subscription.
enum SubscriptionsMaintainer: EventRowMaintainer {
    typealias Body = SubscriptionSavedEvent

    static let tree = ViewTree.subscriptions
    static let name = "subscriptions"
    static let kinds: [EventKind] = [.subscriptionSaved, .subscriptionDeleted]

    static func key(of event: Body) -> [UInt8] {
        ViewKeys.subscription(event.database, event.user, event.subscription.id)
    }

    static func apply(_ kind: EventKind, _ body: UnsafeRawBufferPointer, at place: EventPlace, to fold: Fold) throws {
        guard kind == .subscriptionSaved else {
            return try delete(SubscriptionDeletedEvent(decoding: body), from: fold)
        }
        let event = try Body(decoding: body)
        try SubscriptionContentsMaintainer.remove(subscription: key(of: event), from: fold.fork)
        try fold.forgetFired(event)
        try put(event, body, at: place, in: fold)
        try SubscriptionContentsMaintainer.add(event, to: fold.fork)
    }

    private static func delete(_ event: SubscriptionDeletedEvent, from fold: Fold) throws {
        let key = ViewKeys.subscription(event.database, event.user, event.id)
        if let by = event.firedBy, let before = try fold.fork.subscription(key: key) {
            try fold.keepFired(before.event, by: by)
        }
        try SubscriptionContentsMaintainer.remove(subscription: key, from: fold.fork)
        guard try fold.fork.delete(tree, key: key) else {
            throw StrataError(
                .brokenSequence, "A subscription that does not exist was deleted.", .init(found: event.id))
        }
    }

    static func content(of event: Body, in fold: Fold) throws -> UInt128? {
        let subscription = event.subscription
        let seed = seed(
            try fold.records.names.hash(.database, event.database, in: fold.fork),
            try fold.records.names.hash(.user, event.user, in: fold.fork),
            DigestHash.hash(0, text: subscription.id))
        let zone = try fold.records.names.hash(.zone, subscription.zone, in: fold.fork)
        let type = try fold.records.names.hash(.recordType, subscription.recordType, in: fold.fork)
        let chosen = DigestHash.hash(
            seed,
            words: [
                UInt64(subscription.kind.rawValue), subscription.options.rawValue,
                subscription.notification == nil ? 0 : 1, zone.low, zone.high, type.low, type.high,
            ])
        let named = DigestHash.hash(chosen, text: subscription.predicate)
        return try (subscription.notification?.encoded() ?? []).withUnsafeBytes { DigestHash.hash(named, $0) }
    }

    static func describe(_ key: UnsafeRawBufferPointer, _ words: EntryWords) throws -> String {
        var reader = KeyReader(key)
        _ = try reader.readNumber()
        let user = words.name(.user, try reader.readNumber())
        return "subscription \(words.text(try reader.readLastText())) of user \(user)"
    }
}
