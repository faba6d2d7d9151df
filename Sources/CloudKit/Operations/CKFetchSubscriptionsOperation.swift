import Foundation

/// Fetches subscriptions by their IDs, or all of a user's subscriptions in a database.
///
/// ```swift
/// let operation = CKFetchSubscriptionsOperation.fetchAllSubscriptionsOperation()
/// operation.perSubscriptionResultBlock = { id, result in print(id, result) }
/// database.add(operation)
/// ```
// @unchecked: like its superclass.
public final class CKFetchSubscriptionsOperation: CKDatabaseOperation, @unchecked Sendable {
    /// The subscriptions to fetch.
    public var subscriptionIDs: [CKSubscription.ID]?

    /// Called once for each subscription.
    public var perSubscriptionResultBlock:
        ((_ subscriptionID: CKSubscription.ID, _ subscriptionResult: Result<CKSubscription, Error>) -> Void)?
    /// Called once, at the end. Errors of single subscriptions do not fail the operation.
    public var fetchSubscriptionsResultBlock: ((_ operationResult: Result<Void, Error>) -> Void)?

    private var completion: (([CKSubscription.ID: CKSubscription]?, Error?) -> Void)?
    private var fetchesAll = false

    /// Called once, at the end, unless `fetchSubscriptionsResultBlock` is set; with `partialFailure` if one failed.
    @available(*, deprecated, message: "Use fetchSubscriptionsResultBlock.")
    public var fetchSubscriptionCompletionBlock: (([CKSubscription.ID: CKSubscription]?, Error?) -> Void)? {
        get { completion }
        set { completion = newValue }
    }

    /// Creates an operation that does nothing until it has IDs.
    public required override init() { super.init() }

    init(_ id: ID, _ archive: OperationArchive) {
        super.init(operationID: id)
        subscriptionIDs = archive.subscriptionIDs
        fetchesAll = archive.fetchesSpecial
    }

    override var archive: (kind: LongLivedOperation.Kind, properties: OperationArchive)? {
        var archive = OperationArchive()
        archive.subscriptionIDs = subscriptionIDs
        archive.fetchesSpecial = fetchesAll
        return (.fetchSubscriptions, archive)
    }

    /// Creates an operation that fetches subscriptions.
    public convenience init(subscriptionIDs: [CKSubscription.ID]) {
        self.init()
        self.subscriptionIDs = subscriptionIDs
    }

    /// Returns an operation that fetches all subscriptions of the user.
    public class func fetchAllSubscriptionsOperation() -> Self {
        let operation = self.init()
        operation.fetchesAll = true
        return operation
    }

    override func makeRun() -> (any OperationRun)? {
        let call = call
        return FetchRun(
            settings: call.settings, ids: fetchesAll ? nil : subscriptionIDs ?? [],
            unique: DatabaseCall.uniqueTexts, failureMessage: "Failed to fetch some subscriptions",
            fetch: { ids, _ in
                guard let ids else {
                    return try await call.allSubscriptions().map { ($0.subscriptionID, .success($0)) }
                }
                return try await call.subscriptions(ids)
            }, item: perSubscriptionResultBlock, result: fetchSubscriptionsResultBlock, completion: completion)
    }
}
