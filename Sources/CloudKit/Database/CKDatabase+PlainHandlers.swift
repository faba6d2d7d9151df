/// The methods for completion handlers that a client's protocol does not declare `@Sendable`. Calls choose those of
/// ``SendableHandlers``.
extension CKDatabase {
    @_disfavoredOverload
    public func fetch(withRecordID recordID: CKRecord.ID, completionHandler: @escaping (CKRecord?, Error?) -> Void) {
        fetch(withRecordID: recordID, completionHandler: sendable(completionHandler))
    }

    @_disfavoredOverload
    public func save(_ record: CKRecord, completionHandler: @escaping (CKRecord?, Error?) -> Void) {
        save(record, completionHandler: sendable(completionHandler))
    }

    @_disfavoredOverload
    public func delete(
        withRecordID recordID: CKRecord.ID, completionHandler: @escaping (CKRecord.ID?, Error?) -> Void
    ) {
        delete(withRecordID: recordID, completionHandler: sendable(completionHandler))
    }

    @_disfavoredOverload
    public func fetch(
        withRecordIDs recordIDs: [CKRecord.ID], desiredKeys: [CKRecord.FieldKey]?,
        completionHandler: @escaping (Result<[CKRecord.ID: Result<CKRecord, Error>], Error>) -> Void
    ) {
        fetch(withRecordIDs: recordIDs, desiredKeys: desiredKeys, completionHandler: sendable(completionHandler))
    }

    @_disfavoredOverload
    public func modifyRecords(
        saving recordsToSave: [CKRecord], deleting recordIDsToDelete: [CKRecord.ID],
        savePolicy: CKModifyRecordsOperation.RecordSavePolicy, atomically: Bool,
        completionHandler:
            @escaping (
                Result<
                    (
                        saveResults: [CKRecord.ID: Result<CKRecord, Error>],
                        deleteResults: [CKRecord.ID: Result<Void, Error>]
                    ), Error
                >
            ) -> Void
    ) {
        modifyRecords(
            saving: recordsToSave, deleting: recordIDsToDelete, savePolicy: savePolicy, atomically: atomically,
            completionHandler: sendable(completionHandler))
    }

    @_disfavoredOverload
    public func fetch(
        withRecordZoneID zoneID: CKRecordZone.ID,
        completionHandler: @escaping (CKRecordZone?, Error?) -> Void
    ) {
        fetch(withRecordZoneID: zoneID, completionHandler: sendable(completionHandler))
    }

    @_disfavoredOverload
    public func save(_ zone: CKRecordZone, completionHandler: @escaping (CKRecordZone?, Error?) -> Void) {
        save(zone, completionHandler: sendable(completionHandler))
    }

    @_disfavoredOverload
    public func delete(
        withRecordZoneID zoneID: CKRecordZone.ID,
        completionHandler: @escaping (CKRecordZone.ID?, Error?) -> Void
    ) {
        delete(withRecordZoneID: zoneID, completionHandler: sendable(completionHandler))
    }

    @_disfavoredOverload
    public func fetchAllRecordZones(completionHandler: @escaping ([CKRecordZone]?, Error?) -> Void) {
        fetchAllRecordZones(completionHandler: sendable(completionHandler))
    }

    @_disfavoredOverload
    public func fetch(
        withRecordZoneIDs zoneIDs: [CKRecordZone.ID],
        completionHandler: @escaping (Result<[CKRecordZone.ID: Result<CKRecordZone, Error>], Error>) -> Void
    ) {
        fetch(withRecordZoneIDs: zoneIDs, completionHandler: sendable(completionHandler))
    }

    @_disfavoredOverload
    public func modifyRecordZones(
        saving recordZonesToSave: [CKRecordZone], deleting recordZoneIDsToDelete: [CKRecordZone.ID],
        completionHandler:
            @escaping (
                Result<
                    (
                        saveResults: [CKRecordZone.ID: Result<CKRecordZone, Error>],
                        deleteResults: [CKRecordZone.ID: Result<Void, Error>]
                    ), Error
                >
            ) -> Void
    ) {
        modifyRecordZones(
            saving: recordZonesToSave, deleting: recordZoneIDsToDelete, completionHandler: sendable(completionHandler))
    }

    @_disfavoredOverload
    public func fetch(
        withQuery query: CKQuery, inZoneWith zoneID: CKRecordZone.ID?, desiredKeys: [CKRecord.FieldKey]?,
        resultsLimit: Int,
        completionHandler:
            @escaping (
                Result<
                    (matchResults: [(CKRecord.ID, Result<CKRecord, Error>)], queryCursor: CKQueryOperation.Cursor?),
                    Error
                >
            ) -> Void
    ) {
        fetch(
            withQuery: query, inZoneWith: zoneID, desiredKeys: desiredKeys, resultsLimit: resultsLimit,
            completionHandler: sendable(completionHandler))
    }

    @_disfavoredOverload
    public func fetch(
        withCursor queryCursor: CKQueryOperation.Cursor, desiredKeys: [CKRecord.FieldKey]?, resultsLimit: Int,
        completionHandler:
            @escaping (
                Result<
                    (matchResults: [(CKRecord.ID, Result<CKRecord, Error>)], queryCursor: CKQueryOperation.Cursor?),
                    Error
                >
            ) -> Void
    ) {
        fetch(
            withCursor: queryCursor, desiredKeys: desiredKeys, resultsLimit: resultsLimit,
            completionHandler: sendable(completionHandler))
    }

    @_disfavoredOverload
    public func fetchDatabaseChanges(
        since changeToken: CKServerChangeToken?, resultsLimit: Int?,
        completionHandler:
            @escaping (
                Result<
                    (
                        modifications: [DatabaseChange.Modification], deletions: [DatabaseChange.Deletion],
                        changeToken: CKServerChangeToken, moreComing: Bool
                    ), Error
                >
            ) -> Void
    ) {
        fetchDatabaseChanges(
            since: changeToken, resultsLimit: resultsLimit, completionHandler: sendable(completionHandler))
    }

    @_disfavoredOverload
    public func fetchRecordZoneChanges(
        inZoneWith zoneID: CKRecordZone.ID, since changeToken: CKServerChangeToken?, desiredKeys: [CKRecord.FieldKey]?,
        resultsLimit: Int?,
        completionHandler:
            @escaping (
                Result<
                    (
                        modificationResultsByID: [CKRecord.ID: Result<RecordZoneChange.Modification, Error>],
                        deletions: [RecordZoneChange.Deletion], changeToken: CKServerChangeToken, moreComing: Bool
                    ), Error
                >
            ) -> Void
    ) {
        fetchRecordZoneChanges(
            inZoneWith: zoneID, since: changeToken, desiredKeys: desiredKeys, resultsLimit: resultsLimit,
            completionHandler: sendable(completionHandler))
    }

    @_disfavoredOverload
    public func fetch(
        withSubscriptionID subscriptionID: CKSubscription.ID,
        completionHandler: @escaping (CKSubscription?, Error?) -> Void
    ) {
        fetch(withSubscriptionID: subscriptionID, completionHandler: sendable(completionHandler))
    }

    @_disfavoredOverload
    public func fetchAllSubscriptions(completionHandler: @escaping ([CKSubscription]?, Error?) -> Void) {
        fetchAllSubscriptions(completionHandler: sendable(completionHandler))
    }

    @_disfavoredOverload
    public func fetch(
        withSubscriptionIDs subscriptionIDs: [CKSubscription.ID],
        completionHandler:
            @escaping (
                Result<[CKSubscription.ID: Result<CKSubscription, Error>], Error>
            ) -> Void
    ) {
        fetch(withSubscriptionIDs: subscriptionIDs, completionHandler: sendable(completionHandler))
    }

    @_disfavoredOverload
    public func save(_ subscription: CKSubscription, completionHandler: @escaping (CKSubscription?, Error?) -> Void) {
        save(subscription, completionHandler: sendable(completionHandler))
    }

    @_disfavoredOverload
    public func delete(
        withSubscriptionID subscriptionID: CKSubscription.ID,
        completionHandler: @escaping (String?, Error?) -> Void
    ) {
        delete(withSubscriptionID: subscriptionID, completionHandler: sendable(completionHandler))
    }

    @_disfavoredOverload
    public func modifySubscriptions(
        saving subscriptionsToSave: [CKSubscription], deleting subscriptionIDsToDelete: [CKSubscription.ID],
        completionHandler:
            @escaping (
                Result<
                    (
                        saveResults: [CKSubscription.ID: Result<CKSubscription, Error>],
                        deleteResults: [CKSubscription.ID: Result<Void, Error>]
                    ), Error
                >
            ) -> Void
    ) {
        modifySubscriptions(
            saving: subscriptionsToSave, deleting: subscriptionIDsToDelete,
            completionHandler: sendable(completionHandler))
    }
}
