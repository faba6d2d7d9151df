import Foundation
import StrataModel
import StrataStore

/// A push notification, as a device gets it.
///
/// ```swift
/// for await push in phone.remoteNotifications {
///     if let note = CKNotification(fromRemoteNotificationDictionary: push.userInfo) as? CKQueryNotification {
///         print(note.recordID as Any)
///     }
/// }
/// ```
// @unchecked: its values are made for it and never changed.
public struct RemoteNotification: @unchecked Sendable {
    /// How soon a device is to be told.
    public enum Priority: Int, Sendable {
        /// When it suits the device: it only lets the app fetch.
        case background = 5
        /// At once: there is something to see or hear.
        case immediate = 10
    }

    /// What `CKNotification(fromRemoteNotificationDictionary:)` reads.
    public let userInfo: [AnyHashable: Any]
    /// How soon the device is to be told (B192).
    public let priority: Priority
    /// Whether the user sees or hears something.
    public var isVisible: Bool { priority == .immediate }
    /// Of notifications with the same one, only the last is to be shown.
    public let collapseID: String?
    /// The subscription that fired.
    public let subscriptionID: CKSubscription.ID

    init(_ push: Push, container: String) {
        let payload = PushPayload(push, container: container)
        userInfo = payload.dictionary
        priority = push.notification?.showsSomething == true ? .immediate : .background
        collapseID = push.notification?.collapseIDKey
        subscriptionID = push.subscriptionID
    }
}

extension NotificationInfo {
    /// Whether the device does more than wake the app.
    fileprivate var showsSomething: Bool {
        var silent = NotificationInfo()
        silent.shouldSendContentAvailable = shouldSendContentAvailable
        silent.desiredKeys = desiredKeys
        silent.collapseIDKey = collapseIDKey
        return self != silent
    }
}

extension CKContainer {
    /// What subscriptions tell this device, from now on and for as long as somebody listens; what it missed comes
    /// first. It ends when the store is closed, and at once if nobody is signed in. Without a network, or with an
    /// account that cannot be used, it waits.
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
            await opened.disturbances.awaitNetwork(of: client.actor) {
                client.accountStatus == .available
            } unless: {
                listener.box.isClosed
            }
        }
        return AsyncStream {
            // What is not taken is told to whoever listens next.
            await awaitReach()
            guard let push = await listener.box.next() else { return nil }
            await awaitReach()
            return RemoteNotification(push, container: container)
        }
    }
}

/// Listens for as long as its stream is there.
private final class PushListener: Sendable {
    let box: Mailbox
    init(_ box: Mailbox) { self.box = box }
    deinit { box.close() }
}
