import StrataLog
import StrataModel
import StrataSystem
import StrataTree

/// Writes checkpoints on a thread of its own when enough has come together.
///
/// ```swift
/// let checkpointer = try Checkpointer(views)
/// checkpointer.didPublish(snapshot, bytes: payload.count, events: 400)   // after each batch
/// try checkpointer.stop()
/// ```
public final class Checkpointer: Sendable {
    /// What makes a checkpoint due: whichever comes first.
    public struct Policy: Sendable {
        public var logBytes: Int
        public var events: Int
        /// In percent of what may wait for a checkpoint.
        public var dirtyPercent: Int

        public init(logBytes: Int = 16 << 20, events: Int = 50_000, dirtyPercent: Int = 50) {
            self.logBytes = logBytes
            self.events = events
            self.dirtyPercent = dirtyPercent
        }
    }

    private struct State {
        /// The newest state, if no checkpoint has it.
        var newest: Snapshot?
        var bytes = 0
        var events = 0
        var isStopping = false
        /// Of the last try, if it failed.
        var failure: (any Error)?
    }

    private let views: Views
    private let policy: Policy
    private let state = Monitor(State())
    private let thread: Lock<WorkerThread?> = Lock(nil)

    public init(_ views: Views, policy: Policy = Policy()) throws {
        self.views = views
        self.policy = policy
        let worker = try WorkerThread(name: "strata-views") { [self] in run() }
        thread.withLock { $0 = worker }
    }

    /// Why the last checkpoint failed; nil once one succeeds. The next is tried when it is due.
    public var failure: (any Error)? { state.withLock { $0.failure } }

    /// Tells of a state that was published, and of how much log it is more than the one before.
    public func didPublish(_ snapshot: Snapshot, bytes: Int, events: Int) {
        let hasBecomeDue = state.withLock { state in
            state.newest = snapshot
            state.bytes += bytes
            state.events += events
            return isDue(state)
        }
        if hasBecomeDue { state.notifyAll() }
    }

    /// Asked anew when a checkpoint has ended: many of the pages that were dirty meanwhile are those that it has
    /// written.
    private func isDue(_ state: State) -> Bool {
        if state.bytes >= policy.logBytes || state.events >= policy.events { return true }
        let (hundreds, rest) = views.pages.maximumDirtyPages.quotientAndRemainder(dividingBy: 100)
        return views.pages.writablePages >= hundreds * policy.dirtyPercent + rest * policy.dirtyPercent / 100
    }

    /// Ends the thread, after a last checkpoint if there is something new.
    ///
    /// - Throws: what kept the last one from being written; the log has everything all the same.
    public func stop() throws {
        state.withLock { $0.isStopping = true }
        state.notifyAll()
        let worker = thread.withLock { thread in
            defer { thread = nil }
            return thread
        }
        worker?.join()
        if let failure { throw failure }
    }

    private func run() {
        while let snapshot = state.wait({ next(&$0) }) {
            var failure: (any Error)?
            do { try views.checkpoint(snapshot) } catch { failure = error }
            state.withLock { $0.failure = failure }
        }
    }

    /// Waits on nil; `.some(nil)` is the end.
    private func next(_ state: inout State) -> Snapshot?? {
        guard state.isStopping || isDue(state) else { return nil }
        defer {
            state.newest = nil
            (state.bytes, state.events) = (0, 0)
        }
        if let newest = state.newest { return .some(newest) }
        return state.isStopping ? .some(nil) : nil
    }
}
