import Foundation
import StrataSystem

/// The serial queue on which one operation calls its blocks.
///
/// A running operation has a queue to itself, since a block may wait for another operation. Once nothing refers to the
/// queue, the next operation uses it. As many queues as there are processors share the threads of a fixed-size pool;
/// operations beyond that number get queues for which the system starts threads.
final class BlockQueue: Sendable {
    private struct Idle {
        var pooled: [DispatchQueue]
        var others: [DispatchQueue] = []
    }

    /// The number of idle queues outside the pool that are kept.
    private static let mostIdle = 64
    private static let label = "CloudKit.operation"

    /// No task runs on threads of this class, so a block that waits for a task does not take the task's thread.
    private static let pool = DispatchQueue.global(qos: .userInteractive)

    private static let idle = Lock(
        Idle(
            pooled: (0..<ProcessInfo.processInfo.activeProcessorCount).map { _ in
                DispatchQueue(label: label, target: pool)
            }))

    private let serial: DispatchQueue
    private let isPooled: Bool

    init() {
        (serial, isPooled) = Self.idle.withLock { idle in
            if let queue = idle.pooled.popLast() { return (queue, true) }
            return (idle.others.popLast() ?? DispatchQueue(label: Self.label), false)
        }
    }

    deinit {
        Self.idle.withLock { idle in
            if isPooled {
                idle.pooled.append(serial)
            } else if idle.others.count < Self.mostIdle {
                idle.others.append(serial)
            }
        }
    }

    func async(_ body: @escaping @Sendable () -> Void) {
        // The operation keeps the queue until its last block has returned.
        serial.async { withExtendedLifetime(self) { body() } }
    }
}
