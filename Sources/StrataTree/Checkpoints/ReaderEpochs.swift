import StrataSystem
import Synchronization

/// Detects when all readers that might still access an old place in memory have left.
///
/// A reader is inside a section while it resolves page numbers to memory. A thread that moves a page first changes the
/// place where the page is found, then waits until the readers that may have seen the old place have left. Readers
/// never wait.
// @unchecked: the counters are atomic, and the pointer to them never changes.
final class ReaderEpochs: @unchecked Sendable {
    private static let stripes = 16
    /// The distance between counters of different threads: a cache line.
    private static let stride = 8

    // Two phases of counters, so that later readers cannot delay a waiter forever.
    private let counters: UnsafeMutablePointer<Atomic<Int>>
    private let phase = Atomic<Int>(0)
    /// Held by the waiting thread: several waiters would flip the phase against each other, and none would finish.
    private let waiter = Lock(0)

    init() {
        let count = 2 * Self.stripes * Self.stride
        counters = .allocate(capacity: count)
        for index in 0..<count { (counters + index).initialize(to: Atomic(0)) }
    }

    deinit {
        counters.deinitialize(count: 2 * Self.stripes * Self.stride)
        counters.deallocate()
    }

    /// The ticket that `leave` requires.
    struct Ticket { fileprivate let counter: Int }

    @inline(__always)
    func enter() -> Ticket {
        let stripe = ThreadStripe.current & (Self.stripes - 1)
        let counter = ((phase.load(ordering: .relaxed) & 1) * Self.stripes + stripe) * Self.stride
        // Precedes any lookup of a page's place: either the waiter sees this reader, or this reader sees the new place.
        counters[counter].add(1, ordering: .sequentiallyConsistent)
        return Ticket(counter: counter)
    }

    @inline(__always)
    func leave(_ ticket: Ticket) { counters[ticket.counter].subtract(1, ordering: .releasing) }

    /// Returns once every reader that was inside at the time of the call has left. Must not be called from inside.
    func waitForReaders() {
        waiter.withLock { _ in
            var departure = GracePeriod()
            while !hasEnded(&departure) { ThreadStripe.pause() }
        }
    }

    /// Determines when the readers that were inside at some moment have left: once each phase has been seen empty
    /// since. The phase changes only so that later readers cannot keep a phase occupied forever.
    struct GracePeriod {
        fileprivate var isEmpty = [false, false]
    }

    /// Checks again whether all readers that were inside when `departure` was created have left; does not wait.
    func hasEnded(_ departure: inout GracePeriod) -> Bool {
        for phase in 0..<2 where !departure.isEmpty[phase] {
            if isOccupied(phase) {
                // New readers use the other phase, which is checked after this one.
                if self.phase.load(ordering: .relaxed) & 1 == phase {
                    self.phase.add(1, ordering: .sequentiallyConsistent)
                }
                return false
            }
            departure.isEmpty[phase] = true
        }
        return true
    }

    private func isOccupied(_ phase: Int) -> Bool {
        (0..<Self.stripes).contains { stripe in
            counters[(phase * Self.stripes + stripe) * Self.stride].load(ordering: .sequentiallyConsistent) != 0
        }
    }
}
