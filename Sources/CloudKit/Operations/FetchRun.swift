/// Fetches items by their IDs, or all items if the operation has no IDs; for records, zones and subscriptions.
// @unchecked: the blocks are called only on the operation's own queue.
struct FetchRun<ID: Hashable & Sendable, Item: Sendable>: OperationRun, @unchecked Sendable {
    typealias Outcome = [(id: ID, result: Result<Item, CKError>)]

    let settings: CallSettings
    /// Nil for an operation that fetches all items.
    let ids: [ID]?
    /// Returns each of some IDs once.
    var unique: ([ID]) -> [ID] = { DatabaseCall.unique($0) }
    /// The message of the error if some items failed.
    let failureMessage: String
    /// Fetches the items. `progress` is nil unless the operation reports it per item.
    let fetch: @Sendable ([ID]?, ItemProgress<ID>?) async throws -> Outcome
    /// Reports the progress of an item that is being fetched.
    var progress: ((ID, Double) -> Void)?
    /// Called for each item before the block of the current API.
    var before: ((ID, Result<Item, CKError>) -> Void)?
    let item: ((ID, Result<Item, Error>) -> Void)?
    let result: ((Result<Void, Error>) -> Void)?
    /// Called if there is no `result`.
    let completion: (([ID: Item]?, Error?) -> Void)?
    /// Returns the key of an item's error in a partial failure.
    var errorKey: (ID) -> AnyHashable = { $0 }

    var timeoutCode: CKError.Code { .networkFailure }

    func perform(_ pieces: OperationPieces) async throws -> Outcome {
        guard progress != nil else { return try await fetch(ids, nil) }
        return try await fetch(ids) { id, fraction in pieces.report { progress?(id, fraction) } }
    }

    func deliver(_ outcome: Result<Outcome, CKError>, isCancelled: () -> Bool) {
        switch outcome {
        case .success(let outcome): deliver(outcome, isCancelled)
        case .failure(let error) where error.code == .operationCancelled:
            deliver(unique(ids ?? []).map { ($0, .failure(error)) }, isCancelled)
        case .failure(let error): finish(nil, error, error)
        }
    }

    private func deliver(_ outcome: Outcome, _ isCancelled: () -> Bool) {
        var fetched: [ID: Item] = [:]
        var errors: [AnyHashable: any Error] = [:]
        for (id, found) in outcome {
            let result = isCancelled() ? .failure(.cancelled) : found
            switch result {
            case .success(let found): fetched[id] = found
            case .failure(let error): errors[errorKey(id)] = error
            }
            before?(id, result)
            item?(id, result.mapError { $0 })
        }
        if isCancelled() { return finish(fetched, .cancelled, .cancelled) }
        finish(fetched, nil, errors.isEmpty ? nil : CKError(partialErrors: errors, message: failureMessage))
    }

    private func finish(_ fetched: [ID: Item]?, _ error: CKError?, _ oldError: CKError?) {
        if let result { return result(error.map { .failure($0) } ?? .success(())) }
        completion?(fetched, oldError)
    }
}
