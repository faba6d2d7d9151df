import StrataSystem
import Synchronization

/// Where writers wait until a checkpoint has made room for more pages.
final class Room: Sendable {
    /// How often something changed. A state of no size would share its address with what lies behind it, and the
    /// thread sanitizer take one for the other.
    private let changes = Monitor(0)
    private let waits = Atomic<Int>(0)

    private static let longestRestMicroseconds: Int64 = 64_000

    /// How long a batch waits of its own accord. With the square of what is beyond half of the limit: hardly at first,
    /// and at the end for longer than any checkpoint needs to make room for a batch of usual size.
    static func rest(pages: Int, limit: Int) -> Int64 {
        let half = Int64(limit / 2)
        let beyond = min(Int64(pages) - (Int64(limit) - half), half)
        guard beyond > 0 else { return 0 }
        return longestRestMicroseconds * beyond * beyond / (half * half)
    }

    var waitCount: Int { waits.load(ordering: .relaxed) }

    /// Somebody who waits should look again.
    func changed() {
        changes.withLock { $0 += 1 }
        changes.notifyAll()
    }

    /// Waits until `hasRoom`; false if that takes too long.
    func wait(milliseconds: Int, _ hasRoom: () -> Bool) -> Bool {
        if hasRoom() { return true }
        waits.add(1, ordering: .relaxed)
        return changes.wait(milliseconds: milliseconds) { _ in hasRoom() ? true : nil } ?? false
    }
}
