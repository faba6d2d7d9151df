import Dispatch
import Glibc

/// The processors of the machine, for work that can be divided.
public enum Processors {
    /// At most eight: what memory gives is divided as well.
    public static let count = min(8, max(1, sysconf(Int32(_SC_NPROCESSORS_ONLN))))

    /// Calls `body` with each number below `count`, on several processors at once; returns when all have returned.
    public static func perform(_ count: Int, _ body: @escaping @Sendable (Int) -> Void) {
        DispatchQueue.concurrentPerform(iterations: count, execute: body)
    }
}
