import CloudKit
import StrataSystem
import TestSupport
import Testing

@testable import CloudKit

/// Nobody reads or writes another user's private database, through any door, whatever IDs are named (B220, B266).
@Suite("Isolation of users", .timeLimit(.minutes(1)))
struct IsolationTests {
    private let notes: NotesStore
    private let anna: CKContainer
    private let ben: CKContainer
    private let id: CKRecord.ID
    /// Anna's zone as somebody else would have to name it.
    private let named: CKRecordZone.ID
    private let namedID: CKRecord.ID
    private let before: Secrets

    /// All that Anna has.
    private struct Secrets: Equatable {
        var fields: [String: String] = [:]
        var tags: [String: String] = [:]
        var zones: Set<String> = []
        var subscriptions: Set<String> = []

        init(_ container: CKContainer, zone: CKRecordZone.ID) async throws {
            let database = container.privateCloudDatabase
            for (id, result) in try await database.recordZoneChanges(inZoneWith: zone, since: nil)
                .modificationResultsByID
            {
                let record = try result.get().record
                fields[id.recordName] = record["text"]
                tags[id.recordName] = record.recordChangeTag
            }
            zones = Set(try await database.allRecordZones().map(\.zoneID.zoneName))
            subscriptions = Set(try await database.allSubscriptions().map(\.subscriptionID))
        }
    }

    init() async throws {
        notes = try await NotesStore()
        anna = notes.phone
        ben = notes.store.container(user: "ben", device: "phone")
        id = CKRecord.ID(recordName: "secret", zoneID: notes.zone)
        let note = CKRecord(recordType: "Note", recordID: id)
        note["text"] = "of anna alone"
        try await anna.privateCloudDatabase.save(note)
        try await anna.privateCloudDatabase.save(CKDatabaseSubscription(subscriptionID: "hers"))
        named = CKRecordZone.ID(zoneName: notes.zone.zoneName, ownerName: try await anna.userRecordID().recordName)
        namedID = CKRecord.ID(recordName: "secret", zoneID: named)
        before = try await Secrets(anna, zone: notes.zone)
        #expect(before.fields == ["secret": "of anna alone"])
    }

    private var databases: [CKDatabase] {
        [ben.privateCloudDatabase, ben.publicCloudDatabase, ben.sharedCloudDatabase]
    }

    private func expectUntouched() async throws {
        #expect(try await Secrets(anna, zone: notes.zone) == before)
    }

    @Test("Fetching: by ID, many, by operation, in each database and by each name of the zone")
    func fetching() async throws {
        for database in databases {
            for id in [id, namedID] {
                #expect(await code { try await database.record(for: id) } != nil)
                let found = try? await database.records(for: [id])
                if case .success? = found?[id] { Issue.record("\(id) was fetched") }
                let got = Lock(0)
                let operation = CKFetchRecordsOperation(recordIDs: [id])
                operation.perRecordResultBlock = { _, result in
                    if case .success = result { got.withLock { $0 += 1 } }
                }
                await operation.finish { database.add($0) }
                #expect(got.withLock { $0 } == 0)
            }
        }
    }

    @Test("Queries: in a zone of hers, in all zones, with a cursor of hers")
    func queries() async throws {
        let query = CKQuery(recordType: "Note", predicate: NSPredicate(value: true))
        for index in 0..<3 {
            let note = CKRecord(recordType: "Note", recordID: .init(recordName: "more \(index)", zoneID: notes.zone))
            note["text"] = "of anna too"
            try await anna.privateCloudDatabase.save(note)
        }
        let cursor = try await anna.privateCloudDatabase.records(matching: query, resultsLimit: 1).queryCursor
        for database in databases {
            for zone in [nil, notes.zone, named] {
                let page = try? await database.records(matching: query, inZoneWith: zone)
                #expect(page?.matchResults.isEmpty ?? true)
            }
            let rest = try? await database.records(continuingMatchFrom: try #require(cursor))
            #expect(rest?.matchResults.isEmpty ?? true)
        }
    }

    @Test("Zones: fetched, listed, saved and deleted")
    func zones() async throws {
        for database in databases {
            #expect(await code { try await database.recordZone(for: named) } != nil)
            let listed = (try? await database.allRecordZones()) ?? []
            #expect(listed.allSatisfy { $0.zoneID.zoneName == CKRecordZone.ID.defaultZoneName })
            #expect(await code { try await database.save(CKRecordZone(zoneID: named)) } != nil)
            #expect(await code { try await database.deleteRecordZone(withID: named) } != nil)
            _ = try? await database.deleteRecordZone(withID: notes.zone)
        }
        try await expectUntouched()
    }

    @Test("Feeds: from nil, and with tokens of hers")
    func feeds() async throws {
        let own = anna.privateCloudDatabase
        let token = try await own.databaseChanges(since: nil).changeToken
        let inZone = try await own.recordZoneChanges(inZoneWith: notes.zone, since: nil).changeToken
        try await own.save(CKRecord(recordType: "Note", recordID: .init(recordName: "later", zoneID: notes.zone)))
        for database in databases {
            for token in [nil, token, inZone] {
                let changes = try? await database.databaseChanges(since: token)
                #expect(changes?.modifications.allSatisfy { $0.zoneID.zoneName != "Notes" } ?? true)
                for zone in [notes.zone, named] {
                    #expect(await code { try await database.recordZoneChanges(inZoneWith: zone, since: token) } != nil)
                }
            }
        }
    }

    @Test("Saving: over her record, into her zone, beside references and parents to hers; and deleting")
    func modifying() async throws {
        for database in databases {
            for id in [id, namedID] {
                for policy in [CKModifyRecordsOperation.RecordSavePolicy.changedKeys, .allKeys] {
                    let note = CKRecord(recordType: "Note", recordID: id)
                    note["text"] = "of ben"
                    _ = try? await database.modifyRecords(saving: [note], deleting: [], savePolicy: policy)
                }
                let child = CKRecord(recordType: "Note")
                child["to"] = CKRecord.Reference(recordID: id, action: .deleteSelf)
                child.parent = CKRecord.Reference(recordID: id, action: .none)
                #expect(await code { try await database.save(child) } != nil)
                _ = try? await database.deleteRecord(withID: id)
            }
        }
        try await expectUntouched()
    }

    @Test("A record of hers that somebody holds is saved as a record of his own at most")
    func heldRecord() async throws {
        let hers = try await anna.privateCloudDatabase.record(for: id)
        hers["text"] = "of ben"
        for database in databases { #expect(await code { try await database.save(hers) } != nil) }
        try await expectUntouched()
    }

    @Test("Subscriptions: fetched, replaced, deleted, and not fired by her")
    func subscriptions() async throws {
        let own = ben.privateCloudDatabase
        for database in databases {
            #expect(((try? await database.allSubscriptions()) ?? []).isEmpty)
            #expect(await code { try await database.subscription(for: "hers") } != nil)
            _ = try? await database.deleteSubscription(withID: "hers")
        }
        try await own.save(CKDatabaseSubscription(subscriptionID: "hers"))
        _ = try? await own.save(CKRecordZoneSubscription(zoneID: named, subscriptionID: "zone"))
        _ = try? await own.save(
            CKQuerySubscription(
                recordType: "Note", predicate: NSPredicate(value: true), subscriptionID: "query",
                options: .firesOnRecordUpdate))
        let got = Lock<[String]>([])
        let pushes = ben.remoteNotifications
        let listening = Task {
            for await push in pushes { got.withLock { $0.append(push.subscriptionID) } }
        }
        let note = try await anna.privateCloudDatabase.record(for: id)
        note["text"] = "changed by anna"
        try await anna.privateCloudDatabase.save(note)
        // What follows in his own database is told last, so that anything of hers had come before.
        let tablet = notes.store.container(user: "ben", device: "tablet").privateCloudDatabase
        try await tablet.save(CKRecordZone(zoneName: "End"))
        _ = try await awaited { got.withLock { !$0.isEmpty } }
        listening.cancel()
        #expect(got.withLock { $0 } == ["hers"])
        #expect(try await anna.privateCloudDatabase.allSubscriptions().map(\.subscriptionID) == ["hers"])
    }

    @Test("Long-lived operations: neither listed nor fetched")
    func longLived() async throws {
        let operation = CKFetchRecordsOperation(recordIDs: [id])
        operation.configuration.isLongLived = true
        try notes.store.console.setNetwork(.slow(.seconds(3)), user: "anna")
        let ended = Task { await operation.finish { anna.privateCloudDatabase.add($0) } }
        _ = try await awaited { try await !anna.allLongLivedOperationIDs().isEmpty }
        #expect(try await anna.allLongLivedOperationIDs() == [operation.operationID])
        #expect(try await ben.allLongLivedOperationIDs().isEmpty)
        #expect(try await ben.longLivedOperation(for: operation.operationID) == nil)
        await ended.value
    }

    @Test("Nobody signed in: everything but the public database is closed")
    func signedOut() async throws {
        let guest = notes.store.container(user: nil)
        for database in [guest.privateCloudDatabase, guest.sharedCloudDatabase] {
            #expect(await code { try await database.record(for: namedID) } == .notAuthenticated)
            #expect(await code { try await database.allRecordZones() } == .notAuthenticated)
            #expect(await code { try await database.databaseChanges(since: nil) } == .notAuthenticated)
        }
        for database in [guest.privateCloudDatabase, guest.publicCloudDatabase, guest.sharedCloudDatabase] {
            #expect(await code { try await database.save(CKRecord(recordType: "Note")) } == .notAuthenticated)
            #expect(await code { try await database.deleteRecord(withID: namedID) } == .notAuthenticated)
            #expect(await code { try await database.allSubscriptions() } == .notAuthenticated)
        }
        #expect(await code { try await guest.publicCloudDatabase.record(for: id) } == .zoneNotFound)
        for await _ in guest.remoteNotifications { Issue.record("a guest was told something") }
        try await expectUntouched()
    }

    @Test("The canary: her own device gets through every one of these doors")
    func canary() async throws {
        let tablet = notes.store.container(user: "anna", device: "tablet").privateCloudDatabase
        for id in [id, namedID] { #expect(try await tablet.record(for: id)["text"] == "of anna alone") }
        let query = CKQuery(recordType: "Note", predicate: NSPredicate(value: true))
        for zone in [nil, notes.zone, named] {
            #expect(try await tablet.records(matching: query, inZoneWith: zone).matchResults.count == 1)
        }
        #expect(try await tablet.recordZoneChanges(inZoneWith: named, since: nil).modificationResultsByID.count == 1)
        #expect(try await tablet.databaseChanges(since: nil).modifications.contains { $0.zoneID.zoneName == "Notes" })
        #expect(try await tablet.allSubscriptions().count == 1)
        let note = CKRecord(recordType: "Note", recordID: namedID)
        note["text"] = "by the tablet"
        _ = try await tablet.modifyRecords(saving: [note], deleting: [], savePolicy: .changedKeys)
        #expect(try await Secrets(anna, zone: notes.zone) != before)
    }
}
