import CloudKit
import ExampleArguments

ExampleArguments.read(usage: "usage: two-devices\n\nTwo devices in conflict, in memory.")
/// A store in memory; `CloudStore(at: url)` keeps one in a directory.
let store = try CloudStore.inMemory()
// Two devices of one user, each with its own container.
let phone = store.container(user: "anna", device: "phone").privateCloudDatabase
let tablet = store.container(user: "anna", device: "tablet").privateCloudDatabase

let zone = CKRecordZone(zoneName: "Notes")
try await phone.save(zone)
let id = CKRecord.ID(recordName: "shopping", zoneID: zone.zoneID)
let list = CKRecord(recordType: "Note", recordID: id)
list["items"] = ["Milk", "Bread"]
let onPhone = try await phone.save(list)

// The tablet fetches the zone and keeps its change token.
let first = try await tablet.recordZoneChanges(inZoneWith: zone.zoneID, since: nil)
guard let onTablet = try first.modificationResultsByID[id]?.get().record else { throw CKError(.unknownItem) }
print("tablet has:", onTablet["items"] as [String]? ?? [])

// Both devices edit the list; the tablet saves second, with an outdated change tag.
onPhone["items"] = ["Milk", "Bread", "Butter"]
try await phone.save(onPhone)
onTablet["items"] = ["Milk", "Bread", "Jam"]
do {
    try await tablet.save(onTablet)
} catch let error as CKError where error.code == .serverRecordChanged {
    // The tablet merges its own addition into the stored record.
    guard let server = error.serverRecord, let ancestor = error.ancestorRecord else { throw error }
    let known: [String] = ancestor["items"] ?? []
    let wanted: [String] = onTablet["items"] ?? []
    let stored: [String] = server["items"] ?? []
    print("conflict: the phone saved \(stored.filter { !known.contains($0) })")
    server["items"] = stored + wanted.filter { !known.contains($0) }
    try await tablet.save(server)
}

// The changes since the token: the list once, in its current state.
let changes = try await phone.recordZoneChanges(inZoneWith: zone.zoneID, since: first.changeToken)
for (id, change) in changes.modificationResultsByID {
    print("\(id.recordName):", try change.get().record["items"] as [String]? ?? [])
}
try store.close()
