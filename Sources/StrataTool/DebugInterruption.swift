import Glibc
import Synchronization

/// Whether somebody at a terminal has interrupted what is going on; as long as it listens that does not end the tool.
enum DebugInterruption {
    private static let isWanted = Atomic(false)

    static var hasCome: Bool { isWanted.load(ordering: .relaxed) }

    static func listen() {
        signal(SIGINT) { _ in DebugInterruption.isWanted.store(true, ordering: .relaxed) }
    }

    static func forget() { isWanted.store(false, ordering: .relaxed) }
}
