import Foundation
import StrataModel
import StrataStore

/// A page of a database's feed.
struct DatabaseChangesPage: Sendable {
    var modifications: [CKDatabase.DatabaseChange.Modification] = []
    var deletions: [CKDatabase.DatabaseChange.Deletion] = []
    var token: CKServerChangeToken
    var moreComing = false
}

/// A page of a zone's feed.
struct ZoneChangesPage: Sendable {
    var changed: [(id: CKRecord.ID, result: Result<CKRecord, CKError>)] = []
    var deletions: [CKDatabase.RecordZoneChange.Deletion] = []
    var token: CKServerChangeToken
    var clientToken: Data?
    var moreComing = false
}

extension DatabaseCall {
    /// Returns the zones that have changed since a token.
    ///
    /// - Parameter limit: 0 lets the store choose.
    nonisolated(nonsending) func databaseChanges(
        since token: CKServerChangeToken?, limit: Int
    ) async throws -> DatabaseChangesPage {
        try await asking(.fetchDatabaseChanges, carriesToken: token != nil) { opened in
            let page = try opened.store.databaseChanges(
                in: database, since: try token.map { try opened.store.token(from: $0.bytes) }, limit: limit,
                as: client.actor)
            return DatabaseChangesPage(
                modifications: page.changed.map { .init(zoneID: CKRecordZone.ID($0)) },
                deletions: page.deleted.map {
                    .init(zoneID: CKRecordZone.ID($0.zone), reason: .init($0.reason))
                },
                token: CKServerChangeToken(bytes: try opened.store.bytes(of: page.token)), moreComing: page.moreComing)
        }
    }

    /// Returns a page of a zone's changed records, or a failure that affects this zone alone. If a record cannot be
    /// created, only its own result is a failure (B145).
    ///
    /// - Parameter limit: 0 lets the store choose.
    /// - Throws: An error that would affect any zone.
    nonisolated(nonsending) func zoneChanges(
        of zone: CKRecordZone.ID, since token: CKServerChangeToken?, _ desiredKeys: [CKRecord.FieldKey]?, limit: Int
    ) async throws(CKError) -> Result<ZoneChangesPage, CKError> {
        try await asking(.fetchRecordZoneChanges, carriesToken: token != nil) { opened in
            // Zones are the items of this request, and each is requested separately.
            if let error = itemErrors(1, .fetchRecordZoneChanges, opened)[0] { return .failure(error.of(.fetch, zone)) }
            do {
                return .success(try page(of: zone, since: token, desiredKeys, limit: limit, opened.store))
            } catch {
                return .failure(CKError(engine: error).of(.fetch, zone))
            }
        }
    }

    private func page(
        of zone: CKRecordZone.ID, since token: CKServerChangeToken?, _ desiredKeys: [CKRecord.FieldKey]?, limit: Int,
        _ store: Store
    ) throws -> ZoneChangesPage {
        let page = try store.zoneChanges(
            of: zone.model(for: client.userRecordName), in: database,
            since: try token.map { try store.token(from: $0.bytes) }, desiredKeys: desiredKeys, limit: limit,
            as: client.actor)
        let zone = client.canonical(zone)
        return ZoneChangesPage(
            changed: page.changed.map { record in
                let id = CKRecord.ID(recordName: record.id.name, zoneID: zone)
                return (id, result(of: record, id, desiredKeys))
            },
            deletions: page.deleted.map {
                .init(recordID: CKRecord.ID(recordName: $0.id.name, zoneID: zone), recordType: $0.type)
            },
            token: CKServerChangeToken(bytes: try store.bytes(of: page.token)),
            clientToken: page.clientToken.map { Data($0) }, moreComing: page.moreComing)
    }
}

extension CKDatabase.DatabaseChange.Deletion.Reason {
    fileprivate init(_ reason: ZoneDeletedEvent.Reason) {
        switch reason {
        case .deleted: self = .deleted
        case .purged: self = .purged
        case .encryptedDataReset: self = .encryptedDataReset
        }
    }
}
