import StrataModel
import Synchronization

/// Whether a store may still be used: handles and snapshots that outlive it say so instead of failing somewhere inside.
final class StoreGate: Sendable {
    private let closed = Atomic(false)

    var isClosed: Bool { closed.load(ordering: .acquiring) }

    /// Whether it was open until now.
    @discardableResult
    func close() -> Bool { !closed.exchange(true, ordering: .acquiringAndReleasing) }

    func requireOpen() throws {
        if isClosed { throw Self.error }
    }

    static var error: StrataError { StrataError(.closed, "The store has been closed.") }
}
