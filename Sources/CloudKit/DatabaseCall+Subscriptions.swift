import Foundation
import StrataModel
import StrataStore

extension DatabaseCall {
    // MARK: Fetching

    // Subscriptions belong to a user, so that nobody has any without an account, in the public database neither.

    func allSubscriptions() throws -> [CKSubscription] {
        do {
            let snapshot = try client.writable().store.snapshot()
            return try snapshot.subscriptions(in: database, as: client.actor).map { CKSubscription.stored($0) }
        } catch {
            throw CKError(engine: error)
        }
    }

    func subscription(_ id: CKSubscription.ID) throws -> CKSubscription {
        guard let subscription = try subscriptions([id]).first else {
            throw CKError(.internalError, message: "The store gave no result.")
        }
        return try subscription.result.get()
    }

    /// A result for each id, in their order; one that is named twice comes once.
    func subscriptions(
        _ ids: [CKSubscription.ID]
    ) throws -> [(id: CKSubscription.ID, result: Result<CKSubscription, CKError>)] {
        do {
            let ids = Self.unique(ids)
            let found = try client.writable().store.fetchSubscriptions(ids, in: database, as: client.actor)
            return zip(ids, found).map { id, result in
                (id, result.map { CKSubscription.stored($0) }.mapError { CKError($0) })
            }
        } catch {
            throw CKError(engine: error)
        }
    }

    func subscriptionsByID(
        _ ids: [CKSubscription.ID]
    ) throws -> [CKSubscription.ID: Result<CKSubscription, Error>] {
        var results: [CKSubscription.ID: Result<CKSubscription, Error>] = [:]
        for (id, result) in try subscriptions(ids) { results[id] = result.mapError { $0 } }
        return results
    }

    // MARK: Modifying

    func delete(subscription id: CKSubscription.ID) async throws -> CKSubscription.ID {
        let outcome = try await modify(SubscriptionsModification(deletes: [id]))
        if let error = outcome.deletes.first?.error { throw error }
        return id
    }

    /// - Throws: What fails for all items.
    func modify(_ modification: SubscriptionsModification) async throws -> SubscriptionsOutcome {
        do {
            let opened = try client.writable()
            let encoded = try EncodedSubscriptions(modification, self, opened.store)
            let answer = try await submit(encoded.request, to: opened.store)
            return try encoded.outcome(of: answer)
        } catch {
            throw CKError(engine: error)
        }
    }
}
