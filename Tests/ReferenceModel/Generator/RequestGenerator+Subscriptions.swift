import StrataModel

extension RequestGenerator {
    static let subscriptionIDs = ["s1", "s2", "s3", "s4"]

    mutating func modifyingSubscriptions(_ store: ReferenceStore, _ actor: Actor) -> Request {
        let scope = dice.pick([InternedName.Scope.private, .private, .private, .public, .shared])
        var database = DatabaseID(scope)
        if dice.chance(3) { database.owner = dice.pick(Self.users) }
        let kept =
            store.state.databases[DatabaseID(scope, owner: scope == .public ? "" : actor.user)]?
            .subscriptions[actor.user]?.values.map(\.content).sorted { $0.id < $1.id } ?? []
        var saves: [NamedSubscription] = []
        var deletes: [String] = []
        for _ in 0..<(dice.chance(3) ? 0 : 1 + dice.number(below: 3)) {
            let id = dice.chance(4) ? dice.pick(["", "bell\u{7}", "_x"]) : dice.pick(Self.subscriptionIDs)
            let isThere = (saves.map(\.id) + deletes).contains(id)
            guard !isThere || dice.chance(10) else { continue }
            if dice.chance(25) {
                deletes.append(id)
            } else if !kept.isEmpty, dice.chance(35) {
                var save = dice.pick(kept)
                if dice.chance(60) { save.id = id }
                if dice.chance(30) { save.notification = drawNotification() }
                saves.append(save)
            } else {
                saves.append(drawSubscription(id, store, actor, scope))
            }
        }
        return .subscriptions(saving: saves, deleting: deletes, in: database)
    }

    private mutating func drawSubscription(
        _ id: String, _ store: ReferenceStore, _ actor: Actor, _ scope: InternedName.Scope
    ) -> NamedSubscription {
        var subscription = NamedSubscription(id, .query, notification: drawNotification())
        switch scope {
        case .private: subscription.kind = dice.pick(Subscription.Kind.allCases)
        case .public: break
        case .shared: subscription.kind = .database
        }
        if dice.chance(5) { subscription.kind = dice.pick(Subscription.Kind.allCases) }
        if subscription.kind == .recordZone || subscription.kind == .query && dice.chance(40) || dice.chance(2) {
            let name = dice.chance(10) ? "_defaultZone" : dice.pick(Self.zones)
            subscription.zone = ZoneID(name, owner: drawOwner(store, actor.user))
        }
        if subscription.kind == .recordZone, dice.chance(2) { subscription.zone = nil }
        let isQuery = subscription.kind == .query
        if isQuery || dice.chance(30) { subscription.recordType = dice.pick(["Note", "Note", "Task", "Later"]) }
        if dice.chance(7) { subscription.recordType = dice.pick(["Users", "Users", "1x", ""]) }
        if isQuery || dice.chance(2) { subscription.predicate = dice.pick(["TRUEPREDICATE", "n > 1", "n > 2"]) }
        if isQuery || dice.chance(2) {
            subscription.options = Subscription.Options(rawValue: UInt64(dice.number(below: 4)) | 4)
            if dice.chance(12) { subscription.options = dice.pick([[], .once]) }
        }
        return subscription
    }

    private mutating func drawNotification() -> NotificationInfo? {
        guard dice.chance(50) else { return nil }
        var notification = NotificationInfo()
        if dice.chance(50) { notification.alertBody = dice.pick(["one", "two"]) }
        if dice.chance(20) { notification.desiredKeys = Array(["a", "b", "c", "d"].prefix(1 + dice.number(below: 4))) }
        return notification
    }
}
