import StrataLog
import StrataSystem

/// The offset of the published state, for threads and tasks that follow it.
final class Publication: Sendable {
    private struct State {
        var offset: UInt64
        var isClosed = false
        /// The offset that the waiting thread waits to pass; the maximum if no thread waits.
        var waitedPast = UInt64.max
        /// The number of times that the waiting thread was woken for another reason.
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

    /// Wakes the waiting thread, whatever the offset.
    func alarm() {
        state.withLock { $0.alarms += 1 }
        state.notifyAll()
    }

    /// Makes waiting tasks check if their reason to wait still holds.
    func wakeAll() { tasks.wake(end: .max, isClosed: false) }

    /// Returns once the state is past `offset`, this is closed, an alarm comes, or the time is over.
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

    /// Returns once the state is past `offset`, this is closed, or the task is canceled.
    func wait(past offset: UInt64) async {
        await tasks.wait(past: offset) { self.state.withLock { $0.isClosed || $0.offset > offset } }
    }
}
