/// The thread or task that waits for a result.
package enum Reply<Value: Sendable>: Sendable {
    case ticket(Ticket<Value>)
    case continuation(CheckedContinuation<Value, any Error>)
    case function(@Sendable (Result<Value, any Error>) -> Void)

    package func resume(_ result: Result<Value, any Error>) {
        switch self {
        case .ticket(let ticket): ticket.resolve(result)
        case .continuation(let continuation): continuation.resume(with: result)
        case .function(let function): function(result)
        }
    }
}

/// A result that a thread waits for.
package final class Ticket<Value: Sendable>: Sendable {
    private let gate = Gate()
    private let result = Lock<Result<Value, any Error>?>(nil)

    package init() {}

    func resolve(_ result: Result<Value, any Error>) {
        self.result.withLock { $0 = result }
        gate.open()
    }

    package func wait() throws -> Value {
        gate.wait()
        guard let result = result.withLock({ $0 }) else {
            preconditionFailure("a ticket's gate must open after its result is set")
        }
        return try result.get()
    }
}
