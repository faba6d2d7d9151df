import CloudKit
import ExampleArguments
import Foundation

let usage = "usage: groceries DIRECTORY\n\nA shopping list on two devices, synced by CKSyncEngine. DIRECTORY is made."
let directory = URL(fileURLWithPath: ExampleArguments.newDirectory(usage: usage))
try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)

let store = try CloudStore(at: directory.appending(path: "Cloud.strata"))
let onPhone = store.container(user: "anna", device: "phone").privateCloudDatabase
let onTablet = store.container(user: "anna", device: "tablet").privateCloudDatabase
var phone = try Groceries(file: directory.appending(path: "phone.json"))
var tablet = try Groceries(file: directory.appending(path: "tablet.json"))
await phone.start(in: onPhone, automatically: false)
await tablet.start(in: onTablet, automatically: false)

await phone.set("Milk")
await phone.set("Bread", count: 2)
try await phone.send()
try await tablet.fetch()
print("tablet:", await tablet.lines)

// Both devices change the milk. The tablet sends last, with an outdated change tag.
await phone.set("Milk", count: 3)
try await phone.send()
await tablet.set("Milk", isBought: true)
do {
    try await tablet.send()
} catch let error as CKError where error.code == .partialFailure {
    let codes = error.partialErrorsByItemID?.values.compactMap { ($0 as? CKError)?.code } ?? []
    print("conflict:", codes == [.serverRecordChanged])
}
// The delegate has merged the records, and added the change again.
try await tablet.send()
try await phone.fetch()
print("phone: ", await phone.lines)

// The phone's app ends without warning, after a change that was not sent.
await phone.set("Eggs", count: 12)
phone = try Groceries(file: directory.appending(path: "phone.json"))
await phone.start(in: onPhone, automatically: false)
try await phone.send()
try await tablet.fetch()
print("tablet:", await tablet.lines)

// From now on the engines decide: no call of send or fetch is needed.
tablet = try Groceries(file: directory.appending(path: "tablet.json"))
await tablet.start(in: onTablet)
phone = try Groceries(file: directory.appending(path: "phone.json"))
await phone.start(in: onPhone)
await phone.remove("Bread")
for await lines in tablet.updates where !lines.contains("2 Bread") { break }
print("tablet:", await tablet.lines)

// Ben signs in on the phone. Anna's list leaves it, and does not get into his cloud.
await phone.stop()
phone = try Groceries(file: directory.appending(path: "phone.json"))
await phone.start(in: store.container(user: "ben", device: "phone").privateCloudDatabase, automatically: false)
try await phone.fetch()
print("phone: ", await phone.lines)
await phone.set("Tea")
try await phone.send()
print("phone: ", await phone.lines)
try await tablet.fetch()
print("tablet:", await tablet.lines)
await tablet.stop()
try store.close()
