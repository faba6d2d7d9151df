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
        /// The errors of the last attempts; nil if they succeeded.
        var flushFailure: (any Error)?
        var mergeFailure: (any Error)?
        /// The number of published states when rest began; nothing was published since if it is still that.
        var restCount: Int?
        /// True if states may be held that were replaced.
        var hasReplaced = true
        var onRest: (@Sendable () -> Bool)?
        var onAttempt: (@Sendable ((any Error)?) -> Void)?
    }

    private enum Work {
        case flush(Snapshot)
        case merge(isAtRest: Bool)
        case end
    }

    /// The time between two attempts, for example while the disk is full. It doubles with each.
    private static let retryMilliseconds = 1_000...60_000
    /// The number of complete generations at which writers wait, and at which nothing more is accepted
    /// (``TreeStoreOptions/memoryBytes``).
    private static let maximumWaiting = (2, 3)
    /// Fewer bytes of changes are left to the next opening, which folds them again in some milliseconds.
    private static let fewBytes = 1 << 20

    private let views: Views
    /// The time without changes after which smaller merges begin.
    private let restMilliseconds: Int
    private let state = Monitor(State())
    private let thread: Lock<WorkerThread?> = Lock(nil)

    /// - Parameter restMilliseconds: only tests change it.
    package init(_ views: Views, restMilliseconds: Int = 5_000) throws {
        self.views = views
        self.restMilliseconds = restMilliseconds
        views.noteWaiting()
        let worker = try WorkerThread(name: "strata-views") { [self] in run() }
        thread.withLock { $0 = worker }
    }

    /// Has `body` called at rest, to release states that flushes and merges replaced; until it returns true, again.
    package func onRest(_ body: @escaping @Sendable () -> Bool) { state.withLock { $0.onRest = body } }

    /// Has `body` called with the result of each flush and step of a merge: nil, or the error.
    package func onAttempt(_ body: @escaping @Sendable ((any Error)?) -> Void) {
        state.withLock { $0.onAttempt = body }
        if let failure { body(failure) }
    }

    /// The error of the last attempt to write; nil once one succeeds.
    package var failure: (any Error)? { state.withLock { $0.flushFailure ?? $0.mergeFailure } }

    /// True if flushes have failed for so long that the memory of a writer would be used up.
    package var isFull: Bool { views.trees.waitingGenerations >= Self.maximumWaiting.1 }

    /// Reports a state that was published.
    ///
    /// - Parameter isInLog: false if it has changes that folding the log would not make, such as rows of a new index.
    ///   The store then ends with a state, so that the next opening has them.
    package func didPublish(isInLog: Bool = true) {
        state.withLock { state in
            state.changeCount += 1
            state.isBeyondLog = state.isBeyondLog || !isInLog
        }
        if views.trees.waitingGenerations > 0 {
            views.noteWaiting()
            state.notifyAll()
        }
    }

    /// Waits while there are too many changes in memory, or too many runs; returns false on timeout. A writer calls it
    /// before each batch. If a flush or a merge fails, there is nothing to wait for.
    package func awaitRoom(milliseconds: Int) -> Bool {
        let trees = views.trees
        if trees.waitingGenerations < Self.maximumWaiting.0, !trees.isCrowded { return true }
        return state.wait(milliseconds: milliseconds) { state in
            let hasMemory = trees.waitingGenerations < Self.maximumWaiting.0 || state.flushFailure != nil
            let hasRuns = !trees.isCrowded || state.mergeFailure != nil || !trees.isMergeDue(isAtRest: false)
            return hasMemory && hasRuns || state.isAbandoned ? () : nil
        } != nil
    }

    /// Waits until the complete generations up to an offset are durable; returns false if nothing more is written.
    ///
    /// - Throws: the error of the next attempt.
    package func awaitFlush(through offset: UInt64) throws -> Bool {
        // The thread tries again at once, though it pauses after a failure.
        state.withLock { $0.flushFailure = nil }
        state.notifyAll()
        return try state.wait { state -> Bool? in
            if state.isAbandoned { return false }
            if let failure = state.flushFailure { throw failure }
            return views.trees.nextToFlush().map { $0.foldedOffset(ViewTree.records) > offset } ?? true ? true : nil
        }
    }

    /// Ends the thread, after the rest of the changes is written if it is large.
    ///
    /// - Throws: the error that prevented it; the log is complete nevertheless.
    package func stop() throws {
        let isLarge = views.trees.memoryBytes > Self.fewBytes
        // The log has removed what a state before its floor needs.
        let hasState = views.trees.durablePosition.map { $0.offset >= views.log.floor.offset } ?? false
        let isDue = isLarge || !hasState || state.withLock { $0.isBeyondLog }
        let freezing = Result { if isDue { try views.trees.freeze() } }
        state.withLock { $0.isStopping = true }
        join()
        try freezing.get()
        if let failure = state.withLock({ $0.flushFailure }) { throw failure }
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
        WorkerThread.lowerPriority()
        var pause = Self.retryMilliseconds.lowerBound
        while true {
            let isDone: Bool
            switch next() {
            case .end: return
            case .flush(let snapshot): isDone = attempt(\.flushFailure) { try views.flush(snapshot) }
            case .merge(let isAtRest):
                isDone = attempt(\.mergeFailure) { try views.trees.mergeStep(isAtRest: isAtRest) }
            }
            if isDone {
                pause = Self.retryMilliseconds.lowerBound
                continue
            }
            if state.withLock({ $0.isStopping && $0.flushFailure != nil }) { return }
            // A flush does not wait for a merge that failed.
            _ = state.wait(milliseconds: pause) { state in
                state.isStopping || state.flushFailure == nil && views.trees.waitingGenerations > 0 ? () : nil
            }
            pause = min(2 * pause, Self.retryMilliseconds.upperBound)
        }
    }

    /// Returns true if `body` succeeds, and reports its error.
    private func attempt(_ failure: WritableKeyPath<State, (any Error)?>, _ body: () throws -> Void) -> Bool {
        var error: (any Error)?
        do { try body() } catch let thrown { error = thrown }
        let report = state.withLock { state in
            state[keyPath: failure] = error
            state.hasReplaced = state.hasReplaced || error == nil
            return state.onAttempt
        }
        state.notifyAll()
        report?(error)
        return error == nil
    }

    /// Waits for something to do.
    private func next() -> Work {
        while true {
            let changeCount = state.withLock { $0.changeCount }
            let work = state.wait(milliseconds: restMilliseconds) { state -> Work? in
                if state.isAbandoned { return .end }
                if let snapshot = views.trees.nextToFlush() { return .flush(snapshot) }
                // Another thread may have written what failed here.
                state.flushFailure = nil
                if state.isStopping { return .end }
                if views.trees.isMergeDue(isAtRest: false) { return .merge(isAtRest: false) }
                let isAtRest = state.restCount == state.changeCount
                return isAtRest && views.trees.isMergeDue(isAtRest: true) ? .merge(isAtRest: true) : nil
            }
            if let work { return work }
            let release = state.withLock { state -> (@Sendable () -> Bool)? in
                guard state.changeCount == changeCount, !state.isStopping else { return nil }
                state.restCount = changeCount
                return state.hasReplaced ? state.onRest : nil
            }
            if release?() == true { state.withLock { $0.hasReplaced = false } }
        }
    }
}
