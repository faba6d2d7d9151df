import CloudKit

/// A record with every kind of field.
private func sampleRecord() -> CKRecord {
    let zone = CKRecordZone.ID(zoneName: "Notes", ownerName: "bert")
    let record = CKRecord(recordType: "Note", recordID: CKRecord.ID(recordName: "note-1", zoneID: zone))
    record["text"] = "Grüße"
    record["n"] = 7
    record["d"] = 0.5
    record["at"] = Date(timeIntervalSinceReferenceDate: 0.1)
    record["data"] = Data([0, 255])
    record["place"] = CLLocation(
        coordinate: .init(latitude: 1, longitude: 2), altitude: 3, horizontalAccuracy: 4, verticalAccuracy: 5,
        timestamp: Date(timeIntervalSinceReferenceDate: 6))
    record["link"] = CKRecord.Reference(recordID: CKRecord.ID(recordName: "2", zoneID: zone), action: .deleteSelf)
    record["texts"] = ["a", "b"]
    record.encryptedValues["secret"] = "hidden"
    record.setParent(CKRecord.ID(recordName: "parent", zoneID: zone))
    return record
}

private func sampleInfo() -> CKSubscription.NotificationInfo {
    CKSubscription.NotificationInfo(alertBody: "Hi", title: "News", desiredKeys: ["text"], shouldBadge: true)
}

/// An object of each class, by the name of its file.
private func samples() -> [String: NSObject & NSSecureCoding] {
    let record = sampleRecord()
    let zone = record.recordID.zoneID
    let query = CKQuery(recordType: "Note", predicate: NSPredicate(format: "n > %d AND text != %@", 3, "x"))
    query.sortDescriptors = [NSSortDescriptor(key: "n", ascending: false)]
    let database = CKDatabaseSubscription(subscriptionID: "d")
    database.notificationInfo = sampleInfo()
    let group = CKOperationGroup()
    group.name = "first sync"
    return [
        "CKRecord": record, "CKRecordID": record.recordID, "CKRecordZoneID": zone,
        "CKRecordZone": CKRecordZone(zoneID: zone), "CKReference": CKRecord.Reference(record: record, action: .none),
        "CKQuery": query, "CKDatabaseSubscription": database,
        "CKRecordZoneSubscription": CKRecordZoneSubscription(zoneID: zone, subscriptionID: "z"),
        "CKQuerySubscription": CKQuerySubscription(
            recordType: "Note", predicate: NSPredicate(format: "n = 1"), subscriptionID: "q",
            options: [.firesOnRecordCreation]),
        "CKNotificationInfo": sampleInfo(), "CKOperationGroup": group,
        "CKFetchRecordZoneChangesConfiguration": CKFetchRecordZoneChangesOperation.ZoneConfiguration(
            resultsLimit: 7, desiredKeys: ["text"]),
    ]
}

func writeArchives(_ directory: String) async throws {
    func write(_ data: Data, _ name: String) throws {
        try data.write(to: URL(fileURLWithPath: "\(directory)/\(name).archive"))
    }
    let shared = try CloudStore.inMemory().container(user: "anna").sharedCloudDatabase
    let token = try await shared.databaseChanges(since: nil).changeToken
    for (name, object) in samples().merging(["CKServerChangeToken": token], uniquingKeysWith: { $1 }) {
        try write(NSKeyedArchiver.archivedData(withRootObject: object, requiringSecureCoding: true), name)
    }
    let archiver = NSKeyedArchiver(requiringSecureCoding: true)
    sampleRecord().encodeSystemFields(with: archiver)
    try write(archiver.encodedData, "SystemFields")
}
