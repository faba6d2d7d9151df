import CloudKit
import Foundation
import StrataStore
import TestSupport
import Testing

@testable import CloudKit

/// A store in a directory, with a zone `Notes` of the user `anna`, that can be opened anew.
final class NotesDirectory {
    let directory: TestDirectory
    private(set) var store: CloudStore
    let zone = CKRecordZone.ID(zoneName: "Notes")

    init() async throws {
        directory = try TestDirectory()
        store = try CloudStore(at: URL(fileURLWithPath: directory.path("Notes.strata")))
        try await database.save(CKRecordZone(zoneID: zone))
    }

    var path: String { directory.path("Notes.strata") }
    var phone: CKContainer { store.container(user: "anna", device: "phone") }
    var database: CKDatabase { phone.privateCloudDatabase }

    func id(_ name: String) -> CKRecord.ID { CKRecord.ID(recordName: name, zoneID: zone) }

    func note(_ name: String, secret: String? = nil) -> CKRecord {
        let note = CKRecord(recordType: "Note", recordID: id(name))
        note["title"] = name
        if let secret { note.encryptedValues["secret"] = secret }
        return note
    }

    func reopen(_ change: () throws -> Void = {}) throws {
        try store.close()
        try change()
        store = try CloudStore(at: URL(fileURLWithPath: path))
    }

    func loseKeys() throws { try reopen { try FileManager.default.removeItem(atPath: path + "/keys") } }
}

@Suite("Encrypted values that were saved and fetched", .timeLimit(.minutes(1)))
struct EncryptedValueTests {
    @Test("B21: an encrypted value of each type comes back, also from a store that is opened again")
    func saved() async throws {
        let notes = try await NotesDirectory()
        let place = CLLocation(latitude: 1.25, longitude: -3)
        let note = notes.note("a", secret: "hidden")
        let values = note.encryptedValues
        values["n"] = Int64.max
        values["d"] = 0.1
        values["at"] = Date(timeIntervalSinceReferenceDate: 0.1)
        values["data"] = Data([0, 255])
        values["place"] = place
        values["texts"] = ["a", "b"]
        values["numbers"] = [1.5, 2]
        values["empty"] = [Int]()
        let saved = try await notes.database.save(note)
        try notes.reopen()
        let fetched = try await notes.database.record(for: note.recordID)
        for record in [saved, fetched] {
            let values = record.encryptedValues
            #expect(values.allKeys() == note.encryptedValues.allKeys() && values.changedKeys().isEmpty)
            #expect(values["secret"] as? String == "hidden" && values["n"] as? Int64 == .max)
            #expect(values["d"] as? Double == 0.1 && values["data"] as? Data == Data([0, 255]))
            #expect((values["at"] as? Date)?.timeIntervalSinceReferenceDate == 0.1)
            #expect((values["place"] as? CLLocation)?.coordinate.latitude == 1.25)
            #expect(values["texts"] as? [String] == ["a", "b"] && values["numbers"] as? [Double] == [1.5, 2])
            #expect(values["empty"] as? [String] == [])
            #expect(record.allKeys() == (note.encryptedValues.allKeys() + ["title"]).sorted())
            #expect(record.changedKeys().isEmpty && record["secret"] as? String == nil)
            #expect(!"\(record)".contains("hidden"))
        }
        try notes.store.close()
    }

    @Test("B13 B14 B55-B57: changed, removed, and sent again with all keys, also from an archive")
    func edited() async throws {
        let notes = try await NotesDirectory()
        let note = notes.note("a", secret: "one")
        note.encryptedValues["other"] = 1
        let saved = try await notes.database.save(note)
        saved.encryptedValues["secret"] = "two"
        #expect(saved.encryptedValues.changedKeys() == ["secret"] && saved.changedKeys() == ["secret"])
        saved.encryptedValues["other"] = nil as Int?
        let second = try await notes.database.save(saved)
        #expect(second.encryptedValues["secret"] as? String == "two" && second.encryptedValues.allKeys() == ["secret"])
        let tag = second.recordChangeTag
        second.encryptedValues["secret"] = "two"
        let third = try await notes.database.save(second)
        #expect(third.recordChangeTag != tag)
        let data = try NSKeyedArchiver.archivedData(withRootObject: third, requiringSecureCoding: true)
        let kept = try #require(try NSKeyedUnarchiver.unarchivedObject(ofClass: CKRecord.self, from: data))
        #expect(kept.encryptedValues["secret"] as? String == "two" && kept.encryptedValues.changedKeys().isEmpty)
        // Somebody else removes it; all keys of the archive bring it back.
        third.encryptedValues["secret"] = nil as String?
        try await notes.database.save(third)
        _ = try await notes.database.modifyRecords(saving: [kept], deleting: [], savePolicy: .allKeys)
        let fetched = try await notes.database.record(for: note.recordID)
        #expect(fetched.encryptedValues["secret"] as? String == "two")
        let records = try await notes.database.modifyRecords(saving: [fetched], deleting: [], savePolicy: .allKeys)
        let last = try #require(try records.saveResults[note.recordID]?.get())
        #expect(last.encryptedValues["secret"] as? String == "two" && last["title"] as? String == "a")
        try notes.store.close()
    }

    @Test("B62: the records of a conflict can be read")
    func conflict() async throws {
        let notes = try await NotesStore()
        let note = notes.note("a")
        note.encryptedValues["secret"] = "first"
        let mine = try await notes.database.save(note)
        let theirs = try await notes.database.record(for: notes.id("a"))
        theirs.encryptedValues["secret"] = "second"
        try await notes.database.save(theirs)
        mine.encryptedValues["secret"] = "mine"
        do {
            try await notes.database.save(mine)
            Issue.record("no conflict")
        } catch let error as CKError {
            #expect(error.code == .serverRecordChanged)
            let records = [error.ancestorRecord, error.serverRecord, error.clientRecord]
            #expect(records.map { $0?.encryptedValues["secret"] as? String } == ["first", "second", "mine"])
        }
    }

    /// Copies what one record has into another as clients do that walk the keys.
    private func copy(_ keys: [String], from source: CKRecord, to target: CKRecord) {
        for key in keys {
            target[key] = source[key]
            target.encryptedValues[key] = source.encryptedValues[key]
        }
    }

    @Test(
        "A client that merges a conflict by walking the keys keeps the winner's encrypted value", arguments: [0, 1, 2])
    func mergedConflict(_ way: Int) async throws {
        let notes = try await NotesStore()
        let note = notes.note("a", "text")
        note.encryptedValues["secret"] = "first"
        let mine = try await notes.database.save(note)
        let theirs = try await notes.database.record(for: notes.id("a"))
        theirs.encryptedValues["secret"] = "theirs"
        try await notes.database.save(theirs)
        // In one of the ways this client changed the encrypted value too, and wins.
        mine["text"] = "mine"
        if way == 2 { mine.encryptedValues["secret"] = "mine" }
        let error = await #expect(throws: CKError.self) { try await notes.database.save(mine) }
        let server = try #require(error?.serverRecord)
        #expect(server.allKeys() == ["secret", "text"])
        switch way {
        case 0:
            // What this client did not change is copied from the server's record.
            copy(server.allKeys().filter { !mine.changedKeys().contains($0) }, from: server, to: mine)
            _ = try await notes.database.modifyRecords(saving: [mine], deleting: [], savePolicy: .allKeys)
        default:
            // What this client changed is copied into the server's record.
            copy(mine.changedKeys(), from: mine, to: server)
            try await notes.database.save(server)
        }
        let merged = try await notes.database.record(for: notes.id("a"))
        #expect(merged["text"] as? String == "mine")
        #expect(merged.encryptedValues["secret"] as? String == (way == 2 ? "mine" : "theirs"))
    }

    @Test("B21: not in the public database, and a field is encrypted or not, for good")
    func refused() async throws {
        let notes = try await NotesStore()
        let open = CKRecord(recordType: "Note", recordID: .init(recordName: "open"))
        open.encryptedValues["secret"] = "x"
        let other = CKRecord(recordType: "Note", recordID: .init(recordName: "other"))
        let results = try await notes.phone.publicCloudDatabase.modifyRecords(saving: [open, other], deleting: [])
        #expect(results.saveResults[open.recordID]?.code == .invalidArguments)
        #expect(results.saveResults[other.recordID]?.code == nil)
        let note = notes.note("a")
        note.encryptedValues["secret"] = "x"
        let saved = try await notes.database.save(note)
        saved["secret"] = "plain"
        #expect(await code { try await notes.database.save(saved) } == .invalidArguments)
        let again = try await notes.database.record(for: note.recordID)
        again.encryptedValues["text"] = "hidden"
        #expect(await code { try await notes.database.save(again) } == .invalidArguments)
        let user = try await notes.store.container(user: "berta").privateCloudDatabase.save(
            CKRecord(recordType: "Note"))
        user["secret"] = "plain"
        #expect(
            await code { try await notes.store.container(user: "berta").privateCloudDatabase.save(user) }
                == .invalidArguments)
    }

    @Test("B22: nothing is queried or sorted by an encrypted field, and records with one are found")
    func queried() async throws {
        let notes = try await NotesStore()
        let note = notes.note("a", "found")
        note.encryptedValues["secret"] = "x"
        try await notes.database.save(note)
        let query = CKQuery(recordType: "Note", predicate: NSPredicate(format: "secret == %@", "x"))
        #expect(await code { try await notes.database.records(matching: query) } == .invalidArguments)
        let sorted = CKQuery(recordType: "Note", predicate: NSPredicate(value: true))
        sorted.sortDescriptors = [NSSortDescriptor(key: "secret", ascending: true)]
        #expect(await code { try await notes.database.records(matching: sorted) } == .invalidArguments)
        let found = CKQuery(recordType: "Note", predicate: NSPredicate(format: "text == %@", "found"))
        let matches = try await notes.database.records(matching: found).matchResults
        #expect(try matches.map { try $0.1.get().encryptedValues["secret"] as? String } == ["x"])
    }

    @Test("A value that does not open fails its record alone, in fetches, queries and feeds; not where it is left out")
    func lost() async throws {
        let notes = try await NotesDirectory()
        _ = try await notes.database.modifyRecords(
            saving: [notes.note("a", secret: "x"), notes.note("b")], deleting: [])
        try notes.loseKeys()
        let database = notes.database
        do {
            _ = try await database.record(for: notes.id("a"))
            Issue.record("it was read")
        } catch let error as CKError {
            #expect(error.code == .internalError)
            for part in ["encrypted", "secret", "'a'"] {
                #expect(error.detail.contains(part), "\(error)")
            }
        }
        let fetched = try await database.records(for: [notes.id("a"), notes.id("b")])
        #expect(fetched[notes.id("a")]?.code == .internalError && fetched[notes.id("b")]?.code == nil)
        let query = CKQuery(recordType: "Note", predicate: NSPredicate(value: true))
        let matches = try await database.records(matching: query).matchResults
        #expect(matches.map { $0.1.code } == [.internalError, nil])
        let changes = try await database.recordZoneChanges(inZoneWith: notes.zone, since: nil)
        #expect(changes.modificationResultsByID[notes.id("a")]?.code == .internalError)
        #expect(changes.modificationResultsByID[notes.id("b")]?.code == nil)
        let after = try await database.recordZoneChanges(inZoneWith: notes.zone, since: changes.changeToken)
        #expect(after.modificationResultsByID.isEmpty && !after.moreComing)

        let title = try await database.records(for: [notes.id("a")], desiredKeys: ["title"])
        let record = try #require(try title[notes.id("a")]?.get())
        #expect(record["title"] as? String == "a" && record.encryptedValues.allKeys().isEmpty)
        // What was saved is no failure, and what cannot be read stays as it is.
        record["title"] = "new"
        let saved = try await database.save(record)
        #expect(saved["title"] as? String == "new" && saved.encryptedValues.allKeys().isEmpty)
        #expect(await code { try await database.record(for: notes.id("a")) } == .internalError)
        saved.encryptedValues["secret"] = "y"
        try await database.save(saved)
        #expect(try await database.record(for: notes.id("a")).encryptedValues["secret"] as? String == "y")
        try notes.store.close()
    }

    @Test("B38 B154: a reset deletes the zones with that reason, and what is saved next has a new key")
    func reset() async throws {
        let notes = try await NotesDirectory()
        try await notes.database.save(notes.note("a", secret: "x"))
        try await notes.database.save(CKRecordZone(zoneName: "Plain"))
        let early = notes.note("b", secret: "early")
        let token = try await notes.database.databaseChanges(since: nil).changeToken
        try notes.store.console.resetEncryptedData(of: "anna")
        let changes = try await notes.database.databaseChanges(since: token)
        #expect(changes.deletions == [.init(zoneID: notes.zone, reason: .encryptedDataReset)])
        do {
            _ = try await notes.database.recordZone(for: notes.zone)
            Issue.record("the zone is there")
        } catch let error as CKError {
            #expect(error.code == .zoneNotFound)
            #expect(error.userInfo[CKErrorUserDidResetEncryptedDataKey] as? Bool == true)
        }
        try await notes.database.save(CKRecordZone(zoneID: notes.zone))
        try await notes.database.save(early)
        try notes.reopen()
        #expect(try await notes.database.record(for: early.recordID).encryptedValues["secret"] as? String == "early")
        try notes.store.close()
    }

    @Test("Saves beside resets: every record that is there opens, or was of the default zone before a reset")
    func concurrentResets() async throws {
        let notes = try await NotesStore()
        let tablet = notes.store.container(user: "anna", device: "tablet").privateCloudDatabase
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask {
                for _ in 0..<10 {
                    try notes.store.store.resetEncryptedData(of: "anna")
                    try await Task.sleep(for: .milliseconds(2))
                }
            }
            for task in 0..<4 {
                group.addTask {
                    for number in 0..<20 {
                        _ = try? await tablet.save(CKRecordZone(zoneID: notes.zone))
                        let note = notes.note("\(task)-\(number)")
                        note.encryptedValues["secret"] = "x"
                        let code = await code { try await tablet.save(note) }
                        #expect([nil, .zoneNotFound].contains(code))
                    }
                }
            }
            try await group.waitForAll()
        }
        _ = try? await tablet.save(CKRecordZone(zoneID: notes.zone))
        let changes = try await tablet.recordZoneChanges(inZoneWith: notes.zone, since: nil)
        for result in changes.modificationResultsByID.values { #expect(result.code == nil) }
    }
}
