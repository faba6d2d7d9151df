import CloudKit

let store = try CloudStore.inMemory()
let phone = store.container(user: "anna", device: "phone").privateCloudDatabase
let zone = CKRecordZone(zoneName: "Notes")
try await phone.save(zone)

let id = CKRecord.ID(recordName: "shopping", zoneID: zone.zoneID)
let list = CKRecord(recordType: "Note", recordID: id)
list["items"] = ["Milk", "Bread"]
try await phone.save(list)

let tablet = store.container(user: "anna", device: "tablet").privateCloudDatabase
let query = CKQuery(recordType: "Note", predicate: NSPredicate(format: "items CONTAINS %@", "Milk"))
for (_, result) in try await tablet.records(matching: query, inZoneWith: zone.zoneID).matchResults {
    print(try result.get()["items"] as [String]? ?? [])
}
try store.close()
