import Synchronization

/// Counts the commits that are judged, by several threads, and reports the number from time to time.
final class RerunCounter: Sendable {
    private static let reportedCommits: UInt64 = 256

    private let judged = Atomic<UInt64>(0)
    private let all: UInt64
    private let report: @Sendable (_ judged: UInt64, _ all: UInt64) -> Void

    init(_ first: UInt64, through last: UInt64, _ report: @escaping @Sendable (UInt64, UInt64) -> Void) {
        all = last + 1 - first
        self.report = report
    }

    func add() {
        let count = judged.add(1, ordering: .relaxed).newValue
        // Commits between two parts are judged twice.
        if count % Self.reportedCommits == 0 || count == all { report(min(count, all), all) }
    }
}
