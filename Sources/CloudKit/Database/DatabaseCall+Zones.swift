import Foundation
import StrataModel
import StrataStore

/// A client's request to save and delete zones.
struct ZonesModification: Sendable {
    var saves: [CKRecordZone] = []
    var deletes: [CKRecordZone.ID] = []
}

struct ZonesOutcome: ModifyOutcome {
    var saves: [(id: CKRecordZone.ID, result: Result<CKRecordZone, CKError>)] = []
    var deletes: [(id: CKRecordZone.ID, error: CKError?)] = []

    static var failureMessage: String { "Failed to modify some record zones" }
}

extension DatabaseCall {
    // MARK: Fetching

    nonisolated(nonsending) func allZones() async throws -> [CKRecordZone] {
        try await asking(.fetchRecordZones) { opened in
            let zones = try opened.store.newest.zones(in: database, as: client.actor)
            return zones.map { CKRecordZone(stored: $0) }
        }
    }

    /// Returns a result for each ID, in order; a repeated ID has one result.
    nonisolated(nonsending) func zones(
        _ ids: [CKRecordZone.ID]
    ) async throws -> [(id: CKRecordZone.ID, result: Result<CKRecordZone, CKError>)] {
        try await asking(.fetchRecordZones) { opened in
            let snapshot = opened.store.newest
            let ids = Self.unique(ids)
            let errors = itemErrors(ids.count, .fetchRecordZones, opened)
            return try ids.enumerated().map { index, id in
                if let error = errors[index] { return (id, .failure(error.of(.fetch, id))) }
                do {
                    return (id, .success(try zone(id, in: snapshot)))
                } catch let refusal as Refusal {
                    return (id, .failure(CKError(refusal).of(.fetch, id)))
                }
            }
        }
    }

    private func zone(_ id: CKRecordZone.ID, in snapshot: StoreSnapshot) throws -> CKRecordZone {
        let model = id.model(for: client.userRecordName)
        return CKRecordZone(stored: try snapshot.zone(model, in: database, as: client.actor))
    }

    // MARK: Modifying

    /// - Throws: An error that affects all items.
    func modify(_ modification: ZonesModification) async throws -> ZonesOutcome {
        try await asking(.modifyRecordZones) { opened in
            let kept = KeptItems(modification.saves, modification.deletes) {
                itemErrors($0, .modifyRecordZones, opened)
            }
            let sent = ZonesModification(saves: kept.saves, deletes: kept.deletes)
            let answer = try await submit(request(sent), to: opened.store)
            var outcome = kept.merged(try outcome(of: sent, answer)) { $0.zoneID }
            outcome.nameItems { $0.of($1, $2) }
            return outcome
        }
    }

    private func request(_ modification: ZonesModification) -> Request {
        var names = RequestNames()
        let me = client.userRecordName
        let body = ModifyZonesRequest(
            saves: modification.saves.map { zone in
                .init(
                    names.ordinal(of: zone.zoneID.model(for: me)),
                    encryptionScope: zone.encryptionScope == .perZone ? .zone : .record)
            },
            deletes: modification.deletes.map { names.ordinal(of: $0.model(for: me)) })
        return Request(database: database, names: names, .modifyZones(body))
    }

    private func outcome(of modification: ZonesModification, _ answer: Answer) throws -> ZonesOutcome {
        var outcome = ZonesOutcome()
        for (save, result) in zip(modification.saves, answer.result.saves) {
            switch result {
            case .success: outcome.saves.append((save.zoneID, .success(try saved(save, answer))))
            case .failure(let refusal): outcome.saves.append((save.zoneID, .failure(CKError(refusal))))
            }
        }
        for (id, refusal) in zip(modification.deletes, answer.result.deletes) {
            outcome.deletes.append((id, refusal.map { CKError($0) }))
        }
        return outcome
    }

    /// Returns the zone after its save. A replayed answer may be older than the deletion of the zone.
    private func saved(_ zone: CKRecordZone, _ answer: Answer) throws -> CKRecordZone {
        do { return try self.zone(zone.zoneID, in: answer.snapshot) } catch is Refusal { return zone }
    }
}
