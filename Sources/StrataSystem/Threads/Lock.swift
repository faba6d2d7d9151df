import Glibc

/// A value protected by a lock. The value passed to `body` must not escape it.
///
/// The standard library's `Mutex` does the same, but the thread sanitizer does not see its waits and then reports false
/// races.
// @unchecked: `state` is accessed only while `mutex` is locked.
@usableFromInline
package final class Lock<State: ~Copyable>: @unchecked Sendable {
    @usableFromInline var state: State
    // Allocated, because a pthread object must not move.
    @usableFromInline let mutex: UnsafeMutablePointer<pthread_mutex_t>

    package init(_ state: consuming sending State) {
        // It would share its address with `mutex`, and the thread sanitizer would take its changes for those of the
        // pointer.
        precondition(MemoryLayout<State>.size > 0, "A lock needs a state whose size is not zero.")
        self.state = state
        mutex = .allocate(capacity: 1)
        pthread_mutex_init(mutex, nil)
    }

    deinit {
        pthread_mutex_destroy(mutex)
        mutex.deallocate()
    }

    @inlinable
    package func withLock<Result: ~Copyable, Failure: Error>(
        _ body: (inout State) throws(Failure) -> sending Result
    ) throws(Failure) -> sending Result {
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        return try body(&state)
    }
}
