import Foundation
import StrataModel
import StrataStore

extension DatabaseCall {
    // MARK: Fetching

    nonisolated(nonsending) func record(_ id: CKRecord.ID) async throws -> CKRecord {
        try await asking(.fetchRecords) { opened in
            if let error = itemErrors(1, .fetchRecords, opened)[0] { throw error.of(.fetch, id) }
            let model = id.model(for: client.userRecordName)
            do {
                let record = try opened.store.newest.record(model, in: database, as: client.actor)
                return try result(of: record, id, nil).get()
            } catch let refusal as Refusal {
                throw CKError(refusal).of(.fetch, id)
            }
        }
    }

    /// Returns a result for each ID, in order; a repeated ID has one result.
    ///
    /// - Parameter desiredKeys: Nil for all.
    nonisolated(nonsending) func records(
        _ ids: [CKRecord.ID], _ desiredKeys: [CKRecord.FieldKey]?, progress: ItemProgress<CKRecord.ID>? = nil
    ) async throws -> [(id: CKRecord.ID, result: Result<CKRecord, CKError>)] {
        let ids = Self.unique(ids)
        return try await asking(.fetchRecords) { opened in
            var results: [(id: CKRecord.ID, result: Result<CKRecord, CKError>)] = []
            results.reserveCapacity(ids.count)
            try fetch(ids, desiredKeys, from: opened, progress: progress) { results.append(($0, $1)) }
            for (index, error) in itemErrors(ids.count, .fetchRecords, opened) {
                results[index].result = .failure(error.of(.fetch, ids[index]))
            }
            return results
        }
    }

    /// Calls `body` with each ID and its result, in order.
    private func fetch(
        _ ids: [CKRecord.ID], _ desiredKeys: [CKRecord.FieldKey]?, from opened: CloudStore,
        progress: ItemProgress<CKRecord.ID>?, _ body: (CKRecord.ID, Result<CKRecord, CKError>) -> Void
    ) throws {
        let models = ids.map { $0.model(for: client.userRecordName) }
        let found = try opened.store.fetch(models, in: database, desiredKeys: desiredKeys, as: client.actor)
        for (id, found) in zip(ids, found) {
            switch found {
            case .success(let record): body(id, result(of: record, id, desiredKeys, progress))
            case .failure(let refusal): body(id, .failure(CKError(refusal).of(.fetch, id)))
            }
        }
    }

    /// Returns the record for the caller; a failure if the record cannot be created (B145).
    func result(
        of record: Record, _ id: CKRecord.ID, _ desiredKeys: [CKRecord.FieldKey]?,
        _ progress: ItemProgress<CKRecord.ID>? = nil
    ) -> Result<CKRecord, CKError> {
        do {
            let record = try CKRecord.stored(record, id: id, for: client, isPartial: desiredKeys != nil) {
                progress?(id, $0)
            }
            return .success(record)
        } catch {
            return .failure(CKError(engine: error).of(.fetch, id))
        }
    }

    nonisolated(nonsending) func recordsByID(
        _ ids: [CKRecord.ID], _ desiredKeys: [CKRecord.FieldKey]?
    ) async throws -> [CKRecord.ID: Result<CKRecord, Error>] {
        // Unless it could exceed the limit, fetching repeated IDs twice costs less than finding them.
        let limit = try client.opened().options.limits.itemsPerRequest
        let ids = ids.count > limit ? Self.unique(ids) : ids
        return try await asking(.fetchRecords) { opened in
            var results: [CKRecord.ID: Result<CKRecord, Error>] = [:]
            results.reserveCapacity(ids.count)
            let errors = itemErrors(ids.count, .fetchRecords, opened)
            var index = 0
            try fetch(ids, desiredKeys, from: opened, progress: nil) { id, result in
                results[id] = errors[index].map { .failure($0.of(.fetch, id)) } ?? result.mapError { $0 }
                index += 1
            }
            return results
        }
    }

    static func unique<ItemID: Hashable>(_ ids: [ItemID]) -> [ItemID] {
        var seen: Set<ItemID> = []
        seen.reserveCapacity(ids.count)
        return ids.filter { seen.insert($0).inserted }
    }

    /// The same as ``unique(_:)``, for subscription IDs, which are compared by their bytes.
    static func uniqueTexts(_ ids: [CKSubscription.ID]) -> [CKSubscription.ID] {
        unique(ids.map { ExactName(text: $0) }).map(\.text)
    }

    // MARK: Modifying

    private static let encryptionAttempts = 20

    private func submitOnce(
        _ modification: RecordsModification, failing errors: [Int: CKError], _ opened: CloudStore
    ) async throws -> RecordsOutcome {
        let encoded = try EncodedModification(modification, failing: errors, self, opened)
        let answer = try await submit(encoded.request, to: opened.store)
        return try encoded.outcome(of: answer, opened.options)
    }

    /// Modifies records, and updates the caller's objects once the answer has arrived (B319).
    ///
    /// - Throws: An error that affects all items.
    func modifyAndUpdateCaller(_ modification: RecordsModification) async throws -> RecordsOutcome {
        let outcome = try await modify(modification)
        for (place, save) in outcome.saves.enumerated() {
            if case .success(let record) = save.result { modification.didSave(record, at: place) }
        }
        return outcome
    }

    /// - Throws: An error that affects all items.
    func modify(
        _ modification: RecordsModification, progress: ItemProgress<Int>? = nil
    ) async throws -> RecordsOutcome {
        try await asking(.modifyRecords) { opened in
            let isReplayed = try replayedAnswer(of: opened.store) != nil
            let modification = await modification.importingAssets(
                for: self, opened, isReplayed: isReplayed, progress)
            let errors = itemErrors(modification.saves.count + modification.deletes.count, .modifyRecords, opened)
            for _ in 0..<Self.encryptionAttempts {
                do {
                    return try await submitOnce(modification, failing: errors, opened)
                } catch let error as StrataError where error.code == .keyDestroyed {
                    // The user's encrypted data was reset after the value was sealed: the next attempt uses the new
                    // key.
                    continue
                }
            }
            return try await submitOnce(modification, failing: errors, opened)
        }
    }
}
