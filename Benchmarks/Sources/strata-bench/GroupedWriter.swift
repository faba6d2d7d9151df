import StrataSystem

/// SQLite for many clients: what waits goes into one transaction, so that all of it shares a sync.
final class GroupedWriter: Sendable {
    private struct State {
        var waiting: [(index: Int, reply: Reply<Void>)] = []
        var isClosed = false
    }

    private let state = Monitor(State())
    private let worker = WorkerHandle()

    init(_ store: SQLiteStore) throws {
        try worker.start(name: "sqlite-writer") { [state] in
            while let rows = state.wait({ Self.take(&$0) }) {
                let result = Result { try store.together { for row in rows { try store.add(row.index) } } }
                for row in rows { row.reply.resume(result) }
            }
        }
    }

    /// Waits on nil; `.some(nil)` is the end.
    private static func take(_ state: inout State) -> [(index: Int, reply: Reply<Void>)]?? {
        guard !state.waiting.isEmpty else { return state.isClosed ? .some(nil) : nil }
        defer { state.waiting.removeAll(keepingCapacity: true) }
        return .some(state.waiting)
    }

    private func enter(_ index: Int, _ reply: Reply<Void>) {
        let isFirst = state.withLock { state in
            state.waiting.append((index, reply))
            return state.waiting.count == 1
        }
        if isFirst { state.notifyAll() }
    }

    func add(_ index: Int) throws {
        let ticket = Ticket<Void>()
        enter(index, .ticket(ticket))
        try ticket.wait()
    }

    func add(_ index: Int) async throws {
        try await withCheckedThrowingContinuation { enter(index, .continuation($0)) }
    }

    func close() {
        state.withLock { $0.isClosed = true }
        state.notifyAll()
        worker.join()
    }
}
