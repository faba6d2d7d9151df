import Glibc
import StrataConnections
import StrataModel
import StrataStore
import StrataSystem
import Synchronization
import TestSupport

extension ReplicatedWorkload {
    private static let interruptedClients = 4

    /// The server that takes the writes is killed, and paused.
    func failures(_ kind: SequencerKind, _ progress: (String) -> Void) throws -> [Measurement] {
        try [("killed", SIGKILL), ("paused", SIGSTOP)].flatMap { word, signal in
            progress("leader \(word)")
            let outcomes = try (0..<(size.isQuick ? 1 : 3)).map { _ in try interruption(kind, by: signal) }
            return [
                measurement("leader \(word): writes again after", "s", outcomes.map(\.seconds), bar: .atMost(12)),
                measurement("leader \(word): requests without a result", "", outcomes.map { Double($0.expected) }),
                measurement(
                    "leader \(word): other errors", "", outcomes.map { Double($0.others) }, bar: .atMost(1)),
            ]
        }
    }

    private struct Outcome {
        var seconds: Double
        var expected: Int
        var others: Int
    }

    private func interruption(_ kind: SequencerKind, by signal: Int32) throws -> Outcome {
        let servers = try kind.start(in: base)
        let (store, address) = try create(servers, "interrupted")
        defer { remove(store, "interrupted") }
        let (records, numbers) = (records, TaskNumbers(from: 0))
        let journal = Journal(clients: Self.interruptedClients)
        let threads = try (0..<Self.interruptedClients).map { client in
            try WorkerThread(name: "client") {
                while !journal.isOver {
                    let start = secondsNow()
                    do {
                        try Self.save(numbers.take(1), records, store)
                        journal.note(success: client, from: start)
                    } catch {
                        journal.note(error)
                        usleep(10_000)
                    }
                }
            }
        }
        let isWriting = eventually { journal.successCount >= 500 }
        let begin = journal.interrupt()
        let from = try servers.interruptLeader(of: address, with: signal)
        let isBack = isWriting && eventually { journal.hasRecovered }
        journal.end()
        for thread in threads { thread.join() }
        guard isBack else { throw BenchError(message: "writes did not go on: \(journal.last)") }
        return journal.outcome(from: max(begin, from))
    }

    /// What the clients were answered.
    private final class Journal: Sendable {
        private struct State {
            /// When each client was answered a request that it began after the interruption.
            var recovered: [Double?]
            var interruption = Double.infinity
            var successCount = 0
            var expected = 0
            var others = 0
            var last = ""
            var isOver = false
        }

        private let state: Lock<State>

        init(clients: Int) { state = Lock(State(recovered: Array(repeating: nil, count: clients))) }

        var isOver: Bool { state.withLock { $0.isOver } }
        var successCount: Int { state.withLock { $0.successCount } }
        var hasRecovered: Bool { state.withLock { state in state.recovered.allSatisfy { $0 != nil } } }
        var last: String { state.withLock { $0.last } }

        func end() { state.withLock { $0.isOver = true } }

        func interrupt() -> Double {
            state.withLock { state in
                state.interruption = secondsNow()
                return state.interruption
            }
        }

        func note(success client: Int, from start: Double) {
            state.withLock { state in
                state.successCount += 1
                if start > state.interruption, state.recovered[client] == nil { state.recovered[client] = secondsNow() }
            }
        }

        func note(_ error: any Error) {
            state.withLock { state in
                let code = (error as? Refusal)?.code
                if code == .serverResponseLost || code == .serviceUnavailable {
                    state.expected += 1
                } else {
                    state.others += 1
                }
                state.last = "\(error)"
            }
        }

        func outcome(from start: Double) -> Outcome {
            state.withLock { state in
                let end = state.recovered.compactMap(\.self).max() ?? .infinity
                return Outcome(seconds: max(0, end - start), expected: state.expected, others: state.others)
            }
        }
    }
}
