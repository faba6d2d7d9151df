import Foundation

extension CKDatabase {
    /// What can become of a zone.
    public enum DatabaseChange {
        /// A zone that is new, was changed, or has changes of its records.
        public struct Modification: Sendable, Hashable {
            /// The zone.
            public let zoneID: CKRecordZone.ID
        }

        /// A zone that is gone.
        public struct Deletion: Sendable, Hashable {
            /// The zone.
            public let zoneID: CKRecordZone.ID
            /// Why it is gone.
            public let reason: Reason

            /// Why it is gone.
            public enum Reason: Sendable, Hashable, BitwiseCopyable {
                /// An app deleted it.
                case deleted
                /// Its user deleted it in Settings: forget it, and do not upload it again.
                case purged
                /// It went with its user's encrypted data: upload what is known of it again.
                case encryptedDataReset
            }

            /// Whether its user deleted it in Settings.
            @available(*, deprecated, message: "Use reason.")
            public var purged: Bool { reason == .purged }
        }
    }

    /// What can become of a record.
    public enum RecordZoneChange {
        /// A record that is new or was changed.
        public struct Modification: Sendable, Hashable {
            /// The record as it is now.
            public let record: CKRecord
        }

        /// A record that was deleted.
        public struct Deletion: Sendable, Hashable {
            /// The record.
            public let recordID: CKRecord.ID
            /// The type that it had.
            public let recordType: CKRecord.RecordType
        }
    }

    /// The zones that have changed since a token.
    ///
    /// ```swift
    /// let changes = try await database.databaseChanges(since: token)
    /// for change in changes.modifications { outdated.insert(change.zoneID) }
    /// token = changes.changeToken
    /// ```
    @discardableResult
    public func databaseChanges(
        since changeToken: CKServerChangeToken?, resultsLimit: Int? = nil
    ) async throws -> (
        modifications: [DatabaseChange.Modification], deletions: [DatabaseChange.Deletion],
        changeToken: CKServerChangeToken, moreComing: Bool
    ) {
        let page = try await call.databaseChanges(since: changeToken, limit: resultsLimit ?? 0)
        return (page.modifications, page.deletions, page.token, page.moreComing)
    }

    /// As ``databaseChanges(since:resultsLimit:)``.
    @preconcurrency
    public func fetchDatabaseChanges(
        since changeToken: CKServerChangeToken?, resultsLimit: Int? = nil,
        completionHandler:
            @escaping @Sendable (
                Result<
                    (
                        modifications: [DatabaseChange.Modification], deletions: [DatabaseChange.Deletion],
                        changeToken: CKServerChangeToken, moreComing: Bool
                    ), Error
                >
            ) -> Void
    ) {
        let call = call
        client.answer(
            {
                let page = try await call.databaseChanges(since: changeToken, limit: resultsLimit ?? 0)
                return (page.modifications, page.deletions, page.token, page.moreComing)
            }, with: completionHandler)
    }

    /// The records of a zone that have changed since a token.
    ///
    /// ```swift
    /// let changes = try await database.recordZoneChanges(inZoneWith: notes, since: token)
    /// for (id, result) in changes.modificationResultsByID { cache[id] = try result.get().record }
    /// for deletion in changes.deletions { cache[deletion.recordID] = nil }
    /// token = changes.changeToken
    /// ```
    @discardableResult
    public func recordZoneChanges(
        inZoneWith zoneID: CKRecordZone.ID, since changeToken: CKServerChangeToken?,
        desiredKeys: [CKRecord.FieldKey]? = nil, resultsLimit: Int? = nil
    ) async throws -> (
        modificationResultsByID: [CKRecord.ID: Result<RecordZoneChange.Modification, Error>],
        deletions: [RecordZoneChange.Deletion], changeToken: CKServerChangeToken, moreComing: Bool
    ) {
        let page = try await call.zoneChanges(
            of: zoneID, since: changeToken, desiredKeys, limit: resultsLimit ?? 0
        ).get()
        return (page.resultsByID, page.deletions, page.token, page.moreComing)
    }

    /// As ``recordZoneChanges(inZoneWith:since:desiredKeys:resultsLimit:)``.
    @preconcurrency
    public func fetchRecordZoneChanges(
        inZoneWith zoneID: CKRecordZone.ID, since changeToken: CKServerChangeToken?,
        desiredKeys: [CKRecord.FieldKey]? = nil, resultsLimit: Int? = nil,
        completionHandler:
            @escaping @Sendable (
                Result<
                    (
                        modificationResultsByID: [CKRecord.ID: Result<RecordZoneChange.Modification, Error>],
                        deletions: [RecordZoneChange.Deletion], changeToken: CKServerChangeToken, moreComing: Bool
                    ), Error
                >
            ) -> Void
    ) {
        let call = call
        client.answer(
            {
                let page = try await call.zoneChanges(
                    of: zoneID, since: changeToken, desiredKeys, limit: resultsLimit ?? 0
                ).get()
                return (page.resultsByID, page.deletions, page.token, page.moreComing)
            }, with: completionHandler)
    }
}

extension ZoneChangesPage {
    fileprivate var resultsByID: [CKRecord.ID: Result<CKDatabase.RecordZoneChange.Modification, Error>] {
        var results: [CKRecord.ID: Result<CKDatabase.RecordZoneChange.Modification, Error>] = [:]
        results.reserveCapacity(changed.count)
        for (id, result) in changed { results[id] = result.map { .init(record: $0) }.mapError { $0 } }
        return results
    }
}
