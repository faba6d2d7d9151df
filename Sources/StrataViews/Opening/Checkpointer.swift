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
    public struct Policy: Sendable, Hashable {
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
        /// The last one that could not be written, unless there is a newer one: for a last try.
        var unwritten: Snapshot?
        /// Whether indexes are behind in every state since the last checkpoint.
        var lacksIndexes = false
        var bytes = 0
        var events = 0
        var isWriting = false
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
    /// - Parameter hasAllIndexes: whether the indexes show the state's own records. Where they are behind, opening
    ///   would have to build them anew, so the checkpoint waits a while for a state in which they are not.
    public func didPublish(_ snapshot: Snapshot, bytes: Int, events: Int, hasAllIndexes: Bool = true) {
        let hasBecomeDue = state.withLock { state in
            state.bytes += bytes
            state.events += events
            state.lacksIndexes = !hasAllIndexes
            if hasAllIndexes || state.isStopping || isDue(state, patience: 2) {
                (state.newest, state.unwritten) = (snapshot, nil)
            }
            return state.newest != nil && isDue(state)
        }
        if hasBecomeDue { state.notifyAll() }
    }

    /// Asked anew when a checkpoint has ended: many of the pages that were dirty meanwhile are those that it has
    /// written.
    ///
    /// - Parameter patience: by how much the policy's limits may be passed.
    private func isDue(_ state: State, patience: Int = 1) -> Bool {
        if state.bytes >= policy.logBytes * patience || state.events >= policy.events * patience { return true }
        let percent = min(policy.dirtyPercent * patience, (100 + policy.dirtyPercent) / 2)
        let (hundreds, rest) = views.pages.maximumDirtyPages.quotientAndRemainder(dividingBy: 100)
        return views.pages.writablePages >= hundreds * percent + rest * percent / 100
    }

    /// Whether a checkpoint would be written if only the indexes were not behind. Not while one is being written: what
    /// the next one has to wait for is cheaper when more has come together.
    public var waitsForIndexes: Bool { state.withLock { $0.lacksIndexes && !$0.isWriting && isDue($0) } }

    /// Ends the thread, after a last checkpoint if there is something new.
    ///
    /// - Throws: what kept the last one from being written; the log has everything all the same.
    public func stop() throws {
        state.withLock { $0.isStopping = true }
        join()
        if let failure { throw failure }
    }

    private func join() {
        state.notifyAll()
        let worker = thread.withLock { thread in
            defer { thread = nil }
            return thread
        }
        worker?.join()
    }

    /// Ends the thread and writes nothing more: what the states are made of is no good. A checkpoint that is being
    /// written comes to its end first.
    public func abandon() {
        state.withLock { ($0.isStopping, $0.newest) = (true, nil) }
        join()
        views.pages.giveUpFile()
    }

    private func run() {
        while let snapshot = state.wait({ next(&$0) }) {
            var failure: (any Error)?
            do {
                // Where commits are published before they are synced, nobody else sees to that.
                if snapshot.foldedOffset(ViewTree.records) > views.log.durableEnd.offset { try views.log.sync() }
                try views.checkpoint(snapshot)
            } catch { failure = error }
            state.withLock { state in
                (state.failure, state.isWriting) = (failure, false)
                if failure != nil, state.newest == nil, !state.isStopping { state.unwritten = snapshot }
            }
        }
    }

    /// Waits on nil; `.some(nil)` is the end.
    private func next(_ state: inout State) -> Snapshot?? {
        guard state.isStopping || state.newest != nil && isDue(state) else { return nil }
        defer {
            (state.newest, state.unwritten) = (nil, nil)
            (state.bytes, state.events) = (0, 0)
        }
        if let newest = state.newest ?? state.unwritten {
            state.isWriting = true
            return .some(newest)
        }
        return state.isStopping ? .some(nil) : nil
    }
}
