import StrataLog
import StrataModel
import StrataSystem
import StrataTree

/// Writes checkpoints on a thread of its own once enough changes have accumulated.
///
/// ```swift
/// let checkpointer = try Checkpointer(views)
/// checkpointer.didPublish(snapshot, bytes: payload.count, events: 400)   // after each batch
/// try checkpointer.stop()
/// ```
package final class Checkpointer: Sendable {
    /// The limits that make a checkpoint due; the first one reached decides.
    package struct Policy: Sendable, Hashable {
        package var logBytes: Int
        package var events: Int
        /// The share of the maximum number of dirty pages, in percent.
        package var dirtyPercent: Int

        package init(logBytes: Int = 16 << 20, events: Int = 50_000, dirtyPercent: Int = 50) {
            self.logBytes = logBytes
            self.events = events
            self.dirtyPercent = dirtyPercent
        }
    }

    private struct State {
        /// The newest state that may become a checkpoint; nil if a checkpoint has taken it.
        var newest: Snapshot?
        /// The last state that could not be written, unless a newer one exists. ``stop()`` tries it once more.
        var unwritten: Snapshot?
        /// The size of the log, and the events, after the state of the checkpoint that was begun last.
        var bytes = 0
        var events = 0
        var isWriting = false
        /// True if the next opening would repeat what took long, because no checkpoint has been begun since commits
        /// were folded at an opening, or since an index became ready.
        var isBehind: Bool
        /// True once no more checkpoints are due, so that only the last one may follow.
        var isEnding = false
        /// True if the newest state is left to the next opening.
        var leavesRest = false
        var isStopping = false
        /// The error of the last attempt; nil if it succeeded.
        var failure: (any Error)?
    }

    private let views: Views
    private let policy: Policy
    private let state: Monitor<State>
    private let thread: Lock<WorkerThread?> = Lock(nil)
    /// The number of pages that are written while a caller waits for the end: about a tenth of a second.
    private static let quickPages = 8_192

    package init(_ views: Views, policy: Policy = Policy()) throws {
        self.views = views
        self.policy = policy
        state = Monitor(State(isBehind: views.pages.writablePages > 0))
        let worker = try WorkerThread(name: "strata-views") { [self] in run() }
        thread.withLock { $0 = worker }
    }

    /// The error of the last checkpoint; nil once one succeeds. The next attempt is made when a checkpoint is due.
    package var failure: (any Error)? { state.withLock { $0.failure } }

    /// Reports a state that was published, and the size of the log that it adds to the previous one.
    ///
    /// - Parameter endsBuild: true if an index became ready in that state. Opening any earlier checkpoint would build it
    ///   again.
    package func didPublish(_ snapshot: Snapshot, bytes: Int, events: Int, endsBuild: Bool = false) {
        let hasBecomeDue = state.withLock { state in
            state.bytes += bytes
            state.events += events
            if endsBuild { state.isBehind = true }
            (state.newest, state.unwritten) = (snapshot, nil)
            return isDue(state)
        }
        if hasBecomeDue { state.notifyAll() }
    }

    /// Returns true if a limit of the policy is reached. This is checked again after each checkpoint, which has written
    /// many of the pages that were dirty in the meantime.
    private func isDue(_ state: State) -> Bool {
        if state.bytes >= policy.logBytes || state.events >= policy.events { return true }
        // Otherwise each opening would fold the same commits and build the same index.
        if state.isBehind, views.pages.writablePages > Self.quickPages { return true }
        let (hundreds, rest) = views.pages.maximumDirtyPages.quotientAndRemainder(dividingBy: 100)
        return views.pages.writablePages >= hundreds * policy.dirtyPercent + rest * policy.dirtyPercent / 100
    }

    /// True if no checkpoint has been begun since commits were folded when the views were opened, or since an index
    /// became ready.
    package var isBehind: Bool { state.withLock { $0.isBehind } }

    /// Begins no more regular checkpoints, and waits for the one that is being written. Returns true if the changes
    /// since then are left to the next opening: there are too many to write them while the caller of `close` waits, and
    /// no more than a killed process leaves.
    package func leavesRest() -> Bool {
        views.pages.hurryCheckpoints()
        state.withLock { $0.isEnding = true }
        return state.wait { state -> Bool? in
            if state.isWriting { return nil }
            let isSlow = views.pages.writablePages > Self.quickPages
            let isShort = !state.isBehind && state.bytes <= policy.logBytes && state.events <= policy.events
            let hasCheckpoint = state.failure == nil && views.pages.info.checkpointPosition != nil
            state.leavesRest = isSlow && isShort && hasCheckpoint
            return state.leavesRest
        }
    }

    /// Ends the thread, after a last checkpoint if there are new changes that are not left to the next opening.
    ///
    /// - Throws: the error that prevented the last checkpoint; the log is complete nevertheless.
    package func stop() throws {
        views.pages.hurryCheckpoints()
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

    /// Ends the thread and writes nothing more, because the states cannot be trusted. A checkpoint that is being
    /// written is completed first.
    package func abandon() {
        state.withLock { ($0.isStopping, $0.newest, $0.unwritten) = (true, nil, nil) }
        join()
        views.pages.giveUpFile()
    }

    private func run() {
        while let snapshot = state.wait({ next(&$0) }) {
            var failure: (any Error)?
            do {
                // Commits may be published before they are synced, and no other code syncs the log before a checkpoint.
                if snapshot.foldedOffset(ViewTree.records) > views.log.durableEnd.offset { try views.log.sync() }
                try views.checkpoint(snapshot)
            } catch { failure = error }
            state.withLock { state in
                (state.failure, state.isWriting) = (failure, false)
                if failure != nil, state.newest == nil, !state.isStopping { state.unwritten = snapshot }
            }
            state.notifyAll()
        }
    }

    /// Returns nil to wait, and `.some(nil)` to end.
    private func next(_ state: inout State) -> Snapshot?? {
        guard state.isStopping || !state.isEnding && state.newest != nil && isDue(state) else { return nil }
        if state.isStopping, state.leavesRest { return .some(nil) }
        defer {
            (state.newest, state.unwritten) = (nil, nil)
            (state.bytes, state.events) = (0, 0)
        }
        if let newest = state.newest ?? state.unwritten {
            (state.isWriting, state.isBehind) = (true, false)
            return .some(newest)
        }
        return state.isStopping ? .some(nil) : nil
    }
}
