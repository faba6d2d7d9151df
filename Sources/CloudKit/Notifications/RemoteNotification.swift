import StrataModel
import StrataStore

/// A push notification as a device receives it.
///
/// ```swift
/// for await push in phone.remoteNotifications {
///     if let note = CKNotification(fromRemoteNotificationDictionary: push.userInfo) as? CKQueryNotification {
///         print(note.recordID as Any)
///     }
/// }
/// ```
// @unchecked: its values are created for it and never changed.
public struct RemoteNotification: @unchecked Sendable {
    /// The urgency of a delivery.
    public enum Priority: Int, Sendable {
        /// When it suits the device, since the notification only lets the app fetch.
        case background = 5
        /// Immediately, since the notification presents something to the user.
        case immediate = 10
    }

    /// The dictionary for `CKNotification(fromRemoteNotificationDictionary:)`.
    public let userInfo: [AnyHashable: Any]
    /// The urgency of the delivery (B192).
    public let priority: Priority
    /// True if the user sees or hears something.
    public var isVisible: Bool { priority == .immediate }
    /// An ID shared by notifications of which only the last is shown.
    public let collapseID: String?
    /// The ID of the subscription that fired.
    public let subscriptionID: CKSubscription.ID

    init(_ push: Push, container: String, userRecordName: String) {
        let payload = PushPayload(push, container: container, userRecordName: userRecordName)
        userInfo = payload.dictionary
        priority = push.notification?.showsSomething == true ? .immediate : .background
        collapseID = push.notification?.collapseIDKey
        subscriptionID = push.subscriptionID
    }
}

extension NotificationInfo {
    /// True if the notification does more than wake the app.
    fileprivate var showsSomething: Bool {
        var silent = NotificationInfo()
        silent.shouldSendContentAvailable = shouldSendContentAvailable
        silent.desiredKeys = desiredKeys
        silent.collapseIDKey = collapseIDKey
        return self != silent
    }
}

extension CKContainer {
    /// The notifications for this device, beginning with those that it missed, while the stream is in use. The stream
    /// ends when the store is closed, and immediately if no user is signed in. It waits while the device has no network
    /// or its account cannot be used.
    ///
    /// ```swift
    /// for await push in phone.remoteNotifications { await sync(push.subscriptionID) }
    /// ```
    public var remoteNotifications: AsyncStream<RemoteNotification> {
        guard let opened = try? client.opened(), let box = try? opened.store.listen(as: client.actor) else {
            return AsyncStream { $0.finish() }
        }
        let listener = PushListener(box)
        let container = client.containerIdentifier
        let client = client
        @Sendable func awaitReach() async {
            await opened.faults.awaitNetwork(of: client.actor) {
                client.accountStatus == .available
            } unless: {
                listener.box.isClosed
            }
        }
        return AsyncStream {
            // Notifications that are not consumed go to the next listener.
            await awaitReach()
            guard let push = await listener.box.next() else { return nil }
            await awaitReach()
            return RemoteNotification(push, container: container, userRecordName: client.userRecordName)
        }
    }
}

/// Listens as long as its stream exists.
private final class PushListener: Sendable {
    let box: PushQueue
    init(_ box: PushQueue) { self.box = box }
    deinit { box.close() }
}
