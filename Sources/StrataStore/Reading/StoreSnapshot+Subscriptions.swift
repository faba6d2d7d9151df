import StrataModel
import StrataRules
import StrataTree
import StrataViews

extension StoreSnapshot {
    /// Returns all subscriptions of an actor's user to a database, in the order of their IDs' bytes. Those of other
    /// users are not visible (B186).
    ///
    /// - Throws: ``Refusal`` if no user is signed in, even for the public database.
    public func subscriptions(in database: DatabaseID, as actor: Actor) throws -> [NamedSubscription] {
        try reading { trees in
            var found: [NamedSubscription] = []
            guard let owner = try subscriber(database, actor, trees) else { return found }
            try trees.forEachSubscription(of: owner.database, user: owner.user) { row in
                found.append(try NamedSubscription(row.subscription, names.resolver(in: trees)))
                return true
            }
            return found
        }
    }

    /// Returns a result for each ID, in order (B184).
    ///
    /// - Throws: ``Refusal`` if no user is signed in, even for the public database.
    public func subscriptions(
        _ ids: [String], in database: DatabaseID, as actor: Actor
    ) throws -> [Result<NamedSubscription, Refusal>] {
        try reading { trees in
            let owner = try subscriber(database, actor, trees)
            return try ids.map { id in
                let row = try owner.flatMap { try trees.subscription($0.database, $0.user, id) }
                guard let row else {
                    return .failure(
                        Refusal(.unknownItem, "Subscription '\(id)' does not exist.", rule: .existingSubscription))
                }
                return .success(try NamedSubscription(row.subscription, names.resolver(in: trees)))
            }
        }
    }

    /// Returns the user whose subscriptions an actor sees; nil for a user who has written nothing and so has none.
    private func subscriber(
        _ database: DatabaseID, _ actor: Actor, _ trees: Snapshot
    ) throws -> (database: UInt64, user: UInt64)? {
        try actor.requireSignedIn()
        try names.requireAvailable(actor, in: trees)
        let place = try names.place(database, actor, in: trees)
        guard place.ordinal != 0, let user = try names.ordinal(of: .user(actor.user), in: trees) else { return nil }
        return (place.ordinal, user)
    }
}

extension Store {
    /// Returns the subscriptions that a client requests, from the newest state: a result for each ID, in order.
    ///
    /// - Throws: ``Refusal`` if the actor can read nothing in the database, and for more IDs than
    ///   ``Limits/itemsPerRequest``.
    public func fetchSubscriptions(
        _ ids: [String], in database: DatabaseID, as actor: Actor
    ) throws -> [Result<NamedSubscription, Refusal>] {
        try options.limits.checkItemCount(ids.count)
        return try newest.subscriptions(ids, in: database, as: actor)
    }
}

extension NamedSubscription {
    init(_ subscription: Subscription, _ names: SnapshotNames) throws {
        self.init(
            subscription.id, subscription.kind,
            zone: subscription.zone == 0 ? nil : ZoneID(try names.text(.zone, subscription.zone)),
            recordType: subscription.recordType == 0 ? nil : try names.text(.recordType, subscription.recordType),
            predicate: subscription.predicate, options: subscription.options, notification: subscription.notification)
    }
}
