import StrataModel
import StrataSystem

/// How whoever waits for a commit is told.
enum CommitReply: Sendable {
    case ticket(CommitTicket)
    case continuation(CheckedContinuation<Position, any Error>)

    func resume(_ result: Result<Position, any Error>) {
        switch self {
        case .ticket(let ticket): ticket.resolve(result)
        case .continuation(let continuation): continuation.resume(with: result)
        }
    }
}

/// A thread that waits for its commit.
final class CommitTicket: Sendable {
    private let gate = Gate()
    private let result = Lock<Result<Position, any Error>?>(nil)

    func resolve(_ result: Result<Position, any Error>) {
        self.result.withLock { $0 = result }
        gate.open()
    }

    func wait() throws -> Position {
        gate.wait()
        guard let result = result.withLock({ $0 }) else {
            preconditionFailure("a ticket's gate opens after its result is there")
        }
        return try result.get()
    }
}

/// Somebody who was not let in because too much waits already, and tries again when told.
enum CommitAdmission: Sendable {
    case gate(Gate)
    case retry(@Sendable () -> Void)

    func open() {
        switch self {
        case .gate(let gate): gate.open()
        case .retry(let body): body()
        }
    }
}

/// A thread that is made after the object whose work it does.
final class WorkerHandle: Sendable {
    private let thread = Lock<WorkerThread?>(nil)

    func start(name: String, _ body: @escaping @Sendable () -> Void) throws {
        let worker = try WorkerThread(name: name, body)
        thread.withLock { $0 = worker }
    }

    /// Waits for its end; a second call returns at once.
    func join() {
        let worker = thread.withLock { thread in
            defer { thread = nil }
            return thread
        }
        worker?.join()
    }
}
