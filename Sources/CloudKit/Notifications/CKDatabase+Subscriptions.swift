import Foundation

extension CKDatabase {
    // MARK: One subscription

    /// A subscription of the user by its id.
    ///
    /// - Throws: `unknownItem` if the user has none of that id in this database.
    @discardableResult
    public func subscription(for subscriptionID: CKSubscription.ID) async throws -> CKSubscription {
        try await call.subscription(subscriptionID)
    }

    /// As ``subscription(for:)``.
    @preconcurrency
    public func fetch(
        withSubscriptionID subscriptionID: CKSubscription.ID,
        completionHandler: @escaping @Sendable (CKSubscription?, Error?) -> Void
    ) {
        let call = call
        client.answer({ try await call.subscription(subscriptionID) }, with: completionHandler)
    }

    /// All subscriptions of the user.
    @discardableResult
    public func allSubscriptions() async throws -> [CKSubscription] { try await call.allSubscriptions() }

    /// As ``allSubscriptions()``.
    @preconcurrency
    public func fetchAllSubscriptions(completionHandler: @escaping @Sendable ([CKSubscription]?, Error?) -> Void) {
        let call = call
        client.answer({ try await call.allSubscriptions() }, with: completionHandler)
    }

    /// Subscriptions by their ids, with a result for each.
    @discardableResult
    public func subscriptions(
        for ids: [CKSubscription.ID]
    ) async throws -> [CKSubscription.ID: Result<CKSubscription, Error>] {
        try await call.subscriptionsByID(ids)
    }

    /// As ``subscriptions(for:)``.
    @preconcurrency
    public func fetch(
        withSubscriptionIDs subscriptionIDs: [CKSubscription.ID],
        completionHandler:
            @escaping @Sendable (
                Result<[CKSubscription.ID: Result<CKSubscription, Error>], Error>
            ) -> Void
    ) {
        let call = call
        client.answer({ try await call.subscriptionsByID(subscriptionIDs) }, with: completionHandler)
    }

    /// Saves a subscription; one of the same id takes its place.
    ///
    /// ```swift
    /// let subscription = CKDatabaseSubscription(subscriptionID: "all-changes")
    /// try await container.privateCloudDatabase.save(subscription)
    /// ```
    ///
    /// - Throws: `serverRejectedRequest` if the user has subscribed to the same under another id, `badDatabase` in a
    ///   database that does not have such subscriptions, `zoneNotFound`, `invalidArguments`.
    @discardableResult
    public func save(_ subscription: CKSubscription) async throws -> CKSubscription {
        try await call.modify(SubscriptionsModification(saves: [subscription])).onlySave()
    }

    /// As the asynchronous form.
    @preconcurrency
    public func save(
        _ subscription: CKSubscription, completionHandler: @escaping @Sendable (CKSubscription?, Error?) -> Void
    ) {
        let call = call
        let modification = SubscriptionsModification(saves: [subscription])
        client.answer({ try await call.modify(modification).onlySave() }, with: completionHandler)
    }

    /// Deletes a subscription.
    ///
    /// - Throws: `unknownItem` if the user has none of that id in this database.
    @discardableResult
    public func deleteSubscription(withID subscriptionID: CKSubscription.ID) async throws -> CKSubscription.ID {
        try await call.delete(subscription: subscriptionID)
    }

    /// As ``deleteSubscription(withID:)``.
    @preconcurrency
    public func delete(
        withSubscriptionID subscriptionID: CKSubscription.ID,
        completionHandler: @escaping @Sendable (String?, Error?) -> Void
    ) {
        let call = call
        client.answer({ try await call.delete(subscription: subscriptionID) }, with: completionHandler)
    }

    // MARK: Many subscriptions

    /// Saves and deletes subscriptions, each for itself.
    @discardableResult
    public func modifySubscriptions(
        saving subscriptionsToSave: [CKSubscription], deleting subscriptionIDsToDelete: [CKSubscription.ID]
    ) async throws -> (
        saveResults: [CKSubscription.ID: Result<CKSubscription, Error>],
        deleteResults: [CKSubscription.ID: Result<Void, Error>]
    ) {
        try await call.modify(
            SubscriptionsModification(saves: subscriptionsToSave, deletes: subscriptionIDsToDelete)
        ).byID()
    }

    /// As ``modifySubscriptions(saving:deleting:)``.
    @preconcurrency
    public func modifySubscriptions(
        saving subscriptionsToSave: [CKSubscription], deleting subscriptionIDsToDelete: [CKSubscription.ID],
        completionHandler:
            @escaping @Sendable (
                Result<
                    (
                        saveResults: [CKSubscription.ID: Result<CKSubscription, Error>],
                        deleteResults: [CKSubscription.ID: Result<Void, Error>]
                    ), Error
                >
            ) -> Void
    ) {
        let call = call
        let modification = SubscriptionsModification(saves: subscriptionsToSave, deletes: subscriptionIDsToDelete)
        client.answer({ try await call.modify(modification).byID() }, with: completionHandler)
    }
}
