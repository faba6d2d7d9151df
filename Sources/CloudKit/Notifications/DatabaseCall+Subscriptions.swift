import StrataModel
import StrataStore

extension DatabaseCall {
    // MARK: Fetching

    nonisolated(nonsending) func allSubscriptions() async throws -> [CKSubscription] {
        try await asking(.fetchSubscriptions) { opened in
            let snapshot = opened.store.newest
            return try snapshot.subscriptions(in: database, as: client.actor).map { CKSubscription.stored($0) }
        }
    }

    /// Returns a result for each ID, in order; a repeated ID has one result.
    nonisolated(nonsending) func subscriptions(
        _ ids: [CKSubscription.ID]
    ) async throws -> [(id: CKSubscription.ID, result: Result<CKSubscription, CKError>)] {
        try await asking(.fetchSubscriptions) { opened in
            let ids = Self.uniqueTexts(ids)
            let found = try opened.store.fetchSubscriptions(ids, in: database, as: client.actor)
            let errors = itemErrors(ids.count, .fetchSubscriptions, opened)
            return zip(ids, found).enumerated().map { index, found in
                if let error = errors[index] { return (found.0, .failure(error)) }
                return (found.0, found.1.map { CKSubscription.stored($0) }.mapError { CKError($0) })
            }
        }
    }

    // MARK: Modifying

    /// - Throws: An error that affects all items.
    func modify(_ modification: SubscriptionsModification) async throws -> SubscriptionsOutcome {
        try await asking(.modifySubscriptions) { opened in
            let kept = KeptItems(modification.saves, modification.deletes) {
                itemErrors($0, .modifySubscriptions, opened)
            }
            let sent = SubscriptionsModification(saves: kept.saves, deletes: kept.deletes)
            let encoded = try EncodedSubscriptions(sent, self, opened.store)
            let answer = try await submit(encoded.request, to: opened.store)
            return kept.merged(try encoded.outcome(of: answer)) { $0.subscriptionID }
        }
    }
}
