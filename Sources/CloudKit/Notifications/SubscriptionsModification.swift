import Foundation
import StrataModel
import StrataQuery
import StrataStore

/// Subscriptions to save and to delete, as a client asks for it.
struct SubscriptionsModification: Sendable {
    /// As they were when they were passed.
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

    var partialFailure: CKError? {
        let errors = errorsByID
        return errors.isEmpty ? nil : CKError(partialErrors: errors, message: "Failed to modify some subscriptions")
    }
}

/// A request for the store, and what it takes to understand the answer.
///
/// What the classes let pass and nobody could save fails here, alone (B270).
struct EncodedSubscriptions {
    private let modification: SubscriptionsModification
    private let call: DatabaseCall
    /// Of each save that is not sent.
    private var errors: [Int: CKError] = [:]
    let request: Request

    init(_ modification: SubscriptionsModification, _ call: DatabaseCall, _ store: Store) throws {
        self.modification = modification
        self.call = call
        var models: [NamedSubscription] = []
        for (index, subscription) in modification.saves.enumerated() {
            let model = subscription.model(for: call.client.userRecordName)
            do {
                if let mistake = subscription.mistake { throw mistake }
                try Self.check(subscription, model, call, store)
                models.append(model)
            } catch {
                errors[index] = CKError(engine: error)
            }
        }
        request = .subscriptions(saving: models, deleting: modification.deletes, in: call.database)
        if !errors.isEmpty { try requireAllowedItems() }
    }

    /// Whether a query subscription could be asked as a query. The store's rules judge the rest.
    private static func check(
        _ subscription: CKSubscription, _ model: NamedSubscription, _ call: DatabaseCall, _ store: Store
    ) throws {
        guard call.scope != .shared, let subscription = subscription as? CKQuerySubscription,
            let recordType = model.recordType, let predicate = subscription.question.tree
        else { return }
        try store.check(
            Query(recordType, where: predicate, zone: model.zone), in: call.database, as: call.client.actor)
    }

    /// The store would see it, were all items sent.
    private func requireAllowedItems() throws {
        try call.requireItemCount(modification.saves.count + modification.deletes.count)
        var seen: Set<ExactName> = []
        for id in modification.saves.map(\.subscriptionID) + modification.deletes
        where !seen.insert(ExactName(text: id)).inserted {
            throw CKError(.invalidArguments, message: "Subscription '\(id)' comes twice in one operation.")
        }
    }

    /// Subscriptions are those of the answer's own state.
    func outcome(of answer: Answer) throws -> SubscriptionsOutcome {
        var outcome = SubscriptionsOutcome()
        let stored = try answer.snapshot.subscriptions(
            modification.saves.map(\.subscriptionID), in: call.database, as: call.client.actor)
        var answered = answer.result.saves.makeIterator()
        for (index, save) in modification.saves.enumerated() {
            let result: Result<CKSubscription, CKError>
            if let error = errors[index] {
                result = .failure(error)
            } else {
                switch answered.next() {
                // A state that is read later may not have it any more.
                case .success?: result = .success((try? stored[index].get()).map { CKSubscription.stored($0) } ?? save)
                case .failure(let refusal)?: result = .failure(CKError(refusal))
                case nil: result = .failure(CKError(.internalError, message: "The store gave no result."))
                }
            }
            outcome.saves.append((save.subscriptionID, result))
        }
        for (id, refusal) in zip(modification.deletes, answer.result.deletes) {
            outcome.deletes.append((id, refusal.map { CKError($0) }))
        }
        return outcome
    }
}
