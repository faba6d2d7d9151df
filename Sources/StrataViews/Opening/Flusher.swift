import StrataLog
import StrataModel
import StrataSystem
import StrataTree

/// Writes complete generations of changes as runs, and merges runs, on a thread of its own.
///
/// ```swift
/// let flusher = try Flusher(views)
/// flusher.didPublish()   // after each batch
/// try flusher.stop()
/// ```
package final class Flusher: Sendable {
    private struct State {
        /// The number of states that were published.
        var changeCount = 0
        /// True if a published state has changes that the log does not have.
        var isBeyondLog = false
        var isStopping = false
        /// True if the states cannot be trusted and nothing more is written.
        var isAbandoned = false
        /// The error of the last attempt; nil if it succeeded.
        var failure: (any Error)?
    }

    private enum Work {
        case flush(Snapshot)
        case merge(isAtRest: Bool)
        case end
    }

    /// The time without changes after which smaller merges begin.
    private static let restMilliseconds = 5_000
    /// The time between two attempts, for example while the disk is full.
    private static let retryMilliseconds = 1_000
    /// The number of complete generations at which writers wait.
    private static let maximumWaiting = 2
    /// Fewer bytes of changes are left to the next opening, which folds them again in some milliseconds.
    private static let fewBytes = 1 << 20

    private let views: Views
    private let state = Monitor(State())
    private let thread: Lock<WorkerThread?> = Lock(nil)

    package init(_ views: Views) throws {
        self.views = views
        let worker = try WorkerThread(name: "strata-views") { [self] in run() }
        thread.withLock { $0 = worker }
    }

    /// The error of the last attempt to write; nil once one succeeds.
    package var failure: (any Error)? { state.withLock { $0.failure } }

    /// Reports a state that was published.
    ///
    /// - Parameter isInLog: false if it has changes that folding the log would not make, such as rows of a new index.
    ///   The store then ends with a state, so that the next opening has them.
    package func didPublish(isInLog: Bool = true) {
        state.withLock { state in
            state.changeCount += 1
            state.isBeyondLog = state.isBeyondLog || !isInLog
        }
        if views.trees.waitingGenerations > 0 { state.notifyAll() }
    }

    /// Waits while too many changes are in memory; returns false on timeout. A writer calls it before each batch.
    package func awaitRoom(milliseconds: Int) -> Bool {
        if views.trees.waitingGenerations < Self.maximumWaiting { return true }
        return state.wait(milliseconds: milliseconds) { state in
            views.trees.waitingGenerations < Self.maximumWaiting || state.isAbandoned ? () : nil
        } != nil
    }

    /// Ends the thread, after the rest of the changes is written if it is large.
    ///
    /// - Throws: the error that prevented it; the log is complete nevertheless.
    package func stop() throws {
        let isLarge = views.trees.memoryBytes > Self.fewBytes
        if isLarge || views.trees.durablePosition == nil || state.withLock({ $0.isBeyondLog }) {
            try views.trees.freeze()
        }
        state.withLock { $0.isStopping = true }
        join()
        if let failure { throw failure }
    }

    /// Ends the thread and writes nothing more, because the states cannot be trusted. A file that is being written is
    /// completed first.
    package func abandon() {
        state.withLock { ($0.isStopping, $0.isAbandoned) = (true, true) }
        join()
    }

    private func join() {
        state.notifyAll()
        let worker = thread.withLock { thread in
            defer { thread = nil }
            return thread
        }
        worker?.join()
    }

    private func run() {
        while true {
            let work = next()
            var failure: (any Error)?
            do {
                switch work {
                case .end: return
                case .flush(let snapshot): try views.flush(snapshot)
                case .merge(let isAtRest): try views.trees.mergeStep(isAtRest: isAtRest)
                }
            } catch { failure = error }
            let isStopping = state.withLock { state in
                state.failure = failure
                return state.isStopping
            }
            state.notifyAll()
            if failure == nil { continue }
            if isStopping { return }
            _ = state.wait(milliseconds: Self.retryMilliseconds) { $0.isStopping ? () : nil }
        }
    }

    /// Waits for something to do.
    private func next() -> Work {
        while true {
            let changeCount = state.withLock { $0.changeCount }
            let work = state.wait(milliseconds: Self.restMilliseconds) { state -> Work? in
                if state.isAbandoned { return .end }
                if let snapshot = views.trees.nextToFlush() { return .flush(snapshot) }
                if state.isStopping { return .end }
                return views.trees.isMergeDue(isAtRest: false) ? .merge(isAtRest: false) : nil
            }
            if let work { return work }
            let isAtRest = state.withLock { $0.changeCount == changeCount && !$0.isStopping }
            if isAtRest, views.trees.isMergeDue(isAtRest: true) { return .merge(isAtRest: true) }
        }
    }
}
