import Foundation

/// Fetches subscriptions by their ids, or all of a user in a database.
///
/// ```swift
/// let operation = CKFetchSubscriptionsOperation.fetchAllSubscriptionsOperation()
/// operation.perSubscriptionResultBlock = { id, result in print(id, result) }
/// database.add(operation)
/// ```
// @unchecked: as its superclass.
public final class CKFetchSubscriptionsOperation: CKDatabaseOperation, @unchecked Sendable {
    /// The subscriptions to fetch.
    public var subscriptionIDs: [CKSubscription.ID]?

    /// Called once for each subscription.
    public var perSubscriptionResultBlock:
        ((_ subscriptionID: CKSubscription.ID, _ subscriptionResult: Result<CKSubscription, Error>) -> Void)?
    /// Called once, last. Errors of single subscriptions are no failure of the whole.
    public var fetchSubscriptionsResultBlock: ((_ operationResult: Result<Void, Error>) -> Void)?

    private var completion: (([CKSubscription.ID: CKSubscription]?, Error?) -> Void)?
    private var fetchesAll = false

    /// Called once, last, unless `fetchSubscriptionsResultBlock` is set; with `partialFailure` if one failed.
    @available(*, deprecated, message: "Use fetchSubscriptionsResultBlock.")
    public var fetchSubscriptionCompletionBlock: (([CKSubscription.ID: CKSubscription]?, Error?) -> Void)? {
        get { completion }
        set { completion = newValue }
    }

    /// An operation that does nothing until it gets ids.
    public required override init() { super.init() }

    /// An operation that fetches subscriptions.
    public convenience init(subscriptionIDs: [CKSubscription.ID]) {
        self.init()
        self.subscriptionIDs = subscriptionIDs
    }

    /// An operation that fetches all subscriptions of the user.
    public class func fetchAllSubscriptionsOperation() -> Self {
        let operation = self.init()
        operation.fetchesAll = true
        return operation
    }

    override func makeRun() -> (any OperationRun)? {
        Run(
            call: call, ids: fetchesAll ? nil : subscriptionIDs ?? [], subscription: perSubscriptionResultBlock,
            result: fetchSubscriptionsResultBlock, completion: completion)
    }

    // @unchecked: the blocks are called on the operation's own queue alone.
    private struct Run: OperationRun, @unchecked Sendable {
        typealias Outcome = [(id: CKSubscription.ID, result: Result<CKSubscription, CKError>)]

        let call: DatabaseCall
        /// Nil for all subscriptions.
        let ids: [CKSubscription.ID]?
        let subscription: ((CKSubscription.ID, Result<CKSubscription, Error>) -> Void)?
        let result: ((Result<Void, Error>) -> Void)?
        let completion: (([CKSubscription.ID: CKSubscription]?, Error?) -> Void)?

        var settings: CallSettings { call.settings }
        var timeoutCode: CKError.Code { .networkFailure }

        func perform(_: OperationPieces) async throws -> Outcome {
            guard let ids else { return try call.allSubscriptions().map { ($0.subscriptionID, .success($0)) } }
            return try call.subscriptions(ids)
        }

        func deliver(_ outcome: Result<Outcome, CKError>, isCancelled: () -> Bool) {
            switch outcome {
            case .success(let outcome): deliver(outcome, isCancelled)
            case .failure(let error) where error.code == .operationCancelled:
                deliver(DatabaseCall.unique(ids ?? []).map { ($0, .failure(error)) }, isCancelled)
            case .failure(let error): finish(nil, error, error)
            }
        }

        private func deliver(_ outcome: Outcome, _ isCancelled: () -> Bool) {
            var fetched: [CKSubscription.ID: CKSubscription] = [:]
            var errors: [AnyHashable: any Error] = [:]
            for (id, found) in outcome {
                let result = isCancelled() ? .failure(.cancelled) : found
                switch result {
                case .success(let found): fetched[id] = found
                case .failure(let error): errors[id] = error
                }
                subscription?(id, result.mapError { $0 })
            }
            if isCancelled() { return finish(fetched, .cancelled, .cancelled) }
            finish(
                fetched, nil,
                errors.isEmpty ? nil : CKError(partialErrors: errors, message: "Failed to fetch some subscriptions"))
        }

        private func finish(_ fetched: [CKSubscription.ID: CKSubscription]?, _ error: CKError?, _ oldError: CKError?) {
            if let result { return result(error.map { .failure($0) } ?? .success(())) }
            completion?(fetched, oldError)
        }
    }
}
