import CloudKit
import ExampleArguments

ExampleArguments.read(usage: "usage: two-devices\n\nTwo devices in conflict, in memory.")
/// A store for this run only; without `inMemory` it would lie in a directory: `CloudStore(at: url)`.
let store = try CloudStore.inMemory()
// Two devices of one user, each with a container of its own.
let phone = store.container(user: "anna", device: "phone").privateCloudDatabase
let tabletContainer = store.container(user: "anna", device: "tablet")
let tablet = tabletContainer.privateCloudDatabase

// The user wants to know of whatever changes in the zone.
let zone = CKRecordZone(zoneName: "Notes")
try await phone.save(zone)
let subscription = CKRecordZoneSubscription(zoneID: zone.zoneID, subscriptionID: "notes")
subscription.notificationInfo = CKSubscription.NotificationInfo(shouldSendContentAvailable: true)
try await phone.save(subscription)
let pushes = tabletContainer.remoteNotifications

let id = CKRecord.ID(recordName: "shopping", zoneID: zone.zoneID)
let list = CKRecord(recordType: "Note", recordID: id)
list["items"] = ["Milk", "Bread"]
try await phone.save(list)

// The tablet is told that there is something to fetch, and keeps a token of how far it has come.
for await _ in pushes { break }
let first = try await tablet.recordZoneChanges(inZoneWith: zone.zoneID, since: nil)
guard let onTablet = try first.modificationResultsByID[id]?.get().record else { throw CKError(.unknownItem) }
print("tablet has:", onTablet["items"] as [String]? ?? [])

// Both add to the list, and the tablet is late.
let onPhone = try await phone.record(for: id)
onPhone["items"] = ["Milk", "Bread", "Butter"]
try await phone.save(onPhone)
onTablet["items"] = ["Milk", "Bread", "Jam"]
do {
    try await tablet.save(onTablet)
} catch let error as CKError where error.code == .serverRecordChanged {
    // It adds what is its own to what the store has, and saves that.
    guard let server = error.serverRecord, let ancestor = error.ancestorRecord else { throw error }
    let known: [String] = ancestor["items"] ?? []
    let wanted: [String] = onTablet["items"] ?? []
    let stored: [String] = server["items"] ?? []
    print("conflict: the phone has saved \(stored.filter { !known.contains($0) })")
    server["items"] = stored + wanted.filter { !known.contains($0) }
    try await tablet.save(server)
}

// What has changed since the token: the list once, as it is now.
let changes = try await phone.recordZoneChanges(inZoneWith: zone.zoneID, since: first.changeToken)
for (id, change) in changes.modificationResultsByID {
    print("\(id.recordName):", try change.get().record["items"] as [String]? ?? [])
}
try store.close()
