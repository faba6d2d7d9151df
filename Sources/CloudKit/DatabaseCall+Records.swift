import Foundation
import StrataModel
import StrataStore

extension DatabaseCall {
    // MARK: Fetching

    nonisolated(nonsending) func record(_ id: CKRecord.ID) async throws -> CKRecord {
        try await asking(.fetchRecords) { opened in
            if let error = itemErrors(1, .fetchRecords, opened)[0] { throw error }
            let model = id.model(for: client.userRecordName)
            let record = try opened.store.snapshot().record(model, in: database, as: client.actor)
            return try CKRecord(stored: record, id: id, for: client)
        }
    }

    /// A result for each id, in their order; one that is named twice comes once.
    ///
    /// - Parameter desiredKeys: Nil for all.
    nonisolated(nonsending) func records(
        _ ids: [CKRecord.ID], _ desiredKeys: [CKRecord.FieldKey]?
    ) async throws -> [(id: CKRecord.ID, result: Result<CKRecord, CKError>)] {
        try await results(Self.unique(ids), desiredKeys)
    }

    private nonisolated(nonsending) func results(
        _ ids: [CKRecord.ID], _ desiredKeys: [CKRecord.FieldKey]?
    ) async throws -> [(id: CKRecord.ID, result: Result<CKRecord, CKError>)] {
        try await asking(.fetchRecords) { opened in
            let models = ids.map { $0.model(for: client.userRecordName) }
            let found = try opened.store.fetch(models, in: database, desiredKeys: desiredKeys, as: client.actor)
            var results: [(id: CKRecord.ID, result: Result<CKRecord, CKError>)] = []
            results.reserveCapacity(ids.count)
            for (id, found) in zip(ids, found) {
                switch found {
                case .success(let record):
                    let record = try CKRecord(stored: record, id: id, for: client, isPartial: desiredKeys != nil)
                    results.append((id, .success(record)))
                case .failure(let refusal): results.append((id, .failure(CKError(refusal))))
                }
            }
            for (index, error) in itemErrors(ids.count, .fetchRecords, opened) {
                results[index].result = .failure(error)
            }
            return results
        }
    }

    nonisolated(nonsending) func recordsByID(
        _ ids: [CKRecord.ID], _ desiredKeys: [CKRecord.FieldKey]?
    ) async throws -> [CKRecord.ID: Result<CKRecord, Error>] {
        var results: [CKRecord.ID: Result<CKRecord, Error>] = [:]
        results.reserveCapacity(ids.count)
        // Where it makes no difference, those that are named twice are fetched twice rather than looked for.
        let limit = try client.opened().options.limits.itemsPerRequest
        let ids = ids.count > limit ? Self.unique(ids) : ids
        for (id, result) in try await self.results(ids, desiredKeys) { results[id] = result.mapError { $0 } }
        return results
    }

    static func unique<ItemID: Hashable>(_ ids: [ItemID]) -> [ItemID] {
        var seen: Set<ItemID> = []
        seen.reserveCapacity(ids.count)
        return ids.filter { seen.insert($0).inserted }
    }

    // MARK: Modifying

    func delete(_ id: CKRecord.ID) async throws -> CKRecord.ID {
        let outcome = try await modify(RecordsModification(deletes: [id]))
        if let error = outcome.deletes.first?.error { throw error }
        return id
    }

    /// - Throws: What fails for all items.
    func modify(_ modification: RecordsModification) async throws -> RecordsOutcome {
        try await asking(.modifyRecords) { opened in
            let encoded = try EncodedModification(modification, self, opened)
            let answer = try await submit(encoded.request, to: opened.store)
            return try encoded.outcome(of: answer, opened.options)
        }
    }
}

extension CKRecord {
    /// A record as a client's device sees it.
    convenience init(stored record: Record, id: CKRecord.ID, for client: Client, isPartial: Bool = false) throws {
        try self.init(stored: record, id: client.canonical(id), me: client.actor.user, isPartial: isPartial)
    }
}
