import StrataSystem

/// A store for many clients: what waits goes into one transaction, so that all of it shares a sync.
final class GroupedTasks: AsyncTaskStore {
    let engine: String
    let configuration: String
    let paths: [String]

    private struct State {
        var waiting: [(writes: [TaskWrite], reply: Reply<Void>)] = []
        var isClosed = false
    }

    private let base: any TaskStore
    private let state = Monitor(State())
    private let worker = WorkerHandle()

    init(_ base: any TaskStore) throws {
        self.base = base
        engine = "\(base.engine) grouped"
        configuration = base.configuration
        paths = base.paths
        try worker.start(name: "grouping") { [state] in
            while let requests = state.wait({ Self.take(&$0) }) {
                let result = Result { try base.write(requests.flatMap(\.writes)) }
                for request in requests { request.reply.resume(result) }
            }
        }
    }

    /// Waits on nil; `.some(nil)` is the end.
    private static func take(_ state: inout State) -> [(writes: [TaskWrite], reply: Reply<Void>)]?? {
        guard !state.waiting.isEmpty else { return state.isClosed ? .some(nil) : nil }
        defer { state.waiting.removeAll(keepingCapacity: true) }
        return .some(state.waiting)
    }

    private func enter(_ writes: [TaskWrite], _ reply: Reply<Void>) {
        let isFirst = state.withLock { state in
            state.waiting.append((writes, reply))
            return state.waiting.count == 1
        }
        if isFirst { state.notifyAll() }
    }

    func fill(_ count: Int) throws { try base.fill(count) }
    func resume(after count: Int) throws { try base.resume(after: count) }
    func addUsers(_ count: Int) throws { try base.addUsers(count) }
    func reader(isShared: Bool) throws -> any TaskReader { try base.reader(isShared: isShared) }

    func write(_ writes: [TaskWrite]) throws {
        let ticket = Ticket<Void>()
        enter(writes, .ticket(ticket))
        try ticket.wait()
    }

    func write(_ writes: [TaskWrite]) async throws {
        try await withCheckedThrowingContinuation { enter(writes, .continuation($0)) }
    }

    /// Ends the grouping; the store itself stays open.
    func close() {
        state.withLock { $0.isClosed = true }
        state.notifyAll()
        worker.join()
    }
}
