import CloudKit
import Foundation
import Testing

/// Tests that names with composed and decomposed letters are different names.
@Suite("Names that look alike", .timeLimit(.minutes(1)))
struct NameSpellingTests {
    private static let composed = "\u{E9}"
    private static let decomposed = "e\u{301}"

    private let store: CloudStore

    init() throws { store = try CloudStore.inMemory() }

    private func record(_ name: String, in zone: CKRecordZone.ID = .default) -> CKRecord {
        CKRecord(recordType: "Note", recordID: CKRecord.ID(recordName: name, zoneID: zone))
    }

    @Test("Users have databases of their own, and public records too")
    func users() async throws {
        let first = store.container(user: Self.composed, device: "phone")
        let second = store.container(user: Self.decomposed, device: "phone")
        #expect(first !== second)
        _ = try await first.privateCloudDatabase.save(record("a"))
        await #expect(throws: CKError.self) {
            try await second.privateCloudDatabase.record(for: CKRecord.ID(recordName: "a"))
        }
        let shared = try await first.publicCloudDatabase.save(record("b"))
        await #expect(throws: CKError.self) { try await second.publicCloudDatabase.save(shared) }
        let ids = try await (first.userRecordID(), second.userRecordID())
        #expect(ids.0 != ids.1)
    }

    @Test("Devices are told of each other's changes")
    func devices() async throws {
        let first = store.container(user: "anna", device: Self.composed)
        let second = store.container(user: "anna", device: Self.decomposed)
        #expect(first !== second)
        _ = try await first.privateCloudDatabase.save(CKDatabaseSubscription(subscriptionID: "all"))
        var pushes = second.remoteNotifications.makeAsyncIterator()
        _ = try await first.privateCloudDatabase.save(CKRecordZone(zoneName: "Notes"))
        #expect(await pushes.next() != nil)
    }

    @Test("Zones, records and subscriptions stand side by side")
    func items() async throws {
        let database = store.container(user: "anna", device: "phone").privateCloudDatabase
        let names = [Self.composed, Self.decomposed]
        let zones = names.map { CKRecordZone.ID(zoneName: $0) }
        #expect(zones[0] != zones[1] && Set(zones).count == 2)
        let made = try await database.modifyRecordZones(saving: zones.map { CKRecordZone(zoneID: $0) }, deleting: [])
        #expect(made.saveResults.count == 2)
        let records = zones.flatMap { zone in names.map { record($0, in: zone) } }
        for (number, record) in records.enumerated() { record["n"] = number }
        let saved = try await database.modifyRecords(saving: records, deleting: [])
        #expect(saved.saveResults.count == 4)
        for record in records {
            let found = try await database.record(for: record.recordID)
            #expect(found["n"] as? Int == record["n"] as? Int)
        }
        for (name, zone) in zip(names, zones) {
            _ = try await database.save(CKRecordZoneSubscription(zoneID: zone, subscriptionID: name))
        }
        for name in names {
            let found = try await database.subscription(for: name)
            #expect(found.subscriptionID.utf8.elementsEqual(name.utf8))
        }
        #expect(try await database.allSubscriptions().count == 2)
        let feed = try await database.databaseChanges(since: nil)
        #expect(Set(feed.modifications.map(\.zoneID)).isSuperset(of: zones))
    }

    @Test(
        "Results by the IDs of subscriptions have one entry for both spellings, and blocks are called for each (B180)")
    func results() async throws {
        let database = store.container(user: "anna", device: "phone").privateCloudDatabase
        let names = [Self.composed, Self.decomposed]
        let zones = names.map { CKRecordZone.ID(zoneName: $0) }
        _ = try await database.modifyRecordZones(saving: zones.map { CKRecordZone(zoneID: $0) }, deleting: [])
        let subscriptions = zip(names, zones).map { CKRecordZoneSubscription(zoneID: $1, subscriptionID: $0) }
        let saved = try await database.modifySubscriptions(saving: subscriptions, deleting: [])
        #expect(saved.saveResults.count == 1 && saved.saveResults.values.allSatisfy { $0.code == nil })
        #expect(try await database.allSubscriptions().count == 2)
        #expect(try await database.subscriptions(for: names + names).count == 1)
        for isCancelled in [false, true] {
            let told = Journal()
            let fetch = CKFetchSubscriptionsOperation(subscriptionIDs: names + names)
            fetch.perSubscriptionResultBlock = { told.add("\($0.unicodeScalars.count)", $1) }
            if isCancelled { fetch.cancel() }
            await fetch.finish { database.add($0) }
            let result = isCancelled ? "operationCancelled" : "success"
            #expect(told.entries == ["1 \(result)", "2 \(result)"])
        }
        let deleted = try await database.modifySubscriptions(saving: [], deleting: names)
        #expect(deleted.deleteResults.count == 1)
        // The second result replaces the first.
        _ = try await database.save(subscriptions[0])
        #expect(try await database.subscriptions(for: names)[names[0]]?.code == .unknownItem)
    }

    @Test("Values keep their spelling, and a predicate compares it")
    func values() async throws {
        let database = store.container(user: "anna", device: "phone").privateCloudDatabase
        for (number, text) in [Self.composed, Self.decomposed].enumerated() {
            let record = record("r\(number)")
            record["text"] = text
            _ = try await database.save(record)
        }
        let query = CKQuery(recordType: "Note", predicate: NSPredicate(format: "text == %@", Self.composed))
        let found = try await database.records(matching: query).matchResults
        #expect(found.map(\.0.recordName) == ["r0"])
    }
}
