import Foundation
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

/// A request for the store, with the state needed to interpret its answer.
///
/// Invalid subscriptions that the classes allow fail here, each on its own (B270).
struct EncodedSubscriptions {
    private let modification: SubscriptionsModification
    private let call: DatabaseCall
    /// The error of each save that is not sent.
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
                try Self.check(subscription, model, in: store, call)
                models.append(model)
            } catch {
                errors[index] = CKError(engine: error)
            }
        }
        request = .subscriptions(saving: models, deleting: modification.deletes, in: call.database)
        if !errors.isEmpty { try requireAllowedItems() }
    }

    /// Checks that a query subscription is a valid query. The store's rules check everything else.
    private static func check(
        _ subscription: CKSubscription, _ model: NamedSubscription, in store: Store, _ call: DatabaseCall
    ) throws {
        guard call.scope != .shared, let subscription = subscription as? CKQuerySubscription,
            let recordType = model.recordType, let predicate = subscription.question.tree
        else { return }
        try store.check(
            Query(recordType, where: predicate, zone: model.zone), in: call.database, as: call.client.actor)
    }

    /// Makes the checks that the store would make if all items were sent.
    private func requireAllowedItems() throws {
        try call.requireItemCount(modification.saves.count + modification.deletes.count)
        var seen: Set<ExactName> = []
        for id in modification.saves.map(\.subscriptionID) + modification.deletes
        where !seen.insert(ExactName(text: id)).inserted {
            throw CKError(.invalidArguments, message: "Subscription '\(id)' occurs twice in one operation.")
        }
    }

    /// Returns the outcome for all items, with subscriptions from the state of the answer.
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
                // A replayed answer may be older than the deletion of the subscription.
                case .success?: result = .success((try? stored[index].get()).map { CKSubscription.stored($0) } ?? save)
                case .failure(let refusal)?: result = .failure(CKError(refusal))
                case nil: result = .failure(.noResult)
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
