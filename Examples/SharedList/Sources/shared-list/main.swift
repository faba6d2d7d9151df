// Anna shares a list with Ben. He accepts, reads and writes, until she removes him. To run it: swift run shared-list

import CloudKit

let store = try CloudStore.inMemory()
// There are no accounts to ask who has which address.
try store.console.addUser("anna", emails: ["anna@example.com"])
try store.console.addUser("ben", emails: ["ben@example.com"])
let (anna, ben) = (store.container(user: "anna"), store.container(user: "ben"))

let list = try await SharedList.create("Groceries", in: anna)
try await list.add("Bread")
try await list.add("Milk")
print("Anna has a list:", try await list.items)

guard let url = try await list.invite("ben@example.com", from: anna) else { fatalError("The share has no URL.") }
print("Anna invites Ben, who sees \(try await ben.sharedCloudDatabase.allRecordZones().count) zones so far.")

// The console acts as the system: it opens the URL and hands the metadata to the app.
let joined = try await SharedList.join(store.console.open(url, as: "ben"), in: ben)
print("Ben accepts, and sees:", try await joined.items)

try await joined.check("Milk")
try await joined.add("Tea")
print("Ben checks the milk and adds tea. Anna sees:", try await list.items)

try await list.remove("ben@example.com")
print("Anna removes Ben, who sees \(try await ben.sharedCloudDatabase.allRecordZones().count) zones again.")
do { try await joined.add("Coffee") } catch CKError.zoneNotFound { print("Ben cannot add coffee: zoneNotFound") }
print("Anna sees:", try await list.items)
try store.close()
