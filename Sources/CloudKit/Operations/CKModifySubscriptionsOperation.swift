import Foundation

/// Saves and deletes subscriptions independently.
///
/// ```swift
/// let operation = CKModifySubscriptionsOperation(subscriptionsToSave: [subscription])
/// operation.modifySubscriptionsResultBlock = { result in print("done", result) }
/// database.add(operation)
/// ```
// @unchecked: like its superclass.
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
    /// Called once, at the end. Errors of single subscriptions do not fail the operation.
    public var modifySubscriptionsResultBlock: ((_ operationResult: Result<Void, Error>) -> Void)?

    private var completion: (([CKSubscription]?, [CKSubscription.ID]?, Error?) -> Void)?

    /// Called once, at the end, unless `modifySubscriptionsResultBlock` is set; with `partialFailure` if a subscription
    /// failed.
    @available(*, deprecated, message: "Use modifySubscriptionsResultBlock.")
    public var modifySubscriptionsCompletionBlock: (([CKSubscription]?, [CKSubscription.ID]?, Error?) -> Void)? {
        get { completion }
        set { completion = newValue }
    }

    /// Creates an operation that does nothing until it has subscriptions.
    public override init() { super.init() }

    init(_ id: ID, _ archive: OperationArchive) {
        super.init(operationID: id)
        subscriptionsToSave = archive.subscriptions
        subscriptionIDsToDelete = archive.subscriptionIDs
    }

    override var archive: (kind: LongLivedOperation.Kind, properties: OperationArchive)? {
        var archive = OperationArchive()
        archive.subscriptions = subscriptionsToSave
        archive.subscriptionIDs = subscriptionIDsToDelete
        return (.modifySubscriptions, archive)
    }

    /// Creates an operation that saves and deletes subscriptions.
    public convenience init(
        subscriptionsToSave: [CKSubscription]? = nil, subscriptionIDsToDelete: [CKSubscription.ID]? = nil
    ) {
        self.init()
        self.subscriptionsToSave = subscriptionsToSave
        self.subscriptionIDsToDelete = subscriptionIDsToDelete
    }

    override func makeRun() -> (any OperationRun)? {
        let call = call
        let modification = SubscriptionsModification(
            saves: subscriptionsToSave ?? [], deletes: subscriptionIDsToDelete ?? [])
        return ModifyRun(
            settings: call.settings, saveIDs: modification.saves.map(\.subscriptionID),
            deleteIDs: modification.deletes, modify: { _ in try await call.modify(modification) },
            save: perSubscriptionSaveBlock, delete: perSubscriptionDeleteBlock,
            result: modifySubscriptionsResultBlock, completion: completion)
    }
}
