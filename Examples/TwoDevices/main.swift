import CloudKit

/// A store for this run only; without `inMemory` it would lie in a directory: `CloudStore(at: url)`.
let store = try CloudStore.inMemory()
// Two devices of one user, each with a container of its own.
let phone = store.container(user: "anna", device: "phone").privateCloudDatabase
let tablet = store.container(user: "anna", device: "tablet").privateCloudDatabase

let zone = CKRecordZone(zoneName: "Notes")
try await phone.save(zone)
let id = CKRecord.ID(recordName: "shopping", zoneID: zone.zoneID)
let list = CKRecord(recordType: "Note", recordID: id)
list["items"] = ["Milk", "Bread"]
try await phone.save(list)

// Both fetch the list, and both add to it.
let onPhone = try await phone.record(for: id)
let onTablet = try await tablet.record(for: id)
onPhone["items"] = ["Milk", "Bread", "Butter"]
onTablet["items"] = ["Milk", "Bread", "Jam"]
try await phone.save(onPhone)

do {
    try await tablet.save(onTablet)
} catch let error as CKError where error.code == .serverRecordChanged {
    // The tablet was late. It adds what is its own to what the store has, and saves that.
    guard let server = error.serverRecord, let ancestor = error.ancestorRecord else { throw error }
    let known: [String] = ancestor["items"] ?? []
    let wanted: [String] = onTablet["items"] ?? []
    let stored: [String] = server["items"] ?? []
    print("conflict: the phone has saved \(stored.filter { !known.contains($0) })")
    server["items"] = stored + wanted.filter { !known.contains($0) }
    try await tablet.save(server)
}

let merged = try await phone.record(for: id)
print("\(id.recordName):", merged["items"] as [String]? ?? [])
try store.close()
