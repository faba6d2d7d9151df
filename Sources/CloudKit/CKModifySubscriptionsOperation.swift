import Foundation

/// Saves and deletes subscriptions, each for itself.
///
/// ```swift
/// let operation = CKModifySubscriptionsOperation(subscriptionsToSave: [subscription])
/// operation.modifySubscriptionsResultBlock = { result in print("done", result) }
/// database.add(operation)
/// ```
// @unchecked: as its superclass.
public final class CKModifySubscriptionsOperation: CKDatabaseOperation, @unchecked Sendable {
    /// The subscriptions to save.
    public var subscriptionsToSave: [CKSubscription]?
    /// The subscriptions to delete.
    public var subscriptionIDsToDelete: [CKSubscription.ID]?

    /// Called once for each subscription to save.
    public var perSubscriptionSaveBlock:
        ((_ subscriptionID: CKSubscription.ID, _ saveResult: Result<CKSubscription, Error>) -> Void)?
    /// Called once for each subscription to delete.
    public var perSubscriptionDeleteBlock:
        ((_ subscriptionID: CKSubscription.ID, _ deleteResult: Result<Void, Error>) -> Void)?
    /// Called once, last. Errors of single subscriptions are no failure of the whole.
    public var modifySubscriptionsResultBlock: ((_ operationResult: Result<Void, Error>) -> Void)?

    private var completion: (([CKSubscription]?, [CKSubscription.ID]?, Error?) -> Void)?

    /// Called once, last, unless `modifySubscriptionsResultBlock` is set; with `partialFailure` if a subscription
    /// failed.
    @available(*, deprecated, message: "Use modifySubscriptionsResultBlock.")
    public var modifySubscriptionsCompletionBlock: (([CKSubscription]?, [CKSubscription.ID]?, Error?) -> Void)? {
        get { completion }
        set { completion = newValue }
    }

    /// An operation that does nothing until it gets subscriptions.
    public override init() { super.init() }

    /// An operation that saves and deletes subscriptions.
    public convenience init(
        subscriptionsToSave: [CKSubscription]? = nil, subscriptionIDsToDelete: [CKSubscription.ID]? = nil
    ) {
        self.init()
        self.subscriptionsToSave = subscriptionsToSave
        self.subscriptionIDsToDelete = subscriptionIDsToDelete
    }

    override func makeRun() -> (any OperationRun)? {
        Run(
            call: call,
            modification: SubscriptionsModification(
                saves: subscriptionsToSave ?? [], deletes: subscriptionIDsToDelete ?? []),
            save: perSubscriptionSaveBlock, delete: perSubscriptionDeleteBlock,
            result: modifySubscriptionsResultBlock, completion: completion)
    }

    // @unchecked: the blocks are called on the operation's own queue alone.
    private struct Run: OperationRun, @unchecked Sendable {
        let call: DatabaseCall
        let modification: SubscriptionsModification
        let save: ((CKSubscription.ID, Result<CKSubscription, Error>) -> Void)?
        let delete: ((CKSubscription.ID, Result<Void, Error>) -> Void)?
        let result: ((Result<Void, Error>) -> Void)?
        let completion: (([CKSubscription]?, [CKSubscription.ID]?, Error?) -> Void)?

        var settings: CallSettings { call.settings }
        var timeoutCode: CKError.Code { .serverResponseLost }

        func perform(_: OperationPieces) async throws -> SubscriptionsOutcome { try await call.modify(modification) }

        func deliver(_ outcome: Result<SubscriptionsOutcome, CKError>, isCancelled: () -> Bool) {
            switch outcome {
            case .success(let outcome):
                deliver(outcome)
                let error = isCancelled() ? CKError.cancelled : nil
                finish(outcome, error, error ?? outcome.partialFailure)
            case .failure(let error) where error.code == .operationCancelled:
                var outcome = SubscriptionsOutcome()
                outcome.saves = modification.saves.map { ($0.subscriptionID, .failure(error)) }
                outcome.deletes = modification.deletes.map { ($0, error) }
                deliver(outcome)
                finish(nil, error, error)
            case .failure(let error): finish(nil, error, error)
            }
        }

        private func deliver(_ outcome: SubscriptionsOutcome) {
            for (id, result) in outcome.saves { save?(id, result.mapError { $0 }) }
            for (id, error) in outcome.deletes { delete?(id, error.map { .failure($0) } ?? .success(())) }
        }

        private func finish(_ outcome: SubscriptionsOutcome?, _ error: CKError?, _ oldError: CKError?) {
            if let result { return result(error.map { .failure($0) } ?? .success(())) }
            completion?(
                outcome?.saves.compactMap { try? $0.result.get() },
                outcome?.deletes.compactMap { $0.error == nil ? $0.id : nil }, oldError)
        }
    }
}
