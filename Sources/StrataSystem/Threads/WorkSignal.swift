/// Wakes a thread when it has work, and ends its loop.
package final class WorkSignal: Sendable {
    private let state: Monitor<State>

    private struct State {
        var hasWork: Bool
        var isOver = false
    }

    /// - Parameter hasWork: true if the thread has work from the start.
    package init(hasWork: Bool) { state = Monitor(State(hasWork: hasWork)) }

    /// Adds work. What is added while the thread works counts as more.
    package func wake() {
        state.withLock { $0.hasWork = true }
        state.notifyAll()
    }

    package func end() {
        state.withLock { $0.isOver = true }
        state.notifyAll()
    }

    /// Waits until there is work, or until a time has passed; returns false once ``end()`` was called.
    package func wait(milliseconds: Int? = nil) -> Bool {
        func next(_ state: inout State) -> Bool? {
            if state.isOver { return false }
            defer { state.hasWork = false }
            return state.hasWork ? true : nil
        }
        guard let milliseconds else { return state.wait { next(&$0) } }
        return state.wait(milliseconds: milliseconds) { next(&$0) } ?? true
    }
}
