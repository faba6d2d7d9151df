import CloudKit
import StrataModel
import TestSupport
import Testing

@testable import CloudKit

@Suite("Stores as they were", .timeLimit(.minutes(2)))
struct PastStoreTests {
    enum Ground: CaseIterable, Sendable { case memory, disk }

    private let zone = CKRecordZone.ID(zoneName: "Notes")

    private func note(_ name: String, _ text: String) -> CKRecord {
        let record = CKRecord(recordType: "Note", recordID: CKRecord.ID(recordName: name, zoneID: zone))
        record["text"] = text
        return record
    }

    private func open(_ ground: Ground, in directory: TestDirectory, _ options: CloudStore.Options) throws -> CloudStore
    {
        switch ground {
        case .memory: try CloudStore.inMemory(options: options)
        case .disk: try CloudStore(at: URL(fileURLWithPath: directory.path("Past.strata")), options: options)
        }
    }

    @Test("Records, queries, zones and feeds of the past; assets and encrypted values too", arguments: Ground.allCases)
    func reads(ground: Ground) async throws {
        let directory = try TestDirectory()
        let store = try open(ground, in: directory, .service)
        let database = store.container(user: "anna", device: "phone").privateCloudDatabase
        try await database.save(CKRecordZone(zoneID: zone))
        let file = URL(fileURLWithPath: directory.path("photo"))
        try Data("a photo".utf8).write(to: file)
        let first = note("a", "first")
        first["photo"] = CKAsset(fileURL: file)
        first.encryptedValues["secret"] = "hidden"
        let saved = try await database.save(first)
        let then = store.offset
        saved["text"] = "second"
        saved["photo"] = nil
        saved.encryptedValues["secret"] = nil
        try await database.save(saved)
        try await database.save(note("b", "later"))
        try await database.save(CKRecordZone(zoneName: "Later"))

        let past = try store.asOf(then)
        #expect(past.offset == then)
        let before = past.container(user: "anna", device: "tablet").privateCloudDatabase
        let read = try await before.record(for: first.recordID)
        #expect(read["text"] as? String == "first")
        #expect(read.encryptedValues["secret"] as? String == "hidden")
        let photo = try #require((read["photo"] as? CKAsset)?.fileURL)
        #expect(try Data(contentsOf: photo) == Data("a photo".utf8))
        let query = CKQuery(recordType: "Note", predicate: NSPredicate(format: "text == 'first'"))
        let matches = try await before.records(matching: query, inZoneWith: zone).matchResults
        #expect(matches.map(\.0.recordName) == ["a"])
        #expect(try await before.allRecordZones().map(\.zoneID.zoneName).sorted() == ["Notes", "_defaultZone"])
        let changes = try await before.recordZoneChanges(inZoneWith: zone, since: nil)
        #expect(changes.modificationResultsByID.keys.map(\.recordName) == ["a"])
        // What a client was given then leads on in the store as it is now.
        let news = try await database.recordZoneChanges(inZoneWith: zone, since: changes.changeToken)
        #expect(news.modificationResultsByID.keys.map(\.recordName).sorted() == ["a", "b"])
        #expect(await code { try await before.record(for: note("b", "").recordID) } == .unknownItem)
        // It is as it was also when the present goes on, and the present is not disturbed.
        #expect(try await database.record(for: first.recordID)["text"] as? String == "second")
        try past.close()
        #expect(await code { try await before.record(for: first.recordID) } == .serviceUnavailable)
        try store.close()
    }

    @Test("Nothing of it can be changed", arguments: Ground.allCases)
    func changes(ground: Ground) async throws {
        let directory = try TestDirectory()
        let store = try open(ground, in: directory, .service)
        let phone = store.container(user: "anna", device: "phone")
        try await phone.privateCloudDatabase.save(CKRecordZone(zoneID: zone))
        let past = try store.asOf(store.offset)
        let container = past.container(user: "anna", device: "phone")
        let database = container.privateCloudDatabase
        #expect(await code { try await database.save(note("a", "x")) } == .serverRejectedRequest)
        #expect(await code { try await database.save(CKRecordZone(zoneName: "Other")) } == .serverRejectedRequest)
        #expect(await code { try await database.deleteRecordZone(withID: zone) } == .serverRejectedRequest)
        let subscription = CKDatabaseSubscription(subscriptionID: "all")
        #expect(await code { try await database.save(subscription) } == .serverRejectedRequest)
        #expect(await code { try past.console.setQuota(bytes: 1, of: "anna") } == .serverRejectedRequest)
        #expect(await code { try past.console.compact(before: 1) } == .serverRejectedRequest)
        for await _ in container.remoteNotifications { Issue.record("a push of the past") }
        #expect(store.offset == past.offset)
        try past.close()
        try store.close()
    }

    @Test("What there is no state of is told")
    func bounds() async throws {
        let clock = CloudStore.ManualClock(Date(timeIntervalSince1970: 1_000))
        var options = CloudStore.Options.service
        options.clock = clock
        let directory = try TestDirectory()
        let store = try open(.disk, in: directory, options)
        let database = store.container(user: "anna").privateCloudDatabase
        try await database.save(CKRecordZone(zoneID: zone))
        let made = store.offset
        clock.advance(by: .seconds(60))
        try await database.save(note("a", "x"))
        #expect(await code { try store.asOf(store.offset + 1) } == .invalidArguments)
        #expect(await code { try store.asOf(.max) } == .invalidArguments)
        #expect(try store.asOf(0).offset == 0)
        #expect(try store.asOf(Date(timeIntervalSince1970: 1_059)).offset == made)
        #expect(try store.asOf(Date(timeIntervalSince1970: 1_060)).offset == store.offset)
        #expect(try store.asOf(.distantFuture).offset == store.offset)
        #expect(try store.asOf(.distantPast).offset == 0)
        try store.console.compact(before: store.offset)
        #expect(await code { try store.asOf(.distantPast) } == .invalidArguments)
        #expect(await code { try store.asOf(0) } == .invalidArguments)
        try store.close()
        #expect(await code { try store.asOf(made) } == .serviceUnavailable)
    }
}
