import CloudKit
import StrataSystem
import Testing

@Suite("B319 the object that was saved gets its new version, and keeps the caller's fields")
struct SavedObjectTests {
    /// The ways to save one record; each returns once the save has ended.
    enum Way: CaseIterable, Sendable {
        case asynchronous, handler, several, severalWithHandler, operation, oldBlocks

        @available(*, deprecated)
        func save(_ record: CKRecord, in database: CKDatabase, _ seen: Journal = Journal()) async throws {
            @Sendable func look() { seen.add(record.recordChangeTag == nil ? "no tag" : "tag") }
            switch self {
            case .asynchronous: try await database.save(record)
            case .several: _ = try await database.modifyRecords(saving: [record], deleting: [])
            case .handler:
                try await withCheckedThrowingContinuation { (done: CheckedContinuation<Void, any Error>) in
                    database.save(record) { _, error in
                        look()
                        if let error { done.resume(throwing: error) } else { done.resume() }
                    }
                }
            case .severalWithHandler:
                try await withCheckedThrowingContinuation { (done: CheckedContinuation<Void, any Error>) in
                    database.modifyRecords(saving: [record], deleting: []) { result in
                        look()
                        done.resume(with: result.map { _ in () })
                    }
                }
            case .operation, .oldBlocks:
                let failure = Lock<(any Error)?>(nil)
                let operation = CKModifyRecordsOperation(recordsToSave: [record])
                if self == .operation {
                    operation.perRecordSaveBlock = { _, result in
                        look()
                        if case .failure(let error) = result { failure.withLock { $0 = error } }
                    }
                } else {
                    operation.perRecordCompletionBlock = { _, error in
                        look()
                        failure.withLock { $0 = error }
                    }
                }
                await operation.finish { database.add($0) }
                if let error = failure.withLock({ $0 }) { throw error }
            }
        }
    }

    @available(*, deprecated)
    @Test("Tag, dates and users come before the block; saved again, it needs no fetch", arguments: Way.allCases)
    func again(way: Way) async throws {
        let notes = try await NotesStore()
        let note = notes.note("a", "first")
        let seen = Journal()
        try await way.save(note, in: notes.database, seen)
        #expect(seen.entries.allSatisfy { $0 == "tag" })
        let first = try await notes.database.record(for: notes.id("a"))
        #expect(note.recordChangeTag == first.recordChangeTag && note.recordChangeTag != nil)
        #expect(note.creationDate == first.creationDate && note.modificationDate == first.modificationDate)
        #expect(note.creatorUserRecordID == first.creatorUserRecordID && note.creatorUserRecordID != nil)
        #expect(note.lastModifiedUserRecordID == first.lastModifiedUserRecordID)
        #expect(note.changedKeys() == [] && note["text"] as? String == "first" && note.allKeys() == ["text"])

        note["text"] = "second"
        #expect(note.changedKeys() == ["text"])
        try await way.save(note, in: notes.database)
        #expect(note.recordChangeTag != first.recordChangeTag && note.creationDate == first.creationDate)
        try await way.save(note, in: notes.database)
        let last = try await notes.database.record(for: notes.id("a"))
        #expect(last["text"] as? String == "second" && last.recordChangeTag == note.recordChangeTag)
    }

    @available(*, deprecated)
    @Test("A save that fails, or whose answer is lost, changes nothing", arguments: Way.allCases)
    func failures(way: Way) async throws {
        let notes = try await NotesStore()
        let stale = try await notes.staleNote("a")
        let tag = stale.recordChangeTag
        #expect(await code { try await way.save(stale, in: notes.database) } != nil)
        #expect(stale.recordChangeTag == tag && stale.changedKeys() == ["text"])
        #expect(stale["text"] as? String == "mine")

        try notes.store.console.loseNextResponse(on: "phone")
        let lost = notes.note("b")
        _ = await code { try await way.save(lost, in: notes.database) }
        #expect(lost.recordChangeTag == nil && lost.creationDate == nil && lost.changedKeys() == ["text"])
        #expect(try await notes.database.record(for: notes.id("b")).recordChangeTag != nil)
        // The lost save was applied: saving the same object again is a conflict.
        #expect(await code { try await way.save(lost, in: notes.database) } != nil)
    }

    @Test("An operation that times out changes nothing later", .timeLimit(.minutes(1)))
    func timedOut() async throws {
        let notes = try await NotesStore()
        try notes.store.console.setNetwork(.slow(.milliseconds(300)), on: "phone")
        let note = notes.note("a")
        let operation = CKModifyRecordsOperation(recordsToSave: [note])
        operation.configuration.timeoutIntervalForRequest = 0.05
        let journal = Journal()
        operation.modifyRecordsResultBlock = { journal.add("result", $0) }
        await operation.finish { notes.database.add($0) }
        #expect(journal.entries == ["result serverResponseLost"])
        try notes.store.console.clearFaults()
        while await code(of: { try await notes.database.record(for: notes.id("a")) }) != nil { await Task.yield() }
        #expect(note.recordChangeTag == nil && note.changedKeys() == ["text"])
    }

    @Test("In a batch where half fails, the other half is updated; an atomic zone updates none")
    func halves() async throws {
        let notes = try await NotesStore()
        var records: [CKRecord] = []
        for number in 0..<6 {
            records.append(number % 2 == 0 ? notes.note("\(number)") : try await notes.staleNote("\(number)"))
        }
        let tags = records.map(\.recordChangeTag)
        #expect(await code { try await notes.database.modifyRecords(saving: records, deleting: []) } == .partialFailure)
        #expect(records.map(\.recordChangeTag) == tags)
        let results = try await notes.database.modifyRecords(saving: records, deleting: [], atomically: false)
        for (number, record) in records.enumerated() {
            if number % 2 == 0 {
                #expect(try record.recordChangeTag == results.saveResults[record.recordID]?.get().recordChangeTag)
                #expect(record.changedKeys() == [])
            } else {
                #expect(record.recordChangeTag == tags[number] && record.changedKeys() == ["text"])
            }
        }
    }

    @Test("Records of other zones are updated although the call throws (B82, B87)")
    func otherZones() async throws {
        let notes = try await NotesStore()
        let stale = try await notes.staleNote("a")
        let other = CKRecord(recordType: "Note", recordID: CKRecord.ID(recordName: "b"))
        #expect(
            await code { try await notes.database.modifyRecords(saving: [stale, other], deleting: []) }
                == .partialFailure)
        #expect(other.recordChangeTag != nil)
    }

    @Test("A key that is set while the save runs stays changed, whatever it is set to", .timeLimit(.minutes(1)))
    func during() async throws {
        let notes = try await NotesStore()
        try notes.store.console.setNetwork(.slow(.milliseconds(100)), on: "phone")
        let note = notes.note("a", "sent")
        note["other"] = 1
        note["removed"] = 2
        note.setParent(notes.id("root"))
        try await notes.database.save(notes.note("root"))
        let operation = CKModifyRecordsOperation(recordsToSave: [note])
        operation.database = notes.database
        await operation.finish { operation in
            operation.start()
            note["text"] = "later"
            note["removed"] = nil
            note["new"] = nil
            note["twice"] = 1
            note["twice"] = nil
        }
        #expect(note.recordChangeTag != nil)
        #expect(note.changedKeys() == ["removed", "text"])
        #expect(note["text"] as? String == "later" && note["removed"] == nil && note["other"] as? Int == 1)
        let stored = try await notes.database.record(for: notes.id("a"))
        #expect(stored["text"] as? String == "sent" && stored["removed"] as? Int == 2)
        #expect(stored.parent?.recordID == notes.id("root"))
        try await notes.database.save(note)
        let last = try await notes.database.record(for: notes.id("a"))
        #expect(last["text"] as? String == "later" && last.allKeys() == ["other", "text"])
        #expect(note.changedKeys() == [] && last.recordChangeTag == note.recordChangeTag)
    }

    @Test("Removing a saved value is a change, removing one that was never saved is none (B14)")
    func removals() async throws {
        let notes = try await NotesStore()
        let note = notes.note("a")
        note["n"] = 1
        note.encryptedValues["pin"] = "1234"
        try await notes.database.save(note)
        note["m"] = 1
        note["m"] = nil
        note["n"] = 2
        note["n"] = nil
        note.encryptedValues["pin"] = nil
        #expect(note.changedKeys() == ["n", "pin"])
        try await notes.database.save(note)
        #expect(try await notes.database.record(for: notes.id("a")).allKeys() == ["text"])
        note["n"] = nil
        note["n"] = 3
        note["n"] = nil
        #expect(note.changedKeys() == [] && note.allKeys() == ["text"])
        // The same for a key that a fetched record had.
        let fetched = try await notes.database.record(for: notes.id("a"))
        fetched["text"] = nil
        try await notes.database.save(fetched)
        fetched["text"] = "again"
        fetched["text"] = nil
        #expect(fetched["text"] == nil && fetched.changedKeys() == [] && fetched.allKeys() == [])
    }

    @Test("Each policy sends what it should after a save", arguments: [0, 1, 2])
    func policies(number: Int) async throws {
        let notes = try await NotesStore()
        let policy = try #require(CKModifyRecordsOperation.RecordSavePolicy(rawValue: number))
        let note = notes.note("a", "mine")
        note["n"] = 1
        note["gone"] = 1
        note.setParent(notes.id("root"))
        try await notes.database.modifyRecords(saving: [notes.note("root"), note], deleting: [])
        note["gone"] = nil
        try await notes.database.save(note)
        let theirs = try await notes.database.record(for: notes.id("a"))
        theirs["text"] = "theirs"
        theirs["gone"] = 5
        theirs.parent = nil
        try await notes.database.save(theirs)
        note["n"] = 2
        if policy == .ifServerRecordUnchanged {
            #expect(await code { try await notes.database.save(note) } == .serverRecordChanged)
            return
        }
        try await notes.database.modifyRecords(saving: [note], deleting: [], savePolicy: policy)
        let stored = try await notes.database.record(for: notes.id("a"))
        #expect(stored["n"] as? Int == 2 && stored["gone"] as? Int == 5)
        #expect(stored["text"] as? String == (policy == .allKeys ? "mine" : "theirs"))
        #expect((stored.parent != nil) == (policy == .allKeys))
        // What others saved does not come into the caller's fields.
        #expect(note["text"] as? String == "mine" && note["gone"] == nil && note.changedKeys() == [])
        #expect(note.recordChangeTag == stored.recordChangeTag)
    }

    @Test("Results and fetched records stay copies (B253)")
    func copies() async throws {
        let notes = try await NotesStore()
        let note = notes.note("a")
        let saved = try await notes.database.save(note)
        let fetched = try await notes.database.record(for: notes.id("a"))
        #expect(saved !== note && fetched !== note)
        note["text"] = "changed"
        try await notes.database.save(note)
        #expect(saved["text"] as? String == "text" && saved.recordChangeTag == fetched.recordChangeTag)
        #expect(note.recordChangeTag != fetched.recordChangeTag)
        let copy = try #require(note.copy() as? CKRecord)
        note["text"] = "once more"
        try await notes.database.save(note)
        #expect(copy["text"] as? String == "changed" && copy.recordChangeTag != note.recordChangeTag)
    }

    @Test("One object in two requests: each sends its own moment, the later version stays")
    func twoRequests() async throws {
        let notes = try await NotesStore()
        let note = notes.note("a", "0")
        for round in 1...20 {
            note["text"] = "\(round)"
            async let first = notes.database.modifyRecords(saving: [note], deleting: [], savePolicy: .changedKeys)
            async let second = notes.database.modifyRecords(saving: [note], deleting: [], savePolicy: .changedKeys)
            _ = try await (first, second)
            let stored = try await notes.database.record(for: notes.id("a"))
            #expect(note.recordChangeTag == stored.recordChangeTag && note.changedKeys() == [])
            #expect(stored["text"] as? String == "\(round)")
        }
    }

    @Test("Archives of a saved object: its version, and as changed only what is")
    func archives() async throws {
        let notes = try await NotesStore()
        let note = notes.note("a")
        note["n"] = 1
        note["gone"] = 1
        note.setParent(notes.id("root"))
        try await notes.database.modifyRecords(saving: [notes.note("root"), note], deleting: [])
        note["gone"] = nil
        try await notes.database.save(note)
        note["n"] = 2
        let data = try NSKeyedArchiver.archivedData(withRootObject: note, requiringSecureCoding: true)
        let read = try #require(try NSKeyedUnarchiver.unarchivedObject(ofClass: CKRecord.self, from: data))
        #expect(read.recordChangeTag == note.recordChangeTag && read.creationDate == note.creationDate)
        #expect(read.allKeys() == ["n", "text"] && read.changedKeys() == ["n"])
        #expect(read.parent?.recordID == notes.id("root"))
        try await notes.database.save(read)
        #expect(try await notes.database.record(for: notes.id("a"))["n"] as? Int == 2)
    }

    @Test("A file is not read again unless its key is set again")
    func assets() async throws {
        let notes = try await NotesStore()
        let file = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
        try Data("photo".utf8).write(to: file)
        let note = notes.note("a")
        note["photo"] = CKAsset(fileURL: file)
        try await notes.database.save(note)
        try FileManager.default.removeItem(at: file)
        note["text"] = "changed"
        try await notes.database.save(note)
        #expect((note["photo"] as? CKAsset)?.fileURL == file)
        let stored = try await notes.database.record(for: notes.id("a"))
        let url = try #require((stored["photo"] as? CKAsset)?.fileURL)
        #expect(try Data(contentsOf: url) == Data("photo".utf8) && stored["text"] as? String == "changed")
    }
}
