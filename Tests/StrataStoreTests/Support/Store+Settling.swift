import TestSupport
import Testing

@testable import StrataStore

extension Store {
    /// Returns once everything that is published has been looked at.
    func settleNotifications() async throws {
        if try await awaited({ engine.notifier.hasSeen(through: offset) }) { return }
        Issue.record("notifications are not found out in time")
    }
}
