import Foundation

/// Succeeds without effect: Strata does not keep which notifications an app has read.
// @unchecked: like its superclass.
@available(*, deprecated, message: "Notifications are no longer marked as read.")
public final class CKMarkNotificationsReadOperation: CKOperation, @unchecked Sendable {
    /// The notifications to mark.
    public var notificationIDs: [CKNotification.ID]?
    /// Called once, at the end, with the IDs that were passed.
    public var markNotificationsReadCompletionBlock: (([CKNotification.ID]?, Error?) -> Void)?

    /// Creates an operation without notifications.
    public override init() { super.init() }

    /// Creates an operation that marks notifications as read.
    public convenience init(notificationIDsToMarkRead notificationIDs: [CKNotification.ID]) {
        self.init()
        self.notificationIDs = notificationIDs
    }

    override func makeRun() -> (any OperationRun)? {
        let client = effectiveContainer.client
        let (ids, completion) = (notificationIDs ?? [], markNotificationsReadCompletionBlock)
        return SingleRun(
            settings: settings, make: { try client.requireAccount() },
            report: { result in completion?(result.oldError == nil ? ids : nil, result.oldError) })
    }
}
