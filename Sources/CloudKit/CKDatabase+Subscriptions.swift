import Foundation

extension CKDatabase {
    /// A subscription of the user by its id.
    @discardableResult
    public func subscription(for subscriptionID: CKSubscription.ID) async throws -> CKSubscription {
        throw DatabaseCall.notYet("subscriptions")
    }

    /// As ``subscription(for:)``.
    @preconcurrency
    public func fetch(
        withSubscriptionID subscriptionID: CKSubscription.ID,
        completionHandler: @escaping @Sendable (CKSubscription?, Error?) -> Void
    ) { postpone(completionHandler) }

    /// All subscriptions of the user.
    @discardableResult
    public func allSubscriptions() async throws -> [CKSubscription] { throw DatabaseCall.notYet("subscriptions") }

    /// As ``allSubscriptions()``.
    @preconcurrency
    public func fetchAllSubscriptions(completionHandler: @escaping @Sendable ([CKSubscription]?, Error?) -> Void) {
        postpone(completionHandler)
    }

    /// Subscriptions by their ids, with a result for each.
    @discardableResult
    public func subscriptions(
        for ids: [CKSubscription.ID]
    ) async throws -> [CKSubscription.ID: Result<CKSubscription, Error>] {
        throw DatabaseCall.notYet("subscriptions")
    }

    /// As ``subscriptions(for:)``.
    @preconcurrency
    public func fetch(
        withSubscriptionIDs subscriptionIDs: [CKSubscription.ID],
        completionHandler:
            @escaping @Sendable (
                Result<[CKSubscription.ID: Result<CKSubscription, Error>], Error>
            ) -> Void
    ) { postpone(completionHandler) }

    /// Saves a subscription.
    @discardableResult
    public func save(_ subscription: CKSubscription) async throws -> CKSubscription {
        throw DatabaseCall.notYet("subscriptions")
    }

    /// As the asynchronous form.
    @preconcurrency
    public func save(
        _ subscription: CKSubscription, completionHandler: @escaping @Sendable (CKSubscription?, Error?) -> Void
    ) { postpone(completionHandler) }

    /// Deletes a subscription.
    @discardableResult
    public func deleteSubscription(withID subscriptionID: CKSubscription.ID) async throws -> CKSubscription.ID {
        throw DatabaseCall.notYet("subscriptions")
    }

    /// As ``deleteSubscription(withID:)``.
    @preconcurrency
    public func delete(
        withSubscriptionID subscriptionID: CKSubscription.ID,
        completionHandler: @escaping @Sendable (String?, Error?) -> Void
    ) { postpone(completionHandler) }

    /// Saves and deletes subscriptions, each for itself.
    @discardableResult
    public func modifySubscriptions(
        saving subscriptionsToSave: [CKSubscription], deleting subscriptionIDsToDelete: [CKSubscription.ID]
    ) async throws -> (
        saveResults: [CKSubscription.ID: Result<CKSubscription, Error>],
        deleteResults: [CKSubscription.ID: Result<Void, Error>]
    ) {
        throw DatabaseCall.notYet("subscriptions")
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
    ) { postpone(completionHandler) }

    private func postpone<Value>(_ handler: @escaping @Sendable (Value?, Error?) -> Void) {
        client.callbacks.async { handler(nil, DatabaseCall.notYet("subscriptions")) }
    }

    private func postpone<Value>(_ handler: @escaping @Sendable (Result<Value, Error>) -> Void) {
        client.callbacks.async { handler(.failure(DatabaseCall.notYet("subscriptions"))) }
    }
}
