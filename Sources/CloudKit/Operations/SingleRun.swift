/// Makes one request and reports its only result, for operations without items.
// @unchecked: the block is called only on the operation's own queue.
struct SingleRun<Value: Sendable>: OperationRun, @unchecked Sendable {
    let settings: CallSettings
    let make: @Sendable () async throws -> Value
    let report: (Result<Value, CKError>) -> Void

    var timeoutCode: CKError.Code { .networkFailure }

    func perform(_ pieces: OperationPieces) async throws -> Value { try await make() }

    func deliver(_ outcome: Result<Value, CKError>, isCancelled: () -> Bool) {
        report(isCancelled() ? .failure(.cancelled) : outcome)
    }
}

extension Result where Failure == CKError {
    /// The error for a block of the first API; nil for a success.
    var oldError: (any Error)? { if case .failure(let error) = self { error } else { nil } }
}
