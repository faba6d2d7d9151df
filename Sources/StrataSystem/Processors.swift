import Dispatch
import Glibc

/// The processors of the machine, for work that can be divided.
package enum Processors {
    /// At most eight, because memory bandwidth is divided as well.
    package static let count = min(8, max(1, sysconf(Int32(_SC_NPROCESSORS_ONLN))))

    /// Calls `body` with each number below `count`, in parallel on several processors; returns when all calls have.
    package static func perform(_ count: Int, _ body: @escaping @Sendable (Int) -> Void) {
        DispatchQueue.concurrentPerform(iterations: count, execute: body)
    }
}
