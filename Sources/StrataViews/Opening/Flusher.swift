import StrataLog
import StrataModel
import StrataSystem
import StrataTree

/// Writes complete generations of changes as runs, and merges runs, in the background.
///
/// ```swift
/// let flusher = try Flusher(views)
/// flusher.didPublish()   // after each batch
/// try flusher.stop()
/// ```
package final class Flusher: Sendable {
    /// The error of the last attempt, and when the next one is due.
    private struct Failure {
        let error: any Error
        let pauseMilliseconds: Int
        let retry: ContinuousClock.Instant

        init(_ error: any Error, after last: Failure?) {
            let milliseconds = last.map { 2 * $0.pauseMilliseconds } ?? retryMilliseconds.lowerBound
            (self.error, pauseMilliseconds) = (error, min(milliseconds, retryMilliseconds.upperBound))
            retry = .now + .milliseconds(pauseMilliseconds)
        }
    }

    private struct State {
        /// The number of states that were published, and the number and time at which a step last found more.
        var changeCount = 0
        var seen = (changeCount: 0, instant: ContinuousClock.now)
        /// The newest generation that waits, of those that were announced.
        var announced: UInt64?
        /// True if a published state has changes that the log does not have.
        var isBeyondLog = false
        /// True if nothing is left to do before a state is published.
        var isIdle = false
        /// True if nothing more is written in the background.
        var isOver = false
        /// Nil if the last attempt succeeded.
        var flushFailure: Failure?
        var mergeFailure: Failure?
        /// True if states may be held that were replaced.
        var hasReplaced = true
        var onRest: (@Sendable () -> Bool)?
        var onAttempt: (@Sendable ((any Error)?) -> Void)?
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
    private let job = BackgroundJob()

    /// - Parameter restMilliseconds: only tests change it.
    package init(_ views: Views, restMilliseconds: Int = 5_000) throws {
        self.views = views
        self.restMilliseconds = restMilliseconds
        views.noteWaiting()
        try job.start { [self] in step() }
    }

    /// Has `body` called at rest, to release states that flushes and merges replaced; until it returns true, again.
    package func onRest(_ body: @escaping @Sendable () -> Bool) {
        state.withLock { ($0.onRest, $0.isIdle) = (body, false) }
        job.wake()
    }

    /// Has `body` called with the result of each flush and step of a merge: nil, or the error.
    package func onAttempt(_ body: @escaping @Sendable ((any Error)?) -> Void) {
        state.withLock { $0.onAttempt = body }
        if let failure { body(failure) }
    }

    /// The error of the last attempt to write; nil once one succeeds.
    package var failure: (any Error)? { state.withLock { ($0.flushFailure ?? $0.mergeFailure)?.error } }

    /// True if flushes have failed for so long that the memory of a writer would be used up.
    package var isFull: Bool { views.trees.waitingGenerations >= Self.maximumWaiting.1 }

    /// Reports a state that was published.
    ///
    /// - Parameter isInLog: false if it has changes that folding the log would not make, such as rows of a new index.
    ///   The store then ends with a state, so that the next opening has them.
    package func didPublish(isInLog: Bool = true) {
        let waiting = views.trees.newestWaitingEpoch
        let (hasMore, isIdle) = state.withLock { state in
            state.changeCount += 1
            state.isBeyondLog = state.isBeyondLog || !isInLog
            defer { (state.announced, state.isIdle) = (waiting, false) }
            return (waiting != nil && waiting != state.announced, state.isIdle)
        }
        if hasMore { views.noteWaiting() }
        if hasMore || isIdle { job.wake() }
    }

    /// Waits while there are too many changes in memory, or too many runs; returns false on timeout. A writer calls it
    /// before each batch. If a flush or a merge fails, there is nothing to wait for.
    package func awaitRoom(milliseconds: Int) -> Bool {
        let trees = views.trees
        if trees.waitingGenerations < Self.maximumWaiting.0, !trees.isCrowded { return true }
        // A merge may have become possible without a change, for example because the disk has room again.
        job.wake()
        return state.wait(milliseconds: milliseconds) { state in
            let hasMemory = trees.waitingGenerations < Self.maximumWaiting.0 || state.flushFailure != nil
            let hasRuns = !trees.isCrowded || state.mergeFailure != nil || !trees.isMergeDue(isAtRest: false)
            return hasMemory && hasRuns || state.isOver ? () : nil
        } != nil
    }

    /// Waits until the complete generations up to an offset are durable; returns false if nothing more is written.
    ///
    /// - Throws: the error of the next attempt.
    package func awaitFlush(through offset: UInt64) throws -> Bool {
        // Tried again at once, though a failure is followed by a pause.
        state.withLock { $0.flushFailure = nil }
        job.wake()
        return try state.wait { state -> Bool? in
            if state.isOver { return false }
            if let failure = state.flushFailure { throw failure.error }
            return views.trees.nextToFlush().map { $0.foldedOffset(ViewTree.records) > offset } ?? true ? true : nil
        }
    }

    /// Ends the work in the background, and writes the rest of the changes if it is large.
    ///
    /// - Throws: the error that prevented it; the log is complete nevertheless.
    package func stop() throws {
        // Nothing more is written of views that were abandoned.
        if state.withLock({ $0.isOver }) { return }
        abandon()
        let isLarge = views.trees.memoryBytes > Self.fewBytes
        // The log has removed what a state before its floor needs.
        let hasState = views.trees.durablePosition.map { $0.offset >= views.log.floor.offset } ?? false
        let isDue = isLarge || !hasState || state.withLock { $0.isBeyondLog }
        let freezing = Result { if isDue { try views.trees.freeze() } }
        // What failed is tried once more.
        state.withLock { $0.flushFailure = nil }
        while let snapshot = views.trees.nextToFlush() {
            _ = attempt(\.flushFailure) { try views.flush(snapshot) }
            if let failure = state.withLock({ $0.flushFailure }) { throw failure.error }
        }
        try freezing.get()
    }

    /// Ends the work in the background and writes nothing more, for example because the states cannot be trusted. A
    /// file that is being written is completed first.
    package func abandon() {
        state.withLock { $0.isOver = true }
        state.notifyAll()
        job.stop()
    }

    // MARK: The job

    private func step() -> BackgroundJob.NextStep {
        if let snapshot = views.trees.nextToFlush() {
            return attempt(\.flushFailure) { try views.flush(snapshot) }
        }
        // Another thread may have written what failed here.
        let restStart = state.withLock { state in
            state.flushFailure = nil
            let now = ContinuousClock.now
            if state.changeCount != state.seen.changeCount { state.seen = (state.changeCount, now) }
            return state.seen.instant + .milliseconds(restMilliseconds)
        }
        let isAtRest = restStart <= .now
        if views.trees.isMergeDue(isAtRest: isAtRest) {
            return attempt(\.mergeFailure) { try views.trees.mergeStep(isAtRest: isAtRest) }
        }
        return isAtRest ? rest() : .at(restStart)
    }

    private func rest() -> BackgroundJob.NextStep {
        if let release = state.withLock({ $0.hasReplaced ? $0.onRest : nil }) {
            guard release() else { return .at(.now + .milliseconds(restMilliseconds)) }
            state.withLock { $0.hasReplaced = false }
        }
        return state.withLock { state in
            state.isIdle = state.changeCount == state.seen.changeCount
            return state.isIdle ? .whenWoken : .now
        }
    }

    /// Calls `body`, unless its last attempt failed a moment ago, and reports its error.
    private func attempt(
        _ failure: WritableKeyPath<State, Failure?>, _ body: () throws -> Void
    ) -> BackgroundJob.NextStep {
        let last = state.withLock { $0[keyPath: failure] }
        if let last, .now < last.retry { return .at(last.retry) }
        var error: (any Error)?
        do { try body() } catch let thrown { error = thrown }
        let report = state.withLock { state in
            state[keyPath: failure] = error.map { Failure($0, after: last) }
            state.hasReplaced = state.hasReplaced || error == nil
            return state.onAttempt
        }
        state.notifyAll()
        report?(error)
        return .now
    }
}
