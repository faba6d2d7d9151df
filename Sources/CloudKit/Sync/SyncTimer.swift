import StrataSystem

/// Calls an action at a time on the store's clock. While no time is set, nothing runs.
final class SyncTimer: Sendable {
    private struct State {
        var due: Int64?
        var sleeper: (id: UInt64, until: Int64, task: Task<Void, Never>)?
        var lastID: UInt64 = 0
        var action: @Sendable () async -> Void = {}
    }

    private enum Step {
        case sleep(until: Int64)
        case act(@Sendable () async -> Void)
        case end
    }

    private let clock: any SyncClock
    private let state = Lock(State())

    init(_ clock: any SyncClock) { self.clock = clock }

    deinit { set(nil) }

    func onDue(_ action: @escaping @Sendable () async -> Void) { state.withLock { $0.action = action } }

    /// Sets the time of the next call; nil for none.
    func set(_ due: Int64?) {
        let replaced = state.withLock { state -> Task<Void, Never>? in
            state.due = due
            // A sleeper that wakes early sleeps on.
            if let due, let sleeper = state.sleeper, sleeper.until <= due { return nil }
            let old = state.sleeper?.task
            state.sleeper = nil
            guard let due else { return old }
            state.lastID += 1
            let id = state.lastID
            state.sleeper = (id, due, sleeper(id, until: due))
            return old
        }
        replaced?.cancel()
    }

    /// Detached: it must not inherit the mark of a callback in which the time was set.
    private func sleeper(_ id: UInt64, until due: Int64) -> Task<Void, Never> {
        Task.detached { [weak self, clock] in
            var due = due
            while true {
                do { try await clock.sleep(untilMicroseconds: due) } catch { return }
                switch self?.wake(id, clock.nowMicroseconds()) ?? .end {
                case .sleep(let until): due = until
                case .act(let action): return await action()
                case .end: return
                }
            }
        }
    }

    private func wake(_ id: UInt64, _ now: Int64) -> Step {
        state.withLock { state in
            guard state.sleeper?.id == id, let due = state.due else { return .end }
            if due > now {
                state.sleeper?.until = due
                return .sleep(until: due)
            }
            state.due = nil
            state.sleeper = nil
            return .act(state.action)
        }
    }
}
