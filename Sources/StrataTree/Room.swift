import StrataSystem
import Synchronization

/// Where writers wait until a checkpoint has made room for more pages.
final class Room: Sendable {
    /// How often something changed. A state of no size would share its address with what lies behind it, and the
    /// thread sanitizer take one for the other.
    private let changes = Monitor(0)
    private let waits = Atomic<Int>(0)

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
