import Synchronization

/// A lock that takes one byte of its owner and allocates nothing: for objects of which there are many and for which
/// two threads seldom compete. Others use ``Lock``, whose waiting threads do not poll.
///
/// ```swift
/// private let lock = BareLock()
/// lock.take()
/// defer { lock.give() }
/// ```
@usableFromInline
package struct BareLock: ~Copyable, Sendable {
    /// The number of looks at the lock before a waiting thread sleeps between them.
    private static let looksAwake = 100

    @usableFromInline let isHeld = Atomic(false)

    package init() {}

    /// Waits until no other thread holds the lock, and takes it. The same thread must not take it again.
    @inlinable
    package func take() {
        if isHeld.exchange(true, ordering: .acquiring) { wait() }
    }

    @inlinable
    package func give() { isHeld.store(false, ordering: .releasing) }

    @inline(never) @usableFromInline
    func wait() {
        var looks = 0
        repeat {
            while isHeld.load(ordering: .relaxed) {
                looks += 1
                if looks > Self.looksAwake { ThreadPause.brief() }
            }
        } while isHeld.exchange(true, ordering: .acquiring)
    }
}
