import CloudKit
import StrataSystem
import TestSupport
import Testing

@testable import CloudKit

/// What operators do, or a user in Settings, as clients see it: B38, B154, B221, B257, B268.
@Suite("Console", .timeLimit(.minutes(1)))
struct ConsoleTests {
    private let notes: NotesStore
    private var store: CloudStore { notes.store }
    private var zone: CKRecordZone.ID { notes.zone }
    private let database: CKDatabase

    init() async throws {
        notes = try await NotesStore()
        database = notes.phone.privateCloudDatabase
    }

    private func note(_ name: String) -> CKRecord {
        CKRecord(recordType: "Note", recordID: CKRecord.ID(recordName: name, zoneID: zone))
    }

    @Test(
        "B154 B257 a zone that was purged: feeds say so, fetches say that its user deleted it, until it is made again")
    func purge() async throws {
        try await database.save(note("a"))
        let before = try await database.databaseChanges(since: nil)
        let inZone = try await database.recordZoneChanges(inZoneWith: zone, since: nil).changeToken
        try store.console.purgeZone(zone, of: "anna")
        let changes = try await database.databaseChanges(since: before.changeToken)
        #expect(changes.deletions == [.init(zoneID: zone, reason: .purged)] && changes.modifications.isEmpty)
        #expect(await code { try await database.record(for: note("a").recordID) } == .userDeletedZone)
        #expect(await code { try await database.save(note("b")) } == .userDeletedZone)
        try await database.save(CKRecordZone(zoneID: zone))
        #expect(await code { try await database.record(for: note("a").recordID) } == .unknownItem)
        #expect(
            await code { try await database.recordZoneChanges(inZoneWith: zone, since: inZone) } == .changeTokenExpired)
        #expect(await code { try store.console.purgeZone(.init(zoneName: "None"), of: "anna") } == .zoneNotFound)
        #expect(await code { try store.console.purgeZone(.default, of: "anna") } == .invalidArguments)
        #expect(await code { try store.console.purgeZone(zone, of: "nobody") } == .zoneNotFound)
    }

    @Test("What is erased is gone for clients as if deleted, and its name can be used again")
    func erase() async throws {
        try await database.save(notes.note("a", "secret"))
        try await database.save(notes.note("b"))
        let token = try await database.recordZoneChanges(inZoneWith: zone, since: nil).changeToken
        try store.console.erase([notes.id("a")], in: .private, of: "anna", reason: "asked for")
        #expect(await code { try await database.record(for: notes.id("a")) } == .unknownItem)
        let changes = try await database.recordZoneChanges(inZoneWith: zone, since: token)
        #expect(changes.deletions.map(\.recordID) == [notes.id("a")] && changes.modificationResultsByID.isEmpty)
        #expect(try await database.record(for: notes.id("b"))["text"] == "text")
        try await database.save(notes.note("a", "new"))
        #expect(
            await code { try store.console.erase([notes.id("x")], in: .private, of: "anna", reason: "") }
                == .unknownItem)
        #expect(await code { try store.console.erase([notes.id("a")], in: .private, reason: "") } == .invalidArguments)
        #expect(
            await code { try store.console.erase([notes.id("a")], in: .public, of: "anna", reason: "") }
                == .invalidArguments)
        #expect(
            await code { try store.console.erase([notes.id("a")], in: .shared, of: "anna", reason: "") }
                == .invalidArguments)
    }

    @Test("What is erased is in no file of a store any more; the reason is")
    func erasedFiles() async throws {
        let directory = try TestDirectory()
        let path = directory.path("Notes.strata")
        func isFound(_ text: String) throws -> Bool {
            let names = FileManager.default.enumerator(atPath: path)?.compactMap { $0 as? String } ?? []
            return names.contains { name in
                guard let file = FileManager.default.contents(atPath: "\(path)/\(name)") else { return false }
                return TestSupport.isFound(Array(text.utf8), in: [UInt8](file))
            }
        }
        let store = try CloudStore(at: URL(fileURLWithPath: path))
        let database = store.container(user: "anna", device: "phone").publicCloudDatabase
        let id = CKRecord.ID(recordName: "review")
        let record = CKRecord(recordType: "Review", recordID: id)
        record["text"] = "8fQz3kT9wLx2"
        try await database.save(record)
        #expect(try isFound("8fQz3kT9wLx2"))
        try store.console.erase([id], in: .public, reason: "court order")
        #expect(try !isFound("8fQz3kT9wLx2") && isFound("court order"))
        try store.close()
        #expect(try !isFound("8fQz3kT9wLx2"))
    }

    @Test("Tokens of before an offset have expired, those of the offset itself have not")
    func expireTokens() async throws {
        try await database.save(note("a"))
        let (old, oldZone) = try await tokens()
        try await database.save(note("b"))
        let (new, newZone) = try await tokens()
        let offset = store.offset
        try store.console.expireTokens(before: offset)
        #expect(await code { try await database.databaseChanges(since: old) } == .changeTokenExpired)
        #expect(
            await code { try await database.recordZoneChanges(inZoneWith: zone, since: oldZone) } == .changeTokenExpired
        )
        _ = try await database.databaseChanges(since: new)
        _ = try await database.recordZoneChanges(inZoneWith: zone, since: newZone)
        let all = try await database.recordZoneChanges(inZoneWith: zone, since: nil)
        #expect(all.modificationResultsByID.count == 2)
        #expect(await code { try store.console.expireTokens(before: store.offset + 10) } == .invalidArguments)
    }

    @Test("History that was let go of: records stay, older tokens expire, and a conflict has no ancestor from before")
    func compact() async throws {
        let directory = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
        defer { try? FileManager.default.removeItem(at: directory) }
        var store = try CloudStore(at: directory)
        var database = store.container(user: "anna", device: "phone").privateCloudDatabase
        try await database.save(CKRecordZone(zoneID: zone))
        let draft = note("a")
        draft["n"] = 1
        let first = try await database.save(draft)
        let old = try await database.recordZoneChanges(inZoneWith: zone, since: nil).changeToken
        var newest = try await database.record(for: first.recordID)
        for number in 2...4 {
            newest["n"] = number
            newest = try await database.save(newest)
        }
        let new = try await database.recordZoneChanges(inZoneWith: zone, since: nil).changeToken
        let end = store.offset
        let plan = try store.console.compactionPlan(before: end + 1)
        #expect(plan.zones.first { $0.zoneName == zone.zoneName }?.changeCount == 5)
        #expect(await code { _ = try store.console.compact(before: end + 2) } == .invalidArguments)
        let done = try store.console.compact(before: end + 1)
        #expect(done.horizon == end && done.baseBytes > 0)
        #expect(await code { _ = try store.console.compact(before: end + 1) } == .invalidArguments)
        try store.close()
        try FileManager.default.removeItem(at: directory.appendingPathComponent("views"))
        store = try CloudStore(at: directory)
        database = store.container(user: "anna", device: "phone").privateCloudDatabase
        #expect(try await database.record(for: first.recordID)["n"] as? Int == 4)
        #expect(
            await code { try await database.recordZoneChanges(inZoneWith: zone, since: old) } == .changeTokenExpired)
        let changes = try await database.recordZoneChanges(inZoneWith: zone, since: new)
        #expect(changes.modificationResultsByID.isEmpty)
        first["n"] = 9
        do {
            try await database.save(first)
            Issue.record("the older version was saved")
        } catch let error as CKError {
            #expect(error.code == .serverRecordChanged && error.serverRecord?["n"] as? Int == 4)
            #expect(error.ancestorRecord?["n"] == nil)
        }
        try store.close()
        #expect(await code { _ = try self.store.console.compact(before: 2) } == .invalidArguments, "it is in memory")
    }

    private func tokens() async throws -> (CKServerChangeToken, CKServerChangeToken) {
        let database = database
        return (
            try await database.databaseChanges(since: nil).changeToken,
            try await database.recordZoneChanges(inZoneWith: zone, since: nil).changeToken
        )
    }

    @Test("B268 an account's status lasts, is told once when it changes, and holds for all handles of a store")
    func accounts() async throws {
        let directory = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
        defer { try? FileManager.default.removeItem(at: directory) }
        var store = try CloudStore(at: directory)
        let other = try CloudStore(at: directory)
        let phone = store.container(user: "anna", device: "phone")
        try await phone.privateCloudDatabase.save(CKRecord(recordType: "Note"))
        try other.console.setAccountStatus(.temporarilyUnavailable, of: "anna")
        #expect(try await phone.accountStatus() == .temporarilyUnavailable)
        #expect(await code { try await phone.privateCloudDatabase.allRecordZones() } == .accountTemporarilyUnavailable)
        try other.close()
        try store.close()
        store = try CloudStore(at: directory)
        let again = store.container(user: "anna", device: "tablet")
        #expect(try await again.accountStatus() == .temporarilyUnavailable)
        let ben = store.container(user: "ben")
        #expect(try await ben.accountStatus() == .available)
        try store.console.setAccountStatus(.available, of: "anna")
        #expect(try await again.privateCloudDatabase.allRecordZones().count == 1)
        try store.close()
    }

    @Test("A status that is the same is no change")
    func sameStatus() async throws {
        let end = store.offset
        try store.console.setAccountStatus(.available, of: "anna")
        #expect(store.offset == end)
        try store.console.setAccountStatus(.restricted, of: "anna")
        #expect(store.offset == end + 1)
        try store.console.setAccountStatus(.restricted, of: "anna")
        #expect(store.offset == end + 1)
    }

    @Test("What the console was told, and what came of it, is in the log")
    func notesAreKept() async throws {
        try store.console.failNext(of: .fetchRecords, with: .zoneBusy, on: "phone")
        #expect(await code { try await database.record(for: note("a").recordID) } == .zoneBusy)
        try store.console.setNetwork(.slow(.milliseconds(1)), on: "phone")
        try store.console.setFaultPlan(.init(seed: 42))
        try store.console.clearFaults()
        let texts = try store.consoleNotes()
        // Of a fault that struck nobody waits for the note: it comes behind a later commit.
        #expect(
            texts.filter { !$0.contains("as set in the console") } == [
                "phone: fail the next 1 (request) of fetchRecords with zoneBusy",
                "phone: set the network to slow(0.001 seconds)", ": follow FaultPlan(seed: 42)",
                ": clear all faults",
            ])
        #expect(texts.contains("phone: fetchRecords failed with zoneBusy, as set in the console"))
    }
}
