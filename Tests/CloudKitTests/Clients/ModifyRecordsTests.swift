import CloudKit
import Testing

@Suite("Saving and deleting records")
struct ModifyRecordsTests {
    @Test("A saved record is the store's view of it (B59), single calls have the item's own error (B89)")
    func single() async throws {
        let notes = try await NotesStore()
        let note = notes.note("a")
        let saved = try await notes.database.save(note)
        #expect(saved !== note)
        #expect(saved.recordChangeTag != nil && saved.creationDate != nil)
        #expect(saved.changedKeys().isEmpty)
        #expect(note.recordChangeTag == saved.recordChangeTag && note.changedKeys().isEmpty)
        #expect(await code { try await notes.database.save(notes.note("a")) } == .serverRecordChanged)
        #expect(try await notes.database.deleteRecord(withID: notes.id("a")) == notes.id("a"))
        #expect(await code { try await notes.database.record(for: notes.id("a")) } == .unknownItem)
        // B91
        #expect(try await notes.database.deleteRecord(withID: notes.id("a")) == notes.id("a"))
        let elsewhere = CKRecord(recordType: "Note", recordID: CKRecord.ID(zoneID: .init(zoneName: "Nowhere")))
        #expect(await code { try await notes.database.save(elsewhere) } == .zoneNotFound)
    }

    @Test("A conflict has the client's, the server's and the ancestor record (B53, B62)")
    func conflict() async throws {
        let notes = try await NotesStore()
        let mine = try await notes.staleNote("a")
        let error = await #expect(throws: CKError.self) { try await notes.database.save(mine) }
        #expect(error?.code == .serverRecordChanged)
        #expect(error?.clientRecord === mine)
        #expect(error?.serverRecord?["text"] as? String == "second")
        #expect(error?.ancestorRecord?["text"] as? String == "first")
        #expect(error?.ancestorRecord?.recordChangeTag == mine.recordChangeTag)
        let server = try #require(error?.serverRecord)
        server["text"] = "merged"
        let merged = try await notes.database.save(server)
        #expect(merged["text"] as? String == "merged")
    }

    @Test("A conflict of a record that was never fetched has an empty ancestor (B52, B63)")
    func conflictOfNew() async throws {
        let notes = try await NotesStore()
        try await notes.database.save(notes.note("a", "there"))
        let error = await #expect(throws: CKError.self) { try await notes.database.save(notes.note("a", "new")) }
        #expect(error?.serverRecord?["text"] as? String == "there")
        #expect(error?.ancestorRecord?.allKeys() == [])
        #expect(error?.ancestorRecord?.recordID == notes.id("a"))
    }

    @Test("With one failing in an atomic zone the call throws every item's error (B81, B87, B258)")
    func throwing() async throws {
        let notes = try await NotesStore()
        let other = CKRecordZone(zoneName: "Other")
        try await notes.database.save(other)
        let stale = try await notes.staleNote("a")
        let elsewhere = CKRecord(
            recordType: "Note", recordID: CKRecord.ID(recordName: "c", zoneID: other.zoneID))
        let error = await #expect(throws: CKError.self) {
            try await notes.database.modifyRecords(
                saving: [stale, notes.note("b"), elsewhere], deleting: [notes.id("gone")])
        }
        #expect(error?.code == .partialFailure)
        let errors = error?.partialErrorsByItemID ?? [:]
        #expect(errors.count == 3)
        #expect((errors[notes.id("a")] as? CKError)?.code == .serverRecordChanged)
        #expect((errors[notes.id("b")] as? CKError)?.code == .batchRequestFailed)
        #expect((errors[notes.id("gone")] as? CKError)?.code == .batchRequestFailed)
        let info = error?.userInfo[CKPartialErrorsByItemIDKey]
        #expect((info as? [NSObject: CKError])?.count == 3)
        #expect((info as? [AnyHashable: CKError])?.count == 3)
        #expect((info as? [CKRecord.ID: Error])?.count == 3)
        // B82: the other zone is not affected.
        #expect(error?.savedRecords?.map(\.recordID) == [elsewhere.recordID])
        #expect(try await notes.database.record(for: elsewhere.recordID).recordChangeTag != nil)
    }

    /// Apps make their zone when the results tell that there is none.
    @Test("Items of a zone that does not exist have results; the call does not throw (B32, B87)")
    func missingZone() async throws {
        let notes = try await NotesStore()
        let nowhere = CKRecordZone(zoneName: "Nowhere")
        let first = CKRecord(recordType: "Note", recordID: .init(recordName: "a", zoneID: nowhere.zoneID))
        let wrong = CKRecord(recordType: "Note", recordID: .init(recordName: "b", zoneID: nowhere.zoneID))
        let gone = CKRecord.ID(recordName: "c", zoneID: nowhere.zoneID)
        let results = try await notes.database.modifyRecords(saving: [first, notes.note("d")], deleting: [gone])
        #expect(results.saveResults[first.recordID]?.code == .zoneNotFound)
        #expect(results.deleteResults[gone]?.code == .zoneNotFound)
        #expect(try results.saveResults[notes.id("d")]?.get().recordChangeTag != nil)
        // A record that cannot be sent fails before its zone is looked up.
        wrong.parent = CKRecord.Reference(recordID: first.recordID, action: .deleteSelf)
        let mistaken = try await notes.database.modifyRecords(saving: [wrong], deleting: [])
        #expect(mistaken.saveResults[wrong.recordID]?.code == .invalidArguments)
        let handled = await withCheckedContinuation { continuation in
            notes.database.modifyRecords(saving: [first], deleting: []) { continuation.resume(returning: $0) }
        }
        #expect(try handled.get().saveResults[first.recordID]?.code == .zoneNotFound)
        let shared = notes.store.container(user: "ben").sharedCloudDatabase
        let hidden = CKRecord(recordType: "Note", recordID: notes.id("e"))
        #expect(try await shared.modifyRecords(saving: [hidden], deleting: []).saveResults.values.first?.code != nil)
        try await notes.database.save(nowhere)
        try await notes.database.modifyRecords(saving: [first], deleting: [])
        try notes.store.console.purgeZone(nowhere.zoneID, of: "anna")
        let purged = try await notes.database.modifyRecords(saving: [first], deleting: [])
        #expect(purged.saveResults[first.recordID]?.code == .userDeletedZone)
    }

    @Test("With one failing in an atomic zone the error has the failed items of other zones, too (B87)")
    func throwingWithMissingZone() async throws {
        let notes = try await NotesStore()
        let stale = try await notes.staleNote("a")
        let elsewhere = CKRecord(
            recordType: "Note", recordID: .init(recordName: "b", zoneID: .init(zoneName: "Nowhere")))
        let first = CKRecord(recordType: "Note", recordID: CKRecord.ID(recordName: "first"))
        try await notes.database.save(first)
        let again = CKRecord(recordType: "Note", recordID: first.recordID)
        let error = await #expect(throws: CKError.self) {
            try await notes.database.modifyRecords(saving: [stale, elsewhere, again], deleting: [])
        }
        let codes = (error?.partialErrorsByItemID ?? [:]).mapValues { ($0 as? CKError)?.code }
        #expect(error?.code == .partialFailure)
        #expect(
            codes == [
                stale.recordID: .serverRecordChanged, elsewhere.recordID: .zoneNotFound,
                again.recordID: .serverRecordChanged,
            ])
    }

    @Test("With atomicFailures .perItem the same call returns results (B87)")
    func perItem() async throws {
        var options = CloudStore.Options.service
        options.atomicFailures = .perItem
        let notes = try await NotesStore(options)
        let stale = try await notes.staleNote("a")
        let results = try await notes.database.modifyRecords(
            saving: [stale, notes.note("b")], deleting: [notes.id("gone")])
        #expect(results.saveResults[notes.id("a")]?.code == .serverRecordChanged)
        #expect(results.saveResults[notes.id("b")]?.code == .batchRequestFailed)
        #expect(results.deleteResults[notes.id("gone")]?.code == .batchRequestFailed)
        #expect(await code { try await notes.database.record(for: notes.id("b")) } == .unknownItem)
    }

    @Test("Not atomically, and in the default zone, items fail alone and the call does not (B80, B83)")
    func alone() async throws {
        let notes = try await NotesStore()
        let stale = try await notes.staleNote("a")
        let results = try await notes.database.modifyRecords(
            saving: [stale, notes.note("b")], deleting: [], atomically: false)
        #expect(results.saveResults[notes.id("a")]?.code == .serverRecordChanged)
        #expect(try results.saveResults[notes.id("b")]?.get()["text"] as? String == "text")

        let first = CKRecord(recordType: "Note", recordID: CKRecord.ID(recordName: "first"))
        try await notes.database.save(first)
        let second = CKRecord(recordType: "Note", recordID: CKRecord.ID(recordName: "second"))
        let again = CKRecord(recordType: "Note", recordID: first.recordID)
        let mixed = try await notes.database.modifyRecords(saving: [again, second], deleting: [])
        #expect(mixed.saveResults[first.recordID]?.code == .serverRecordChanged)
        #expect(mixed.saveResults[second.recordID]?.code == nil)
    }

    @Test("What cannot be sent fails with its zone if that is atomic, else alone (B84, B270)")
    func mistakes() async throws {
        let notes = try await NotesStore()
        let wrong = notes.note("wrong")
        wrong["_reserved"] = "not allowed"
        let error = await #expect(throws: CKError.self) {
            try await notes.database.modifyRecords(saving: [notes.note("a"), wrong], deleting: [notes.id("x")])
        }
        let errors = error?.partialErrorsByItemID ?? [:]
        #expect((errors[notes.id("wrong")] as? CKError)?.code == .invalidArguments)
        #expect((errors[notes.id("a")] as? CKError)?.code == .batchRequestFailed)
        #expect((errors[notes.id("x")] as? CKError)?.code == .batchRequestFailed)
        let results = try await notes.database.modifyRecords(
            saving: [wrong, notes.note("a")], deleting: [], atomically: false)
        #expect(results.saveResults[notes.id("wrong")]?.code == .invalidArguments)
        #expect(results.saveResults[notes.id("a")]?.code == nil)
        #expect(try await notes.database.record(for: notes.id("a"))["text"] as? String == "text")
    }

    @Test("The same record twice, and too many, fail as a whole (B66, B67, B117); nothing succeeds (B70)")
    func whole() async throws {
        let notes = try await NotesStore()
        let database = notes.database
        #expect(
            await code { try await database.modifyRecords(saving: [notes.note("a"), notes.note("a")], deleting: []) }
                == .invalidArguments)
        #expect(
            await code {
                try await database.modifyRecords(saving: [notes.note("a")], deleting: [notes.id("a")])
            } == .invalidArguments)
        let many = (0...400).map { notes.note("\($0)") }
        #expect(await code { try await database.modifyRecords(saving: many, deleting: []) } == .limitExceeded)
        let most = try await database.modifyRecords(saving: Array(many.dropLast()), deleting: [])
        #expect(most.saveResults.count == 400 && most.saveResults.values.allSatisfy { $0.code == nil })
        #expect(await code { try await database.records(for: many.map(\.recordID)) } == .limitExceeded)
        let nothing = try await database.modifyRecords(saving: [], deleting: [])
        #expect(nothing.saveResults.isEmpty && nothing.deleteResults.isEmpty)
    }

    @Test("A fetch of several has a result for each, with the keys that are desired (B110, B111, B112)")
    func fetch() async throws {
        let notes = try await NotesStore()
        let note = notes.note("a")
        note["other"] = 1
        try await notes.database.save(note)
        let ids = [notes.id("a"), notes.id("missing"), notes.id("a"), CKRecord.ID(recordName: "elsewhere")]
        let results = try await notes.database.records(for: ids, desiredKeys: ["text", "unknown"])
        #expect(results.count == 3)
        #expect(try results[notes.id("a")]?.get().allKeys() == ["text"])
        #expect(results[notes.id("missing")]?.code == .unknownItem)
        let bare = try await notes.database.records(for: [notes.id("a")], desiredKeys: [])
        #expect(try bare[notes.id("a")]?.get().allKeys() == [])
    }

    @Test("Whatever is handed out names the current user as __defaultOwner__ (B2)")
    func owner() async throws {
        let notes = try await NotesStore()
        try await notes.database.save(notes.note("a"))
        let me = try await notes.phone.userRecordID().recordName
        let spelled = CKRecord.ID(
            recordName: "a", zoneID: CKRecordZone.ID(zoneName: "Notes", ownerName: me))
        let read = try await notes.database.record(for: spelled)
        #expect(read.recordID == notes.id("a"))
        #expect(read.creatorUserRecordID?.recordName == CKCurrentUserDefaultName)
        let results = try await notes.database.records(for: [spelled])
        #expect(try results[spelled]?.get().recordID == notes.id("a"))
    }

    @Test("Whoever else saved a record has the name of the own user record (B2)")
    func otherUser() async throws {
        let store = try CloudStore.inMemory()
        let anna = store.container(user: "anna")
        let id = CKRecord.ID(recordName: "a")
        try await anna.publicCloudDatabase.save(CKRecord(recordType: "Note", recordID: id))
        for reader in [store.container(user: "bert"), store.container(user: nil)] {
            let read = try await reader.publicCloudDatabase.record(for: id)
            let name = try await anna.userRecordID().recordName
            #expect(read.creatorUserRecordID?.recordName == name)
            #expect(read.lastModifiedUserRecordID?.recordName == name)
        }
    }

    @Test("Items of one atomic zone fail together, however its owner is spelt (B2, B84)")
    func spelledTogether() async throws {
        let notes = try await NotesStore()
        let me = try await notes.phone.userRecordID().recordName
        let spelled = CKRecordZone.ID(zoneName: "Notes", ownerName: me)
        try await notes.database.save(notes.note("old"))
        let mistaken = notes.note("a")
        mistaken.encryptedValues["secret"] = CKRecord.Reference(recordID: notes.id("old"), action: .none)
        let other = CKRecord(recordType: "Note", recordID: CKRecord.ID(recordName: "b", zoneID: spelled))
        let old = CKRecord.ID(recordName: "old", zoneID: spelled)
        let error = await #expect(throws: CKError.self) {
            try await notes.database.modifyRecords(saving: [mistaken, other], deleting: [old])
        }
        let errors = try #require(error?.partialErrorsByItemID)
        #expect((errors[mistaken.recordID] as? CKError)?.code == .invalidArguments)
        #expect((errors[other.recordID] as? CKError)?.code == .batchRequestFailed)
        #expect((errors[old] as? CKError)?.code == .batchRequestFailed)
        #expect(await code { try await notes.database.record(for: notes.id("b")) } == .unknownItem)
        #expect(try await notes.database.record(for: notes.id("old"))["text"] as? String == "text")
        // The same twice is refused as a whole, however it is spelt (B66).
        let twice = CKRecord(recordType: "Note", recordID: CKRecord.ID(recordName: "a", zoneID: spelled))
        #expect(
            await code { try await notes.database.modifyRecords(saving: [mistaken, twice], deleting: []) }
                == .invalidArguments)
    }

    @Test("Zones: made, listed, deleted, each for itself (B31, B34, B35, B36)")
    func zones() async throws {
        let notes = try await NotesStore()
        let database = notes.database
        let saved = try await database.save(CKRecordZone(zoneID: notes.zone))
        #expect(saved.capabilities.contains(.atomic))
        #expect(try await database.recordZone(for: notes.zone).capabilities == saved.capabilities)
        let results = try await database.recordZones(for: [notes.zone, .init(zoneName: "Nowhere"), .default])
        #expect(results[notes.zone]?.code == nil && results[.default]?.code == nil)
        #expect(results[.init(zoneName: "Nowhere")]?.code == .zoneNotFound)
        let modified = try await database.modifyRecordZones(
            saving: [CKRecordZone(zoneName: "New")], deleting: [.init(zoneName: "Nowhere")])
        #expect(modified.saveResults[.init(zoneName: "New")]?.code == nil)
        #expect(modified.deleteResults[.init(zoneName: "Nowhere")]?.code == .zoneNotFound)
        #expect(try await database.deleteRecordZone(withID: notes.zone) == notes.zone)
        #expect(await code { try await database.recordZone(for: notes.zone) } == .zoneNotFound)
        let publicDatabase = notes.phone.publicCloudDatabase
        #expect(await code { try await publicDatabase.save(CKRecordZone(zoneName: "Notes")) } == .badDatabase)
    }
}
