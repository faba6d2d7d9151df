import Foundation

/// Observes `CKAccountChanged` of a client's container as long as it exists.
// @unchecked: its one property is a constant that is only passed to the notification center.
final class AccountObserver: @unchecked Sendable {
    private let token: any NSObjectProtocol

    init(_ client: Client, _ action: @escaping @Sendable () -> Void) {
        token = NotificationCenter.default.addObserver(forName: .CKAccountChanged, object: nil, queue: nil) {
            [weak client] notification in
            guard let client, (notification.object as? CKContainer)?.client === client else { return }
            action()
        }
    }

    deinit { NotificationCenter.default.removeObserver(token) }
}
