import StrataModel
import StrataRules
import StrataTree
import StrataViews

extension StoreSnapshot {
    /// All subscriptions of an actor's user to a database, in the order of their ids' bytes; those of others are not
    /// to be seen (B186).
    ///
    /// - Throws: ``Refusal`` if nobody is signed in, of the public database too.
    public func subscriptions(in database: DatabaseID, as actor: Actor) throws -> [NamedSubscription] {
        try reading { trees in
            var found: [NamedSubscription] = []
            guard let owner = try subscriber(database, actor, trees) else { return found }
            try trees.forEachSubscription(of: owner.database, user: owner.user) { row in
                found.append(try NamedSubscription(row.subscription, names, trees))
                return true
            }
            return found
        }
    }

    /// A result for each id, in their order (B184).
    ///
    /// - Throws: ``Refusal`` if nobody is signed in, of the public database too.
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
                return .success(try NamedSubscription(row.subscription, names, trees))
            }
        }
    }

    /// Whose subscriptions an actor sees; nil for somebody who has none, having written nothing.
    private func subscriber(
        _ database: DatabaseID, _ actor: Actor, _ trees: Snapshot
    ) throws -> (database: UInt64, user: UInt64)? {
        guard !actor.user.isEmpty else {
            throw Refusal(.notAuthenticated, "Nobody is signed in on this device.", rule: .signedIn)
        }
        try names.requireAvailable(actor, in: trees)
        let place = try names.place(database, actor, in: trees)
        guard place.ordinal != 0, let user = try names.ordinal(of: .user(actor.user), in: trees) else { return nil }
        return (place.ordinal, user)
    }
}

extension Store {
    /// A client's request for subscriptions: those of the newest state, a result for each id in their order.
    ///
    /// - Throws: ``Refusal`` where nothing can be read at all, and for more ids than ``Limits/itemsPerRequest``.
    public func fetchSubscriptions(
        _ ids: [String], in database: DatabaseID, as actor: Actor
    ) throws -> [Result<NamedSubscription, Refusal>] {
        try options.rules.checkItemCount(ids.count)
        var newest = snapshot()
        newest.acceptsNewer = true
        return try newest.subscriptions(ids, in: database, as: actor)
    }
}

extension NamedSubscription {
    fileprivate init(_ subscription: Subscription, _ names: NameDirectory, _ trees: Snapshot) throws {
        self.init(
            subscription.id, subscription.kind,
            zone: subscription.zone == 0 ? nil : ZoneID(try names.text(.zone, subscription.zone, in: trees)),
            recordType: subscription.recordType == 0
                ? nil : try names.text(.recordType, subscription.recordType, in: trees),
            predicate: subscription.predicate, options: subscription.options, notification: subscription.notification)
    }
}
