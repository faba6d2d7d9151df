extension CKDatabase {
    /// A change in a database.
    public enum DatabaseChange {
        /// A zone that is new or was changed, or whose records have changes.
        public struct Modification: Sendable, Hashable {
            /// The ID of the zone.
            public let zoneID: CKRecordZone.ID
        }

        /// A deleted zone.
        public struct Deletion: Sendable, Hashable {
            /// The ID of the zone.
            public let zoneID: CKRecordZone.ID
            /// The reason for the deletion.
            public let reason: Reason

            /// The reasons for the deletion of a zone.
            public enum Reason: Sendable, Hashable, BitwiseCopyable {
                /// An app deleted it.
                case deleted
                /// The user deleted it in Settings: remove local data, and do not upload it again.
                case purged
                /// It was deleted when the user's encrypted data was reset: upload local data again.
                case encryptedDataReset
            }

            /// True if the user deleted the zone in Settings.
            @available(*, deprecated, message: "Use reason.")
            public var purged: Bool { reason == .purged }
        }
    }

    /// A change in a zone.
    public enum RecordZoneChange {
        /// A record that is new or was changed.
        public struct Modification: Sendable, Hashable {
            /// The current record.
            public let record: CKRecord
        }

        /// A record that was deleted.
        public struct Deletion: Sendable, Hashable {
            /// The ID of the record.
            public let recordID: CKRecord.ID
            /// The type of the record before it was deleted.
            public let recordType: CKRecord.RecordType
        }
    }

    /// Returns the zones that have changed since a token.
    ///
    /// ```swift
    /// let changes = try await database.databaseChanges(since: token)
    /// for change in changes.modifications { outdated.insert(change.zoneID) }
    /// token = changes.changeToken
    /// ```
    ///
    /// Pass nil for all zones. If `moreComing` is true, call again with `changeToken`.
    ///
    /// - Throws: `changeTokenExpired`: forget the token and fetch from nil (B161); `badDatabase` in the public database
    ///   (B150).
    @discardableResult
    public func databaseChanges(
        since changeToken: CKServerChangeToken?, resultsLimit: Int? = nil
    ) async throws -> (
        modifications: [DatabaseChange.Modification], deletions: [DatabaseChange.Deletion],
        changeToken: CKServerChangeToken, moreComing: Bool
    ) {
        try await call.databaseChanges(since: changeToken, limit: resultsLimit ?? 0).results
    }

    /// Returns the records of a zone that have changed since a token.
    ///
    /// ```swift
    /// let changes = try await database.recordZoneChanges(inZoneWith: notes, since: token)
    /// for (id, result) in changes.modificationResultsByID { cache[id] = try result.get().record }
    /// for deletion in changes.deletions { cache[deletion.recordID] = nil }
    /// token = changes.changeToken
    /// ```
    ///
    /// Pass nil for all records. If `moreComing` is true, call again with `changeToken`.
    ///
    /// - Throws: `changeTokenExpired`: discard the cache and fetch from nil (B161); `zoneNotFound` or `userDeletedZone`
    ///   if the zone does not exist; `invalidArguments` for the default zone (B156).
    @discardableResult
    public func recordZoneChanges(
        inZoneWith zoneID: CKRecordZone.ID, since changeToken: CKServerChangeToken?,
        desiredKeys: [CKRecord.FieldKey]? = nil, resultsLimit: Int? = nil
    ) async throws -> (
        modificationResultsByID: [CKRecord.ID: Result<RecordZoneChange.Modification, Error>],
        deletions: [RecordZoneChange.Deletion], changeToken: CKServerChangeToken, moreComing: Bool
    ) {
        try await call.zoneChanges(of: zoneID, since: changeToken, desiredKeys, limit: resultsLimit ?? 0).get().results
    }
}

extension DatabaseChangesPage {
    fileprivate typealias Results = (
        modifications: [CKDatabase.DatabaseChange.Modification], deletions: [CKDatabase.DatabaseChange.Deletion],
        changeToken: CKServerChangeToken, moreComing: Bool
    )

    fileprivate var results: Results { (modifications, deletions, token, moreComing) }
}

extension ZoneChangesPage {
    fileprivate typealias Results = (
        modificationResultsByID: [CKRecord.ID: Result<CKDatabase.RecordZoneChange.Modification, Error>],
        deletions: [CKDatabase.RecordZoneChange.Deletion], changeToken: CKServerChangeToken, moreComing: Bool
    )

    fileprivate var results: Results {
        var byID: [CKRecord.ID: Result<CKDatabase.RecordZoneChange.Modification, Error>] = [:]
        byID.reserveCapacity(changed.count)
        for (id, result) in changed { byID[id] = result.map { .init(record: $0) }.mapError { $0 } }
        return (byID, deletions, token, moreComing)
    }
}

extension SendableHandlers where Self: CKDatabase {
    /// The same as ``CKDatabase/databaseChanges(since:resultsLimit:)``, with a completion handler.
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
        call.answer(completionHandler) {
            try await $0.databaseChanges(since: changeToken, limit: resultsLimit ?? 0).results
        }
    }

    /// The same as ``CKDatabase/recordZoneChanges(inZoneWith:since:desiredKeys:resultsLimit:)``, with a completion
    /// handler.
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
        call.answer(completionHandler) {
            try await $0.zoneChanges(of: zoneID, since: changeToken, desiredKeys, limit: resultsLimit ?? 0).get()
                .results
        }
    }
}
