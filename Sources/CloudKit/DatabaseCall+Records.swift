import Foundation
import StrataModel
import StrataStore

extension DatabaseCall {
    // MARK: Fetching

    func record(_ id: CKRecord.ID) throws -> CKRecord {
        do {
            let opened = try client.readable(scope)
            let model = id.model(for: client.userRecordName)
            let record = try opened.store.snapshot().record(model, in: database, as: client.actor)
            return try CKRecord(stored: record, id: id, for: client)
        } catch {
            throw CKError(engine: error)
        }
    }

    /// A result for each id, in their order; one that is named twice comes once.
    ///
    /// - Parameter desiredKeys: Nil for all.
    func records(
        _ ids: [CKRecord.ID], _ desiredKeys: [CKRecord.FieldKey]?
    ) throws -> [(id: CKRecord.ID, result: Result<CKRecord, CKError>)] {
        try results(Self.unique(ids), desiredKeys)
    }

    private func results(
        _ ids: [CKRecord.ID], _ desiredKeys: [CKRecord.FieldKey]?
    ) throws -> [(id: CKRecord.ID, result: Result<CKRecord, CKError>)] {
        do {
            let opened = try client.readable(scope)
            let models = ids.map { $0.model(for: client.userRecordName) }
            let results = try opened.store.fetch(models, in: database, desiredKeys: desiredKeys, as: client.actor)
            return try zip(ids, results).map { id, result in
                switch result {
                case .success(let record):
                    (id, .success(try CKRecord(stored: record, id: id, for: client, isPartial: desiredKeys != nil)))
                case .failure(let refusal): (id, .failure(CKError(refusal)))
                }
            }
        } catch {
            throw CKError(engine: error)
        }
    }

    func recordsByID(
        _ ids: [CKRecord.ID], _ desiredKeys: [CKRecord.FieldKey]?
    ) throws -> [CKRecord.ID: Result<CKRecord, Error>] {
        var results: [CKRecord.ID: Result<CKRecord, Error>] = [:]
        results.reserveCapacity(ids.count)
        // Where it makes no difference, those that are named twice are fetched twice rather than looked for.
        let limit = try client.opened().options.limits.itemsPerRequest
        let ids = ids.count > limit ? Self.unique(ids) : ids
        for (id, result) in try self.results(ids, desiredKeys) { results[id] = result.mapError { $0 } }
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
        do {
            let opened = try client.writable()
            let encoded = try EncodedModification(modification, self)
            let answer = try await submit(encoded.request, to: opened.store)
            return try encoded.outcome(of: answer, opened.options)
        } catch {
            throw CKError(engine: error)
        }
    }
}

extension CKRecord {
    /// A record as a client's device sees it.
    convenience init(stored record: Record, id: CKRecord.ID, for client: Client, isPartial: Bool = false) throws {
        try self.init(stored: record, id: client.canonical(id), me: client.actor.user, isPartial: isPartial)
    }
}
