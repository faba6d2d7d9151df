import Foundation

/// Observes `CKAccountChanged` as long as it exists.
// @unchecked: its one property is a constant that is only passed to the notification center.
final class AccountObserver: @unchecked Sendable {
    private let token: any NSObjectProtocol

    init(_ action: @escaping @Sendable () -> Void) {
        token = NotificationCenter.default.addObserver(forName: .CKAccountChanged, object: nil, queue: nil) { _ in
            action()
        }
    }

    deinit { NotificationCenter.default.removeObserver(token) }
}
