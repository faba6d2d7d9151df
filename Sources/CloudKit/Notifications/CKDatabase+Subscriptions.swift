extension CKDatabase {
    // MARK: One subscription

    /// Fetches a subscription of the user by its ID.
    ///
    /// - Throws: `unknownItem` if the user has no such subscription in this database.
    @discardableResult
    public func subscription(for subscriptionID: CKSubscription.ID) async throws -> CKSubscription {
        try await call.subscriptions([subscriptionID]).only()
    }

    /// Returns all subscriptions of the user in this database.
    @discardableResult
    public func allSubscriptions() async throws -> [CKSubscription] { try await call.allSubscriptions() }

    /// Fetches subscriptions by their IDs, with a result for each.
    @discardableResult
    public func subscriptions(
        for ids: [CKSubscription.ID]
    ) async throws -> [CKSubscription.ID: Result<CKSubscription, Error>] {
        try await call.subscriptions(ids).byItem()
    }

    /// Saves a subscription; it replaces an existing one with the same ID.
    ///
    /// ```swift
    /// let subscription = CKDatabaseSubscription(subscriptionID: "all-changes")
    /// try await container.privateCloudDatabase.save(subscription)
    /// ```
    ///
    /// - Throws: `serverRejectedRequest` if the user has an equal subscription with another ID, `badDatabase` in a
    ///   database that does not support such subscriptions, `zoneNotFound`, `invalidArguments`.
    @discardableResult
    public func save(_ subscription: CKSubscription) async throws -> CKSubscription {
        try await call.modify(SubscriptionsModification(saves: [subscription])).onlySave()
    }

    /// Deletes a subscription.
    ///
    /// - Throws: `unknownItem` if the user has no such subscription in this database.
    @discardableResult
    public func deleteSubscription(withID subscriptionID: CKSubscription.ID) async throws -> CKSubscription.ID {
        try await call.modify(SubscriptionsModification(deletes: [subscriptionID])).onlyDelete()
    }

    // MARK: Many subscriptions

    /// Saves and deletes subscriptions independently: the failure of one does not affect the others.
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
}

extension SendableHandlers where Self: CKDatabase {
    /// The same as ``CKDatabase/subscription(for:)``, with a completion handler.
    @preconcurrency
    public func fetch(
        withSubscriptionID subscriptionID: CKSubscription.ID,
        completionHandler: @escaping @Sendable (CKSubscription?, Error?) -> Void
    ) {
        call.answer(completionHandler) { try await $0.subscriptions([subscriptionID]).only() }
    }

    /// The same as ``CKDatabase/allSubscriptions()``, with a completion handler.
    @preconcurrency
    public func fetchAllSubscriptions(completionHandler: @escaping @Sendable ([CKSubscription]?, Error?) -> Void) {
        call.answer(completionHandler) { try await $0.allSubscriptions() }
    }

    /// The same as ``CKDatabase/subscriptions(for:)``, with a completion handler.
    @preconcurrency
    public func fetch(
        withSubscriptionIDs subscriptionIDs: [CKSubscription.ID],
        completionHandler:
            @escaping @Sendable (
                Result<[CKSubscription.ID: Result<CKSubscription, Error>], Error>
            ) -> Void
    ) {
        call.answer(completionHandler) { try await $0.subscriptions(subscriptionIDs).byItem() }
    }

    /// The same as the asynchronous form, with a completion handler.
    @preconcurrency
    public func save(
        _ subscription: CKSubscription, completionHandler: @escaping @Sendable (CKSubscription?, Error?) -> Void
    ) {
        let modification = SubscriptionsModification(saves: [subscription])
        call.answer(completionHandler) { try await $0.modify(modification).onlySave() }
    }

    /// The same as ``CKDatabase/deleteSubscription(withID:)``, with a completion handler.
    @preconcurrency
    public func delete(
        withSubscriptionID subscriptionID: CKSubscription.ID,
        completionHandler: @escaping @Sendable (String?, Error?) -> Void
    ) {
        call.answer(completionHandler) {
            try await $0.modify(SubscriptionsModification(deletes: [subscriptionID])).onlyDelete()
        }
    }

    /// The same as ``CKDatabase/modifySubscriptions(saving:deleting:)``, with a completion handler.
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
        let modification = SubscriptionsModification(saves: subscriptionsToSave, deletes: subscriptionIDsToDelete)
        call.answer(completionHandler) { try await $0.modify(modification).byID() }
    }
}
