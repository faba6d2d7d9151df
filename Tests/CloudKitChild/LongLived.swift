import CloudKit
import Glibc

/// An operation of each kind, made so that what it was given can be seen in what it does.
private func everyKind(_ id: CKRecord.ID, since token: CKServerChangeToken) -> [CKDatabaseOperation] {
    let added = CKRecord(recordType: "Note", recordID: CKRecord.ID(recordName: "added"))
    added["text"] = "added"
    let records = CKFetchRecordsOperation(recordIDs: [id])
    records.desiredKeys = ["text"]
    let predicate = NSPredicate(format: "text == %@", "text")
    let query = CKQueryOperation(query: CKQuery(recordType: "Note", predicate: predicate))
    query.zoneID = id.zoneID
    query.resultsLimit = 1
    query.desiredKeys = ["text"]
    let since = CKFetchRecordZoneChangesOperation.ZoneConfiguration(
        previousServerChangeToken: token, desiredKeys: ["text"])
    return [
        CKModifyRecordsOperation(recordsToSave: [added]), records, query,
        CKModifyRecordZonesOperation(recordZonesToSave: [CKRecordZone(zoneName: "New")]),
        CKFetchRecordZonesOperation(recordZoneIDs: [id.zoneID]), CKFetchDatabaseChangesOperation(),
        CKFetchRecordZoneChangesOperation(
            recordZoneIDs: [id.zoneID], configurationsByRecordZoneID: [id.zoneID: since]),
        CKModifySubscriptionsOperation(
            subscriptionsToSave: [CKRecordZoneSubscription(zoneID: id.zoneID, subscriptionID: "second")],
            subscriptionIDsToDelete: ["none"]),
        CKFetchSubscriptionsOperation(subscriptionIDs: ["first"]),
    ]
}

/// Keeps operations as this user's, in a store of this directory; each waits for ever in the block that says so.
func keepOperations(_ directory: String) async throws {
    let store = try CloudStore(at: URL(fileURLWithPath: "\(directory)/Notes.strata"))
    let database = store.container(user: "anna", device: "phone").privateCloudDatabase
    let zone = CKRecordZone.ID(zoneName: "Notes")
    func save(_ name: String) async throws -> CKRecord.ID {
        let note = CKRecord(recordType: "Note", recordID: CKRecord.ID(recordName: name, zoneID: zone))
        note["text"] = "text"
        note["other"] = "other"
        return try await database.save(note).recordID
    }
    try await database.save(CKRecordZone(zoneID: zone))
    try await database.save(CKDatabaseSubscription(subscriptionID: "first"))
    _ = try await save("before")
    let token = try await database.recordZoneChanges(inZoneWith: zone, since: nil).changeToken
    for operation in everyKind(try await save("after"), since: token) {
        operation.configuration.isLongLived = true
        await withCheckedContinuation { continuation in
            operation.longLivedOperationWasPersistedBlock = {
                continuation.resume()
                while true { pause() }
            }
            database.add(operation)
        }
    }
    say("kept")
    while true { pause() }
}
