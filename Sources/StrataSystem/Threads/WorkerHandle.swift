/// A thread that is created after the object whose work it does.
package final class WorkerHandle: Sendable {
    private let thread = Lock<WorkerThread?>(nil)

    package init() {}

    package func start(name: String, _ body: @escaping @Sendable () -> Void) throws {
        let worker = try WorkerThread(name: name, body)
        thread.withLock { $0 = worker }
    }

    /// Waits for the thread to end; a second call returns immediately.
    package func join() {
        let worker = thread.withLock { thread in
            defer { thread = nil }
            return thread
        }
        worker?.join()
    }
}
