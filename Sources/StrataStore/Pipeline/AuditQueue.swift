import StrataModel
import StrataSystem

/// The kinds of audits that are noted, and how long they may wait.
struct AuditPolicy: Sendable {
    /// The number of waiting bytes above which audits are written early.
    static let maximumWaitingBytes = 1 << 20

    var recordsRefusals = false
    var recordsFetches = false
    /// The maximum time that an audit waits for a batch to join.
    var delayMilliseconds = 1_000
}

/// The audits that wait for the next batch with commits. After some time, when they are too many, or when the store
/// closes, they are submitted without one.
final class AuditQueue: Sendable {
    private struct State {
        var waiting: [Audit] = []
        var byteCount = 0
        var since = ContinuousClock.now
        var keptRequests = KeptRequests()
        var hasStarted = false
        var isClosed = false

        var isFull: Bool { byteCount > AuditPolicy.maximumWaitingBytes }

        mutating func add(_ audits: [Audit]) {
            if waiting.isEmpty { since = .now }
            waiting += audits
            byteCount += audits.reduce(0) { $0 + $1.byteCount }
        }

        mutating func take() -> [Audit] {
            defer { (waiting, byteCount) = ([], 0) }
            return waiting
        }
    }

    let policy: AuditPolicy
    private let state = Monitor(State())
    private let submitter = WorkerHandle()

    init(_ policy: AuditPolicy) { self.policy = policy }

    var waiting: [Audit] { state.withLock { $0.waiting } }
    var byteCount: Int { state.withLock { $0.byteCount } }
    var isEmpty: Bool { state.withLock { $0.waiting.isEmpty } }
    var isFull: Bool { state.withLock { $0.isFull } }

    /// Adds audits.
    ///
    /// - Parameter submitting: submits them when they are due, until the queue is closed; the first call starts a
    ///   thread with it.
    func add(_ audits: [Audit], submitting: @escaping @Sendable () -> Void) {
        if audits.isEmpty { return }
        let (wakes, starts) = state.withLock { state in
            if state.isClosed { return (false, false) }
            let wasEmpty = state.waiting.isEmpty
            state.add(audits)
            defer { state.hasStarted = true }
            return (wasEmpty || state.isFull, !state.hasStarted)
        }
        if wakes { state.notifyAll() }
        // Without a thread, they wait for a batch with commits.
        if starts { try? submitter.start(name: "strata-audits", submitting) }
    }

    /// Returns the audits for which their users have room, some without their requests.
    func admit(_ audits: [Audit]) -> [Audit] {
        audits.isEmpty ? [] : state.withLock { state in audits.compactMap { state.keptRequests.admit($0) } }
    }

    func take() -> [Audit] {
        let taken = state.withLock { $0.take() }
        if !taken.isEmpty { state.notifyAll() }
        return taken
    }

    /// Removes the audits that contain requests, up to a time in microseconds.
    func removeRequests(through time: Int64 = .max) {
        func isKept(_ audit: Audit) -> Bool {
            audit.time > time || ![.requestRefused, .nothingToDelete].contains(audit.event.kind)
        }
        state.withLock { $0.add($0.take().filter(isKept)) }
    }

    /// Puts back audits that did not reach the log, before newer ones. If the log keeps accepting none, the oldest are
    /// lost.
    func putBack(_ audits: [Audit]) {
        if audits.isEmpty { return }
        state.withLock { state in
            let newer = state.take()
            state.add(audits + newer)
            let surplus = state.waiting.prefix { audit in
                guard state.isFull else { return false }
                state.byteCount -= audit.byteCount
                return true
            }
            state.waiting.removeFirst(surplus.count)
        }
        state.notifyAll()
    }

    /// Waits until there is room for more audits, at most as long as one may wait.
    func awaitRoom() {
        state.wait(milliseconds: policy.delayMilliseconds) { !$0.isFull || $0.isClosed ? () : nil }
    }

    /// Waits until audits must not wait any longer; returns false once the queue is closed.
    ///
    /// - Parameter again: true if those that were due could not be written, so that they wait as long as new ones even
    ///   if they are too many.
    func awaitDue(again: Bool = false) -> Bool {
        while true {
            let left = state.wait { state -> Int?? in
                if state.isClosed { return .some(nil) }
                // In one expression with the next line, nil would mean that the queue is closed.
                if state.waiting.isEmpty { return nil }
                return state.isFull && !again ? 0 : millisecondsLeft(state)
            }
            guard let left else { return false }
            if left <= 0 {
                // If they cannot be written now, they wait again.
                state.withLock { $0.since = .now }
                return true
            }
            state.wait(milliseconds: left) { $0.isClosed || $0.isFull && !again ? () : nil }
        }
    }

    private func millisecondsLeft(_ state: State) -> Int {
        policy.delayMilliseconds - Int(state.since.duration(to: .now) / .milliseconds(1))
    }

    /// Takes no more audits, and waits for the thread to end.
    func close() {
        state.withLock { $0.isClosed = true }
        state.notifyAll()
        submitter.join()
    }
}
