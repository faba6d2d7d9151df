import Glibc
import Synchronization

/// Records an interrupt, after which long work stops and prints what it has found. While this listens, an interrupt
/// does not end the tool.
enum StopRequest {
    private static let isWanted = Atomic(false)

    static var hasCome: Bool { isWanted.load(ordering: .relaxed) }

    static func listen(to signals: [Int32] = [SIGINT]) {
        for number in signals { signal(number) { _ in StopRequest.isWanted.store(true, ordering: .relaxed) } }
    }
    static func forget() { isWanted.store(false, ordering: .relaxed) }
    static func end() { signal(SIGINT, SIG_DFL) }
}
