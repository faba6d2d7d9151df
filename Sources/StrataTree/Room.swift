import StrataSystem
import Synchronization

/// Where writers wait until a checkpoint has made room for more pages.
final class Room: Sendable {
    private let changes = Monitor(())
    private let waits = Atomic<Int>(0)

    var waitCount: Int { waits.load(ordering: .relaxed) }

    /// Somebody who waits should look again.
    func changed() {
        changes.withLock { _ in }
        changes.notifyAll()
    }

    /// Waits until `hasRoom`; false if that takes too long.
    func wait(milliseconds: Int, _ hasRoom: () -> Bool) -> Bool {
        if hasRoom() { return true }
        waits.add(1, ordering: .relaxed)
        return changes.wait(milliseconds: milliseconds) { _ in hasRoom() ? true : nil } ?? false
    }
}
