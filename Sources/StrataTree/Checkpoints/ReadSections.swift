import StrataSystem
import Synchronization

/// Tells when everybody who might still look at a place in memory has moved on.
///
/// A reader is inside a section while it follows page numbers to memory. Whoever moves a page changes where it is
/// found first, then waits until those who may have seen the old place have left. Readers never wait.
// @unchecked: the counters are atomic, and the pointer to them never changes.
final class ReadSections: @unchecked Sendable {
    private static let stripes = 16
    /// Counters of different threads are a cache line apart.
    private static let stride = 8

    // Two phases of counters, so that readers who come later cannot keep a waiter waiting.
    private let counters: UnsafeMutablePointer<Atomic<Int>>
    private let phase = Atomic<Int>(0)
    /// Held by the one who waits: several would turn the phase against each other, and none come to an end.
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

    /// What `leave` must be given.
    struct Ticket { fileprivate let counter: Int }

    @inline(__always)
    func enter() -> Ticket {
        let stripe = ThreadStripe.current & (Self.stripes - 1)
        let counter = ((phase.load(ordering: .relaxed) & 1) * Self.stripes + stripe) * Self.stride
        // Before any look at a page's place: either the waiter sees this reader, or this reader sees the new place.
        counters[counter].add(1, ordering: .sequentiallyConsistent)
        return Ticket(counter: counter)
    }

    @inline(__always)
    func leave(_ ticket: Ticket) { counters[ticket.counter].subtract(1, ordering: .releasing) }

    /// Returns once everybody who was inside when it was called has left. Must not be called from inside.
    func waitForReaders() {
        waiter.withLock { _ in
            var departure = Departure()
            while !hasEnded(&departure) { ThreadStripe.pause() }
        }
    }

    /// Who was inside at some moment has left once each phase has been seen empty after it. The phase is only changed
    /// so that those who come later do not keep one from ever being empty.
    struct Departure {
        fileprivate var isEmpty = [false, false]
    }

    /// Looks again whether all have left who were inside when `departure` was made; does not wait.
    func hasEnded(_ departure: inout Departure) -> Bool {
        for phase in 0..<2 where !departure.isEmpty[phase] {
            if isOccupied(phase) {
                // Newcomers go to the other phase, which is looked at once this one is done with.
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
