import CloudKit
import TestSupport
import Testing

/// The page "Sharing on one store": its blocks stand here line for line, are compiled, and run.
@Suite("Guide: sharing")
struct SharingGuideTests {
    @Test("Every block of the page stands in this file")
    func page() throws {
        let page = try GuidePage("docs/guide/sharing.md")
        #expect(page.blocks.count >= 4)
        let source = try String(contentsOfFile: #filePath, encoding: .utf8)
        #expect(page.blocksMissing(fromSource: source) == [])
    }

    @Test("What the page does happens")
    func run() async throws {
        let store = try CloudStore.inMemory()
        try store.console.addUser("anna", emails: ["anna@example.com"])
        try store.console.addUser("ben", emails: ["ben@example.com"])
        let anna = store.container(user: "anna")
        let ben = store.container(user: "ben")
        let zone = CKRecordZone(zoneName: "Lists")
        try await anna.privateCloudDatabase.save(zone)
        let list = CKRecord(recordType: "List", recordID: CKRecord.ID(recordName: "groceries", zoneID: zone.zoneID))
        let milk = CKRecord(recordType: "Item", recordID: CKRecord.ID(recordName: "milk", zoneID: zone.zoneID))
        milk.setParent(list)
        let share = CKShare(rootRecord: list)
        share[CKShare.SystemFieldKey.title] = "Groceries"
        let guest = try await anna.shareParticipant(forEmailAddress: "ben@example.com")
        guest.permission = .readWrite
        share.addParticipant(guest)
        _ = try await anna.privateCloudDatabase.modifyRecords(saving: [list, milk, share], deleting: [])
        // The URL is there as soon as the share is saved.
        let metadata = try await store.console.open(share.url!, as: "ben")
        try await ben.accept(metadata)
        let shared = ben.sharedCloudDatabase
        let zoneID = try await shared.allRecordZones()[0].zoneID
        let item = try await shared.record(for: CKRecord.ID(recordName: "milk", zoneID: zoneID))
        item["isBought"] = true
        try await shared.save(item)
        #expect(try await anna.privateCloudDatabase.record(for: milk.recordID)["isBought"] as Bool? == true)
        try await shared.deleteRecord(withID: metadata.share.recordID)
        let rest = try await shared.allRecordZones()
        #expect(rest.isEmpty)
    }
}
