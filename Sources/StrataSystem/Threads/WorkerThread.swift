import CStrata
import Glibc
import StrataModel

/// A thread of the engine's own, so that blocking work does not run on the cooperative pool.
// @unchecked: `handle` is set once, before `init` returns.
package final class WorkerThread: @unchecked Sendable {
    private var handle = pthread_t()

    private final class Start: Sendable {
        let name: String
        let body: @Sendable () -> Void

        init(name: String, body: @escaping @Sendable () -> Void) {
            self.name = name
            self.body = body
        }
    }

    /// Starts the thread immediately. `name` has at most 15 bytes.
    package init(name: String, _ body: @escaping @Sendable () -> Void) throws {
        let start = Unmanaged.passRetained(Start(name: name, body: body))
        let result = pthread_create(
            &handle, nil,
            { argument in
                // The pointer is the object retained above, passed to this thread alone.
                guard let argument else { return nil }
                let start = Unmanaged<Start>.fromOpaque(argument).takeRetainedValue()
                strata_name_this_thread(start.name)
                start.body()
                return nil
            }, start.toOpaque())
        guard result == 0 else {
            start.release()
            throw StrataError.systemCall("pthread_create", path: name, errno: result)
        }
    }

    /// Distinguishes the calling thread from the others that exist.
    package static var currentID: UInt { UInt(pthread_self()) }

    /// Lowers the priority of the calling thread, as far as the system allows.
    package static func lowerPriority() { _ = strata_lower_priority() }

    /// Waits until the body has returned. Call this or ``detach()``, once.
    package func join() { pthread_join(handle, nil) }

    /// Detaches the thread; nothing waits for its end.
    package func detach() { pthread_detach(handle) }
}
