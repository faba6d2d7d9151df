import StrataModel
import StrataSystem

/// Whether a store may still be read: snapshots that outlive it say so instead of failing somewhere inside.
final class StoreGate: Sendable {
    private let isClosed = Lock(false)

    func close() { isClosed.withLock { $0 = true } }

    func requireOpen() throws {
        if isClosed.withLock({ $0 }) { throw StrataError(.closed, "The store has been closed.") }
    }
}
