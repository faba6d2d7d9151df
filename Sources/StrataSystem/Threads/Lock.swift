import Glibc

/// A value behind a lock. What `body` gets must not escape it.
///
/// The standard library's `Mutex` does the same; but where it has to wait it does so out of sight of the thread
/// sanitizer, which then reports races that are none.
// @unchecked: `state` is touched only between lock and unlock of `mutex`.
public final class Lock<State: ~Copyable>: @unchecked Sendable {
    private var state: State
    // Allocated, because a pthread object must not move.
    private let mutex: UnsafeMutablePointer<pthread_mutex_t>

    public init(_ state: consuming sending State) {
        // It would lie where `mutex` does, and the thread sanitizer take its changes for those of the pointer.
        precondition(MemoryLayout<State>.size > 0, "A lock needs a state that has a size; take a number.")
        self.state = state
        mutex = .allocate(capacity: 1)
        pthread_mutex_init(mutex, nil)
    }

    deinit {
        pthread_mutex_destroy(mutex)
        mutex.deallocate()
    }

    public func withLock<Result: ~Copyable, Failure: Error>(
        _ body: (inout State) throws(Failure) -> sending Result
    ) throws(Failure) -> sending Result {
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        return try body(&state)
    }
}
