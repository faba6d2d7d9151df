/// A subscription by names, as its user sees it.
///
/// ```swift
/// let bargains = NamedSubscription(
///     "bargains", .query, recordType: "Book", predicate: "price < 5", options: .creation)
/// try store.modify(.subscriptions(saving: [bargains], in: DatabaseID(.public)), as: anna)
/// ```
public struct NamedSubscription: Sendable, Hashable {
    public var id: String
    public var kind: Subscription.Kind
    /// The watched zone; nil for no specific zone.
    public var zone: ZoneID?
    /// The watched record type; nil for any type.
    public var recordType: String?
    /// The predicate in format syntax; empty for none.
    public var predicate: String
    public var options: Subscription.Options
    public var notification: NotificationInfo?

    public init(
        _ id: String, _ kind: Subscription.Kind, zone: ZoneID? = nil, recordType: String? = nil, predicate: String = "",
        options: Subscription.Options = [], notification: NotificationInfo? = nil
    ) {
        self.id = id
        self.kind = kind
        self.zone = zone
        self.recordType = recordType
        self.predicate = predicate
        self.options = options
        self.notification = notification
    }
}

extension Request {
    /// Creates a request that saves and deletes subscriptions of the requesting user.
    ///
    /// ```swift
    /// try store.modify(.subscriptions(deleting: ["bargains"], in: DatabaseID(.public)), as: anna)
    /// ```
    public static func subscriptions(
        saving saves: [NamedSubscription] = [], deleting deletes: [String] = [],
        in database: DatabaseID = DatabaseID(.private)
    ) -> Request {
        var names = RequestNames()
        let subscriptions = saves.map { save in
            Subscription(
                save.id, save.kind, zone: save.zone.map { names.ordinal(of: $0) } ?? 0,
                recordType: save.recordType.map { names.ordinal(ofType: $0) } ?? 0, predicate: save.predicate,
                options: save.options, notification: save.notification)
        }
        let body = ModifySubscriptionsRequest(saves: subscriptions, deletes: deletes)
        return Request(database: database, names: names, .modifySubscriptions(body))
    }
}
