/// The results of saving and deleting items, in the order of the request.
protocol ModifyOutcome: Sendable {
    associatedtype ItemID: Hashable & Sendable
    associatedtype Item: Sendable

    init()
    var saves: [(id: ItemID, result: Result<Item, CKError>)] { get set }
    var deletes: [(id: ItemID, error: CKError?)] { get set }
    /// The message of the error if some items failed.
    static var failureMessage: String { get }
    /// The errors by item, as the deprecated block reports them; nil if there are none.
    var partialFailure: CKError? { get }
}

extension ModifyOutcome {
    var errorsByID: [AnyHashable: any Error] {
        var errors: [AnyHashable: any Error] = [:]
        for case (let id, .failure(let error)) in saves { errors[id] = error }
        for case (let id, let error?) in deletes { errors[id] = error }
        return errors
    }

    var partialFailure: CKError? {
        let errors = errorsByID
        return errors.isEmpty ? nil : CKError(partialErrors: errors, message: Self.failureMessage)
    }

    /// Puts the item of each error into its message.
    mutating func nameItems(_ naming: (CKError, CKError.ItemAction, ItemID) -> CKError) {
        for (index, save) in saves.enumerated() {
            if case .failure(let error) = save.result { saves[index].result = .failure(naming(error, .save, save.id)) }
        }
        for (index, delete) in deletes.enumerated() {
            if let error = delete.error { deletes[index].error = naming(error, .delete, delete.id) }
        }
    }

    /// Returns the result of the only save.
    func onlySave() throws -> Item { try saves.only() }

    /// Returns the ID of the only delete.
    func onlyDelete() throws -> ItemID {
        guard let delete = deletes.first else { throw CKError.noResult }
        if let error = delete.error { throw error }
        return delete.id
    }

    func byID() -> (saveResults: [ItemID: Result<Item, Error>], deleteResults: [ItemID: Result<Void, Error>]) {
        var deleteResults: [ItemID: Result<Void, Error>] = [:]
        deleteResults.reserveCapacity(deletes.count)
        for delete in deletes { deleteResults[delete.id] = delete.error.map { .failure($0) } ?? .success(()) }
        return (saves.byItem(), deleteResults)
    }
}

/// Saves and deletes the items of an operation; for records, zones and subscriptions.
// @unchecked: the blocks are called only on the operation's own queue.
struct ModifyRun<Outcome: ModifyOutcome>: OperationRun, @unchecked Sendable {
    typealias ItemID = Outcome.ItemID
    typealias Item = Outcome.Item

    let settings: CallSettings
    let saveIDs: [ItemID]
    let deleteIDs: [ItemID]
    /// Saves and deletes the items. `progress` is nil unless the operation reports it per save.
    let modify: @Sendable (ItemProgress<Int>?) async throws -> Outcome
    /// Reports the progress of a save, by its place in the request.
    var progress: ((Int, Double) -> Void)?
    /// Called for each save, by its place in the request, before the block of the current API.
    var before: ((Int, Result<Item, CKError>) -> Void)?
    let save: ((ItemID, Result<Item, Error>) -> Void)?
    let delete: ((ItemID, Result<Void, Error>) -> Void)?
    let result: ((Result<Void, Error>) -> Void)?
    /// Called if there is no `result`.
    let completion: (([Item]?, [ItemID]?, Error?) -> Void)?

    var timeoutCode: CKError.Code { .serverResponseLost }

    func perform(_ pieces: OperationPieces) async throws -> Outcome {
        guard progress != nil else { return try await modify(nil) }
        return try await modify { place, fraction in pieces.report { progress?(place, fraction) } }
    }

    func deliver(_ outcome: Result<Outcome, CKError>, isCancelled: () -> Bool) {
        switch outcome {
        case .success(let outcome):
            deliver(outcome)
            let error = isCancelled() ? CKError.cancelled : nil
            finish(outcome, error, error ?? outcome.partialFailure)
        case .failure(let error) where error.code == .operationCancelled:
            var outcome = Outcome()
            outcome.saves = saveIDs.map { ($0, .failure(error)) }
            outcome.deletes = deleteIDs.map { ($0, error) }
            deliver(outcome)
            finish(nil, error, error)
        case .failure(let error): finish(nil, error, error)
        }
    }

    private func deliver(_ outcome: Outcome) {
        for (index, (id, result)) in outcome.saves.enumerated() {
            before?(index, result)
            save?(id, result.mapError { $0 })
        }
        for (id, error) in outcome.deletes { delete?(id, error.map { .failure($0) } ?? .success(())) }
    }

    private func finish(_ outcome: Outcome?, _ error: CKError?, _ oldError: CKError?) {
        if let result { return result(error.map { .failure($0) } ?? .success(())) }
        completion?(
            outcome?.saves.compactMap { try? $0.result.get() },
            outcome?.deletes.compactMap { $0.error == nil ? $0.id : nil }, oldError)
    }
}
