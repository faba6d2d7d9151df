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
        /// The newest state that may become a checkpoint, if none has it.
        var newest: Snapshot?
        /// Whether indexes are behind in every state since the last checkpoint.
        var lacksIndexes = false
        var bytes = 0
        var events = 0
        var isDue = false
        /// Whether there is enough for a checkpoint.
        var isOver = false
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
    ///
    /// - Parameter hasAllIndexes: whether the indexes show the state's own records. Where they are behind, opening would
    ///   have to build them anew, so the checkpoint waits a while for a state in which they are not.
    public func didPublish(_ snapshot: Snapshot, bytes: Int, events: Int, hasAllIndexes: Bool = true) {
        let dirty = views.pages.info.dirtyPages
        let dirtyLimit = views.pages.maximumDirtyPages / 100 * policy.dirtyPercent
        let isDue = state.withLock { state in
            state.bytes += bytes
            state.events += events
            let isOver = state.bytes >= policy.logBytes || state.events >= policy.events || dirty >= dirtyLimit
            let isLate =
                state.bytes >= 2 * policy.logBytes || state.events >= 2 * policy.events || dirty >= dirtyLimit * 3 / 2
            state.lacksIndexes = !hasAllIndexes
            if hasAllIndexes || isLate || state.isStopping { state.newest = snapshot }
            let isDue = isOver && state.newest != nil
            if isDue { state.isDue = true }
            state.isOver = isOver
            return isDue
        }
        if isDue { state.notifyAll() }
    }

    /// Whether a checkpoint would be written if only the indexes were not behind.
    public var waitsForIndexes: Bool { state.withLock { $0.isOver && $0.lacksIndexes && !$0.isDue } }

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
        while let snapshot = state.wait({ Self.next(&$0) }) {
            var failure: (any Error)?
            do { try views.checkpoint(snapshot) } catch { failure = error }
            state.withLock { $0.failure = failure }
        }
    }

    /// Waits on nil; `.some(nil)` is the end.
    private static func next(_ state: inout State) -> Snapshot?? {
        guard state.isDue || state.isStopping else { return nil }
        defer {
            state.newest = nil
            (state.bytes, state.events, state.isDue, state.isOver) = (0, 0, false, false)
        }
        if let newest = state.newest { return .some(newest) }
        return state.isStopping ? .some(nil) : nil
    }
}
