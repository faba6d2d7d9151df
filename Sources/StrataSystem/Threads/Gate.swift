import Glibc

/// A gate at which one thread waits until another opens it, once. It is cheaper than a condition: opening wakes exactly
/// the waiting thread.
// @unchecked: a semaphore may be used from several threads.
package final class Gate: @unchecked Sendable {
    // Allocated, because a semaphore must not move.
    private let semaphore: UnsafeMutablePointer<sem_t>

    package init() {
        semaphore = .allocate(capacity: 1)
        sem_init(semaphore, 0, 0)
    }

    deinit {
        sem_destroy(semaphore)
        semaphore.deallocate()
    }

    package func open() { sem_post(semaphore) }

    package func wait() {
        while sem_wait(semaphore) != 0 && errno == EINTR {}
    }
}
