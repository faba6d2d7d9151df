import StrataSystem

/// Decides when an engine syncs by itself and when it reports its state, on the store's clock (docs/sync-engine.md).
final class SyncScheduler: Sendable {
    /// The causes of a sync.
    struct Causes: Sendable {
        var fetches = false
        var sends = false
        var isEmpty: Bool { !fetches && !sends }
    }

    private static let second: Int64 = 1_000_000
    /// A sync begins after this time without a further cause, and a state is reported after it (B445, B465).
    private static let gathering = second / 10
    /// A sync begins at the latest after this time.
    private static let longestGathering = second
    private static let longestPause = 300 * second

    private struct State {
        var causes = Causes()
        /// True until a scheduled sync after a failed send, which fetches first (B437).
        var hasFailedSend = false
        var firstCause: Int64?
        var lastCause: Int64 = 0
        /// The number of runs that are under way; causes are gathered until they end.
        var running = 0
        /// The failures in a row.
        var failures = 0
        /// The end of the pause after failures, which a push or the network ends early.
        var pausedUntil: Int64?
        /// The end of the pause that the server asked for.
        var refusedUntil: Int64?
        var isStopped = false
        var stateDue: Int64?

        /// The time of the next sync; nil if there is none, or not before the current one has ended.
        var due: Int64? {
            guard running == 0, !isStopped, let firstCause, !causes.isEmpty else { return nil }
            let gathered = min(lastCause + SyncScheduler.gathering, firstCause + SyncScheduler.longestGathering)
            return [gathered, pausedUntil, refusedUntil].compactMap { $0 }.max()
        }
    }

    private let isAutomatic: Bool
    private let clock: any SyncClock
    /// Returns the part of a pause to add to it, from 0 to 1.
    let jitter: @Sendable () -> Double
    private let state = Lock(State())
    let startTimer: SyncTimer
    let syncTimer: SyncTimer
    let stateTimer: SyncTimer

    init(isAutomatic: Bool, _ clock: any SyncClock, jitter: @escaping @Sendable () -> Double) {
        self.isAutomatic = isAutomatic
        self.clock = clock
        self.jitter = jitter
        startTimer = SyncTimer(clock)
        syncTimer = SyncTimer(clock)
        stateTimer = SyncTimer(clock)
    }

    /// The time of the next sync; nil if none is scheduled.
    var due: Int64? { state.withLock { $0.due } }

    /// Schedules the first look at the account, which is part of the first sync if there is one.
    func start() {
        if !isAutomatic { return startTimer.set(clock.nowMicroseconds() + Self.gathering) }
        cause(fetches: true, sends: true)
    }

    // MARK: The state

    /// Notes that the state changed since it was last reported.
    func stateChanged() {
        // Most changes come while a report is due, and need no look at the clock.
        if state.withLock({ $0.stateDue != nil || $0.isStopped }) { return }
        let due = clock.nowMicroseconds() + Self.gathering
        let isFirst = state.withLock { state in
            guard state.stateDue == nil, !state.isStopped else { return false }
            state.stateDue = due
            return true
        }
        if isFirst { stateTimer.set(due) }
    }

    /// Returns true if the state must be reported now, and notes that it is.
    ///
    /// - Parameter isLast: True if it must not wait.
    func takeState(isLast: Bool) -> Bool {
        let isDue = state.withLock { state in
            guard let due = state.stateDue, isLast || due <= clock.nowMicroseconds() else { return false }
            state.stateDue = nil
            return true
        }
        if isDue { stateTimer.set(nil) }
        return isDue
    }

    // MARK: Syncs

    /// Schedules a sync, unless the engine syncs only on demand.
    func cause(fetches: Bool, sends: Bool) {
        guard isAutomatic else { return }
        let now = clock.nowMicroseconds()
        schedule { state in
            state.causes.fetches = state.causes.fetches || fetches
            state.causes.sends = state.causes.sends || sends
            state.firstCause = state.firstCause ?? now
            state.lastCause = now
        }
    }

    /// Schedules a fetch, and ends a pause that the server did not ask for (B441).
    func pushed() {
        guard isAutomatic else { return }
        state.withLock { $0.pausedUntil = nil }
        cause(fetches: true, sends: false)
    }

    /// Ends a pause that the server did not ask for.
    func networkReturned() { schedule { $0.pausedUntil = nil } }

    /// Notes that a send failed.
    func sendFailed() { state.withLock { $0.hasFailedSend = true } }

    /// Begins a call of the program.
    func begin() {
        state.withLock { $0.running += 1 }
        syncTimer.set(nil)
    }

    /// Begins a sync. Returns its causes; nil if there are none, or it is too early since it began to wait.
    func beginScheduled() -> Causes? {
        let now = clock.nowMicroseconds()
        let causes = state.withLock { state -> Causes? in
            guard let due = state.due, due <= now else { return nil }
            state.running += 1
            defer {
                state.causes = Causes()
                state.firstCause = nil
                state.hasFailedSend = false
            }
            return Causes(fetches: state.causes.fetches || state.hasFailedSend, sends: state.causes.sends)
        }
        if causes != nil { syncTimer.set(nil) }
        return causes
    }

    /// Ends a run.
    ///
    /// - Parameters:
    ///   - retry: The error that makes the engine try again (B439); nil if there is none.
    ///   - isSuccess: True if the run shows that the server can be used.
    func end(retry: CKError?, isSuccess: Bool) {
        let now = clock.nowMicroseconds()
        schedule { state in
            state.running -= 1
            if !state.causes.isEmpty {
                // Not before the run has ended (B416).
                state.firstCause = now
                state.lastCause = now
            }
            guard let retry else {
                guard isSuccess else { return }
                state.failures = 0
                state.pausedUntil = nil
                state.refusedUntil = nil
                return
            }
            let pause = min(Self.second << Int64(min(state.failures, 9)), Self.longestPause)
            state.failures += 1
            state.pausedUntil = now + pause + Int64(Double(pause) * jitter())
            state.refusedUntil = retry.retryAfterSeconds.map { now + Int64(min($0, 1e9) * Double(Self.second)) }
            guard isAutomatic else { return }
            state.causes = Causes(fetches: true, sends: true)
            // Long ago: only the pause counts.
            state.firstCause = now - Self.longestGathering
            state.lastCause = now - Self.gathering
        }
    }

    func stop() {
        state.withLock { $0.isStopped = true }
        startTimer.set(nil)
        syncTimer.set(nil)
        stateTimer.set(nil)
    }

    private func schedule(_ body: (inout State) -> Void) {
        let due = state.withLock { state in
            body(&state)
            return state.due
        }
        if let due { syncTimer.set(due) }
    }
}
