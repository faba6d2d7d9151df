import Foundation

/// A fetch of items by their ids, or of what an operation fetches without any; of records, zones, subscriptions.
// @unchecked: the blocks are called on the operation's own queue alone.
struct FetchRun<ID: Hashable & Sendable, Item: Sendable>: OperationRun, @unchecked Sendable {
    typealias Outcome = [(id: ID, result: Result<Item, CKError>)]

    let settings: CallSettings
    /// Nil for an operation that fetches without ids.
    let ids: [ID]?
    /// Returns each of some IDs once.
    var unique: ([ID]) -> [ID] = { DatabaseCall.unique($0) }
    /// Says that some failed.
    let failureMessage: String
    /// Fetches the items. `progress` is nil unless the operation reports it per item.
    let fetch: @Sendable ([ID]?, ItemProgress<ID>?) async throws -> Outcome
    /// Reports the progress of an item that is being fetched.
    var progress: ((ID, Double) -> Void)?
    /// Of each item, before the block of today's API.
    var before: ((ID, Result<Item, CKError>) -> Void)?
    let item: ((ID, Result<Item, Error>) -> Void)?
    let result: ((Result<Void, Error>) -> Void)?
    /// Called if there is no `result`.
    let completion: (([ID: Item]?, Error?) -> Void)?

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
            case .failure(let error): errors[id] = error
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
