import StrataModel
import StrataQuery
import StrataStore

/// A client's request to save and delete subscriptions.
struct SubscriptionsModification: Sendable {
    /// Copies of the subscriptions, made when they were passed.
    let saves: [CKSubscription]
    let deletes: [CKSubscription.ID]

    init(saves: [CKSubscription] = [], deletes: [CKSubscription.ID] = []) {
        self.saves = saves.map { $0.copy() as? CKSubscription ?? $0 }
        self.deletes = deletes
    }
}

struct SubscriptionsOutcome: ModifyOutcome {
    var saves: [(id: CKSubscription.ID, result: Result<CKSubscription, CKError>)] = []
    var deletes: [(id: CKSubscription.ID, error: CKError?)] = []

    static var failureMessage: String { "Failed to modify some subscriptions" }
}

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
            // Invalid subscriptions that the classes allow fail here, each on its own (B270).
            let valid = KeptItems(kept.saves, kept.deletes) { _ in mistakes(in: kept.saves, opened.store) }
            if !valid.errors.isEmpty { try requireAllowedItems(kept.saves.map(\.subscriptionID) + kept.deletes) }
            let models = valid.saves.map { $0.model(for: client.userRecordName) }
            let answer = try await submit(
                .subscriptions(saving: models, deleting: valid.deletes, in: database), to: opened.store)
            let outcome = try outcome(of: valid.saves, valid.deletes, answer)
            return kept.merged(valid.merged(outcome) { $0.subscriptionID }) { $0.subscriptionID }
        }
    }

    /// Returns the errors of invalid subscriptions, by index.
    private func mistakes(in saves: [CKSubscription], _ store: Store) -> [Int: CKError] {
        var errors: [Int: CKError] = [:]
        for (index, subscription) in saves.enumerated() {
            do {
                if let mistake = subscription.mistake { throw mistake }
                try check(subscription, in: store)
            } catch {
                errors[index] = CKError(engine: error)
            }
        }
        return errors
    }

    /// Checks that a query subscription is a valid query. The store's rules check everything else.
    private func check(_ subscription: CKSubscription, in store: Store) throws {
        guard scope != .shared, let subscription = subscription as? CKQuerySubscription,
            let recordType = subscription.recordType, let predicate = subscription.question.tree
        else { return }
        let zone = subscription.zoneID?.model(for: client.userRecordName)
        try store.check(Query(recordType, where: predicate, zone: zone), in: database, as: client.actor)
    }

    /// Makes the checks that the store would make if all items were sent.
    private func requireAllowedItems(_ ids: [CKSubscription.ID]) throws {
        try requireItemCount(ids.count)
        var seen: Set<ExactName> = []
        for id in ids where !seen.insert(ExactName(text: id)).inserted {
            throw CKError(.invalidArguments, message: "Subscription '\(id)' occurs twice in one operation.")
        }
    }

    /// Returns the outcome for the items that were sent, with subscriptions from the state of the answer.
    private func outcome(
        of saves: [CKSubscription], _ deletes: [CKSubscription.ID], _ answer: Answer
    ) throws -> SubscriptionsOutcome {
        var outcome = SubscriptionsOutcome()
        let stored = try answer.snapshot.subscriptions(
            saves.map(\.subscriptionID), in: database, as: client.actor)
        var answered = answer.result.saves.makeIterator()
        for (index, save) in saves.enumerated() {
            let result: Result<CKSubscription, CKError> =
                switch answered.next() {
                // A replayed answer may be older than the deletion of the subscription.
                case .success?: .success((try? stored[index].get()).map { CKSubscription.stored($0) } ?? save)
                case .failure(let refusal)?: .failure(CKError(refusal))
                case nil: .failure(.noResult)
                }
            outcome.saves.append((save.subscriptionID, result))
        }
        for (id, refusal) in zip(deletes, answer.result.deletes) {
            outcome.deletes.append((id, refusal.map { CKError($0) }))
        }
        return outcome
    }
}
