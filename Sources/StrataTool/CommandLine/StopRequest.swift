import Glibc
import Synchronization

/// Records an interrupt, after which long work stops and prints what it has found. While this listens, an interrupt
/// does not end the tool.
enum StopRequest {
    private static let isWanted = Atomic(false)
    private static let child = Atomic<pid_t>(0)

    static var hasCome: Bool { isWanted.load(ordering: .relaxed) }

    static func listen(to signals: [Int32] = [SIGINT]) {
        for number in signals {
            signal(number) { number in
                StopRequest.isWanted.store(true, ordering: .relaxed)
                // The terminal signals the child itself. A signal to this process alone must be forwarded.
                let child = StopRequest.child.load(ordering: .relaxed)
                if child != 0 { kill(child, number) }
            }
        }
    }
    /// Forwards signals to a child process; 0 for none.
    static func forward(to process: pid_t) { child.store(process, ordering: .relaxed) }
    static func forget() { isWanted.store(false, ordering: .relaxed) }
    static func end(_ signals: [Int32] = [SIGINT]) { for number in signals { signal(number, SIG_DFL) } }
}
