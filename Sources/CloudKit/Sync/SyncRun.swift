import StrataSystem

/// A fetch or a send that runs or waits for its turn.
final class SyncRun: Sendable {
    private struct State {
        /// The zones of a fetch; nil for a send.
        var scope: CKSyncEngine.FetchChangesOptions.Scope?
        var isCancelled = false
        /// True if the task of its call was canceled, and nothing else.
        var isAbandoned = false
        var result: Result<Void, CKError>?
        var waiting: [CheckedContinuation<Void, Never>] = []
    }

    private let state: Lock<State>

    init(_ scope: CKSyncEngine.FetchChangesOptions.Scope?) { state = Lock(State(scope: scope)) }

    var isCancelled: Bool { state.withLock { $0.isCancelled } }

    var isAbandoned: Bool { state.withLock { $0.isAbandoned } }

    func cancel() {
        state.withLock { state in
            state.isCancelled = true
            state.isAbandoned = false
        }
    }

    /// Cancels the run for its own call, not for those that joined it.
    func abandon() {
        state.withLock { state in
            if !state.isCancelled { state.isAbandoned = true }
            state.isCancelled = true
        }
    }

    func setScope(_ scope: CKSyncEngine.FetchChangesOptions.Scope) { state.withLock { $0.scope = scope } }

    /// Returns true if a fetch of the scope needs no run of its own.
    func covers(_ scope: CKSyncEngine.FetchChangesOptions.Scope) -> Bool {
        state.withLock { !$0.isCancelled && $0.result == nil && $0.scope?.covers(scope) == true }
    }

    /// - Throws: `operationCancelled` if the run was canceled.
    func requireNotCancelled() throws(CKError) {
        if isCancelled { throw CKError(.operationCancelled, message: "The sync was canceled.") }
    }

    func end(_ result: Result<Void, CKError>) {
        let waiting = state.withLock { state in
            state.result = result
            defer { state.waiting = [] }
            return state.waiting
        }
        for waiter in waiting { waiter.resume() }
    }

    /// Returns once the run has ended.
    func wait() async {
        await withCheckedContinuation { continuation in
            let hasEnded = state.withLock { state in
                if state.result == nil { state.waiting.append(continuation) }
                return state.result != nil
            }
            if hasEnded { continuation.resume() }
        }
    }

    /// Returns the result of the run once it has ended.
    var result: Result<Void, CKError> {
        get async {
            await wait()
            return state.withLock { $0.result } ?? .success(())
        }
    }
}
