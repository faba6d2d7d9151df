/// Work in the background that is done step by step, never two steps at a time, on threads that all jobs of the
/// process share.
///
/// ```swift
/// let job = BackgroundJob()
/// try job.start { sealOneSegment() ? .now : .whenWoken }
/// job.wake()
/// job.stop()
/// ```
// @unchecked: the fields are used only under the lock of the pool.
package final class BackgroundJob: @unchecked Sendable {
    /// The time of the next step, unless ``wake()`` makes it due earlier.
    package enum NextStep: Sendable {
        case now
        case at(ContinuousClock.Instant)
        case whenWoken
    }

    enum Phase { case asleep, due, running }

    /// Nil before the start and after the end.
    var step: (@Sendable () -> NextStep)?
    var phase = Phase.asleep
    /// True if another step is due after the running one.
    var isWoken = false
    /// True if the pool has a time at which the job becomes due.
    var hasDeadline = false
    /// The thread of the running step.
    var thread: UInt = 0

    package init() {}

    /// Has `step` called soon, and then whenever it is due. It must not wait for a step of another job.
    package func start(_ step: @escaping @Sendable () -> NextStep) throws {
        try BackgroundPool.shared.start(self, step)
    }

    /// Makes a step due: another one if one is running. Without effect on a job that was not started, or was stopped.
    package func wake() { BackgroundPool.shared.wake(self) }

    /// Ends the job, once a running step has returned; from within a step, after it.
    package func stop() { BackgroundPool.shared.stop(self) }
}
