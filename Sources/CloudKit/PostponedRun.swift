/// The run of an operation whose subject the store does not have yet: it says so.
// @unchecked: the block is called on the operation's own queue alone.
struct PostponedRun: OperationRun, @unchecked Sendable {
    let call: DatabaseCall
    let what: String
    let failed: (CKError) -> Void

    var settings: CallSettings { call.settings }
    var timeoutCode: CKError.Code { .networkFailure }

    func perform(_: OperationPieces) async throws { throw DatabaseCall.notYet(what) }

    func deliver(_ outcome: Result<Void, CKError>, isCancelled: () -> Bool) {
        if case .failure(let error) = outcome { failed(error) }
    }
}
