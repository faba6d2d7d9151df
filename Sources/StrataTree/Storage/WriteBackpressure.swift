import StrataSystem
import Synchronization

/// Lets writers wait until a checkpoint has made room for more pages.
final class WriteBackpressure: Sendable {
    /// The number of changes. An empty state would share its address with the next field, and the thread sanitizer
    /// would confuse the two.
    private let changes = Monitor(0)
    private let waits = Atomic<Int>(0)

    private static let longestRestMicroseconds: Int64 = 64_000

    /// The pause before a batch. It grows with the square of the pages beyond half of the limit: hardly noticeable at
    /// first, and in the end longer than any checkpoint needs to make room for a batch of usual size.
    static func rest(pages: Int, limit: Int) -> Int64 {
        let half = Int64(limit / 2)
        let beyond = min(Int64(pages) - (Int64(limit) - half), half)
        guard beyond > 0 else { return 0 }
        return longestRestMicroseconds * beyond * beyond / (half * half)
    }

    var waitCount: Int { waits.load(ordering: .relaxed) }

    /// Wakes waiting writers to check again.
    func changed() {
        changes.withLock { $0 += 1 }
        changes.notifyAll()
    }

    /// Waits until `hasRoom` returns true; returns false on timeout.
    func wait(milliseconds: Int, _ hasRoom: () -> Bool) -> Bool {
        if hasRoom() { return true }
        waits.add(1, ordering: .relaxed)
        return changes.wait(milliseconds: milliseconds) { _ in hasRoom() ? true : nil } ?? false
    }
}
