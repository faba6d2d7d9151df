import StrataModel
import StrataQuery
import StrataViews

/// One subscription, prepared for matching.
final class IndexedSubscription: Sendable {
    struct Key: Hashable {
        var database: UInt64
        var user: UInt64
        var id: ExactName
    }

    let key: Key
    /// The event that saved the subscription, which fires only for later events.
    let version: Version
    let subscription: Subscription
    let predicate: PredicateTree
    let condition: SelectiveCondition?
    let asksTheTime: Bool

    init(_ event: SubscriptionSavedEvent, _ version: Version) {
        key = Key(database: event.database, user: event.user, id: ExactName(text: event.subscription.id))
        self.version = version
        subscription = event.subscription
        // A stored predicate could be parsed when it was saved.
        let text = event.subscription.predicate
        predicate = text.isEmpty ? .constant(true) : (try? PredicateParser.parse(text)) ?? .constant(false)
        condition = event.subscription.kind == .query ? SelectiveCondition(predicate) : nil
        asksTheTime = predicate.asksTheTime
    }

    var firesOnce: Bool { subscription.kind == .query && subscription.options.contains(.once) }
}
