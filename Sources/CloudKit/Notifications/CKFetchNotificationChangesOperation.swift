import Foundation

/// Succeeds without finding a notification: Strata keeps none. Use ``CKContainer/remoteNotifications``.
// @unchecked: like its superclass.
@available(*, deprecated, message: "Fetch the changes of databases and zones instead.")
public final class CKFetchNotificationChangesOperation: CKOperation, @unchecked Sendable {
    /// The token of an earlier fetch, which this one passes on.
    public var previousServerChangeToken: CKServerChangeToken?
    /// The maximum number of notifications; 0 for no limit.
    public var resultsLimit = 0
    /// False: there are never more notifications.
    public var moreComing: Bool { false }
    /// Never called.
    public var notificationChangedBlock: ((CKNotification) -> Void)?
    /// Called once, at the end, with the previous token.
    public var fetchNotificationChangesCompletionBlock: ((CKServerChangeToken?, Error?) -> Void)?

    /// Creates an operation without a token.
    public override init() { super.init() }

    /// Creates an operation that continues from a token.
    public convenience init(previousServerChangeToken: CKServerChangeToken?) {
        self.init()
        self.previousServerChangeToken = previousServerChangeToken
    }

    override func makeRun() -> (any OperationRun)? {
        let client = effectiveContainer.client
        let (token, completion) = (previousServerChangeToken, fetchNotificationChangesCompletionBlock)
        return SingleRun(
            settings: settings, make: { try client.requireAccount() },
            report: { result in completion?(result.oldError == nil ? token : nil, result.oldError) })
    }
}
