import StrataSystem

/// What was wrong in a run, and how long nothing was acknowledged.
final class Tally: Sendable {
    private struct State {
        var violations: [String] = []
        var violationCount = 0
        var failedOpenings = 0
        var start = ContinuousClock.now
        var end: ContinuousClock.Instant?
        var lastAcknowledgement = ContinuousClock.now
        var longestPause = Duration.zero
        var recovery = Duration.zero
    }

    private let state = Lock(State())
    private let isQuiet: Bool

    private static let keptViolations = 50

    init(isQuiet: Bool = false) { self.isQuiet = isQuiet }

    // MARK: Violations

    func violation(_ text: String) {
        let isShown = state.withLock { state in
            state.violationCount += 1
            if state.violations.count < Self.keptViolations { state.violations.append(text) }
            return state.violationCount <= Self.keptViolations
        }
        if isShown { say("WRONG: \(text)") }
    }

    var violationCount: Int { state.withLock { $0.violationCount } }
    var violations: [String] { state.withLock { $0.violations } }

    func say(_ text: String) {
        if !isQuiet { StoreWorker.complain(text) }
    }

    /// Counts a process that could not open its store because it could not reach the sequencer.
    func noteFailedOpening() { state.withLock { $0.failedOpenings += 1 } }
    var failedOpenings: Int { state.withLock { $0.failedOpenings } }

    // MARK: Time

    func startClock() {
        state.withLock { state in
            state.start = .now
            state.lastAcknowledgement = .now
        }
    }

    func stopClock() { state.withLock { $0.end = .now } }

    /// The time between the two.
    var seconds: Double { state.withLock { $0.start.duration(to: $0.end ?? $0.start) / .seconds(1) } }

    /// Notes an acknowledged commit, and the time since the one before.
    func noteAcknowledgement() {
        state.withLock { state in
            let now = ContinuousClock.now
            if state.end == nil {
                state.longestPause = max(state.longestPause, state.lastAcknowledgement.duration(to: now))
            }
            state.lastAcknowledgement = now
        }
    }

    var longestPauseSeconds: Double { state.withLock { $0.longestPause / .seconds(1) } }

    /// Notes the time from the last fault until all processes had acknowledged something.
    func noteRecovery(_ duration: Duration) { state.withLock { $0.recovery = duration } }
    var recoverySeconds: Double { state.withLock { $0.recovery / .seconds(1) } }
}
