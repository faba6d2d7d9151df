import Glibc
import Synchronization

/// Remembers that somebody has interrupted what is going on, and wants what it has found by then. As long as it listens
/// that does not end the tool.
enum StopRequest {
    private static let isWanted = Atomic(false)

    static var hasCome: Bool { isWanted.load(ordering: .relaxed) }

    static func listen() { signal(SIGINT) { _ in StopRequest.isWanted.store(true, ordering: .relaxed) } }
    static func forget() { isWanted.store(false, ordering: .relaxed) }
    static func end() { signal(SIGINT, SIG_DFL) }
}
