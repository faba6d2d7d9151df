import StrataLog
import StrataSystem

/// How far the published state is, for whoever follows it.
final class Publication: Sendable {
    private struct State {
        var offset: UInt64
        var isClosed = false
        /// What the thread that waits wants to be passed; nobody waits for the end of all offsets.
        var waitedPast = UInt64.max
        /// Something else that they are to look at.
        var alarms = 0
    }

    private let state: Monitor<State>
    private let tasks = EndWaiters()

    init(offset: UInt64) { state = Monitor(State(offset: offset)) }

    var offset: UInt64 { state.withLock { $0.offset } }
    var isClosed: Bool { state.withLock { $0.isClosed } }

    func announce(_ offset: UInt64) {
        let isAwaited = state.withLock { state in
            state.offset = max(state.offset, offset)
            return state.offset > state.waitedPast
        }
        if isAwaited { state.notifyAll() }
        tasks.wake(end: offset, isClosed: false)
    }

    func close() {
        state.withLock { $0.isClosed = true }
        state.notifyAll()
        tasks.wake(end: .max, isClosed: true)
    }

    /// Has the thread that waits look around.
    func alarm() {
        state.withLock { $0.alarms += 1 }
        state.notifyAll()
    }

    /// Has tasks that wait look whether what they wait for still matters.
    func stir() { tasks.wake(end: .max, isClosed: false) }

    /// Returns once the state is behind `offset`, or this is closed, or an alarm came, or after a while.
    func wait(past offset: UInt64, alarms: inout Int, milliseconds: Int?) {
        let known = alarms
        func isReached(_ state: inout State) -> Int? {
            state.isClosed || state.offset > offset || state.alarms != known ? state.alarms : nil
        }
        state.withLock { $0.waitedPast = offset }
        defer { state.withLock { $0.waitedPast = .max } }
        if let milliseconds {
            alarms = state.wait(milliseconds: milliseconds) { isReached(&$0) } ?? known
        } else {
            alarms = state.wait { isReached(&$0) }
        }
    }

    /// Returns once the state is behind `offset`, or this is closed, or the task is cancelled.
    func wait(past offset: UInt64) async {
        await tasks.wait(past: offset) { self.state.withLock { $0.isClosed || $0.offset > offset } }
    }
}
