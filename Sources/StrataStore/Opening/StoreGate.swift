import StrataModel
import Synchronization

/// Tracks whether a store may still be used. Handles and snapshots that outlive it report that it is closed instead of
/// failing internally.
final class StoreGate: Sendable {
    private let closed = Atomic(false)

    var isClosed: Bool { closed.load(ordering: .acquiring) }

    /// Closes the gate; returns true if it was open until now.
    @discardableResult
    func close() -> Bool { !closed.exchange(true, ordering: .acquiringAndReleasing) }

    func requireOpen() throws {
        if isClosed { throw Self.error }
    }

    static var error: StrataError { StrataError(.closed, "The store has been closed.") }
}
