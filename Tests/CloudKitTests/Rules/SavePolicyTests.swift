import CloudKit
import Testing

@Suite("What a save writes, and when it may", .timeLimit(.minutes(2)))
struct SavePolicyTests {
    typealias Policy = CKModifyRecordsOperation.RecordSavePolicy

    private func save(_ record: CKRecord, _ policy: Policy, in database: CKDatabase) async throws -> CKRecord {
        let results = try await database.modifyRecords(
            saving: [record], deleting: [], savePolicy: policy, atomically: false)
        return try #require(results.saveResults[record.recordID]).get()
    }

    @Test("What nobody sets: unchanged records only, atomically (B50, B80)")
    func defaults() {
        let operation = CKModifyRecordsOperation()
        #expect(operation.savePolicy == .ifServerRecordUnchanged && operation.isAtomic)
    }

    @Test("A save sends the keys that were edited; others stay as they are stored (B51, B55)")
    func editedKeys() async throws {
        let notes = try await NotesStore()
        let note = notes.note("a", "first")
        note["n"] = 1
        let mine = try await notes.database.save(note)
        mine["n"] = 2
        mine["n"] = 2
        #expect(mine.changedKeys() == ["n"])
        #expect(try await notes.database.save(mine)["text"] as? String == "first")
        // This copy is older than what is stored, and says nothing of the key that it did not touch.
        let stale = try await notes.staleNote("b")
        stale["more"] = 1
        stale["text"] = nil
        #expect(
            await code { try await save(stale, .ifServerRecordUnchanged, in: notes.database) } == .serverRecordChanged)
        let newer = try await notes.database.record(for: notes.id("b"))
        let partial = notes.note("b")
        partial["text"] = nil
        partial["more"] = 2
        let merged = try await save(partial, .changedKeys, in: notes.database)
        #expect(merged["text"] as? String == newer["text"] as? String)
        #expect(merged["more"] as? Int == 2)
    }

    @Test("A tag whose record is gone: unknownItem, or a new record (B54, B57)")
    func gone() async throws {
        let notes = try await NotesStore()
        for policy in [Policy.ifServerRecordUnchanged, .changedKeys, .allKeys] {
            let saved = try await notes.database.save(notes.note("a"))
            saved["more"] = 1
            try await notes.database.deleteRecord(withID: notes.id("a"))
            let result = await code { try await save(saved, policy, in: notes.database) }
            #expect(result == (policy == .ifServerRecordUnchanged ? .unknownItem : nil))
            try await notes.database.deleteRecord(withID: notes.id("a"))
            // Nor need there ever have been one.
            #expect(await code { try await save(notes.note("new"), policy, in: notes.database) } == nil)
            try await notes.database.deleteRecord(withID: notes.id("new"))
        }
    }

    @Test("All keys writes what the copy has, and no more (B56)")
    func allKeys() async throws {
        let notes = try await NotesStore()
        let note = notes.note("a", "first")
        note["n"] = 1
        note["untouched"] = "as it was"
        try await notes.database.save(note)
        let stale = try #require(
            try await notes.database.records(for: [notes.id("a")], desiredKeys: ["text"])[notes.id("a")]
        ).get()
        let newer = try await notes.database.record(for: notes.id("a"))
        newer["text"] = "second"
        newer["n"] = 2
        newer["server"] = "only there"
        try await notes.database.save(newer)
        stale["mine"] = true
        let saved = try await save(stale, .allKeys, in: notes.database)
        #expect(saved["text"] as? String == "first")
        #expect(saved["mine"] as? Bool == true)
        #expect(saved["n"] as? Int == 2 && saved["server"] as? String == "only there")
        #expect(saved["untouched"] as? String == "as it was")
    }

    @Test(
        "A key that was set to nil is removed, one that was not fetched is not (B56)",
        arguments: [Policy.ifServerRecordUnchanged, .changedKeys, .allKeys])
    func removedKeys(policy: Policy) async throws {
        let notes = try await NotesStore()
        let note = notes.note("a")
        note["n"] = 1
        note["other"] = 2
        try await notes.database.save(note)
        let fetched = try #require(
            try await notes.database.records(for: [notes.id("a")], desiredKeys: ["n"])[notes.id("a")]
        ).get()
        fetched["n"] = nil
        #expect(fetched.changedKeys() == ["n"])
        let saved = try await save(fetched, policy, in: notes.database)
        #expect(saved.allKeys() == ["other", "text"])
    }

    @Test("Every write has a tag of its own, short and native to look at (B60, B260)")
    func tags() async throws {
        let notes = try await NotesStore()
        var seen: Set<String> = []
        var note = notes.note("a")
        for _ in 0..<20 {
            note["text"] = "the same"
            note = try await notes.database.save(note)
            let tag = try #require(note.recordChangeTag)
            #expect(seen.insert(tag).inserted)
            #expect(tag.count <= 13 && tag.allSatisfy { $0.isLowercase || $0.isNumber })
            #expect(try await notes.database.record(for: note.recordID).recordChangeTag == tag)
        }
    }

    @Test("A record that is made again has a new date of creation and new tags (B252)")
    func madeAgain() async throws {
        let clock = CloudStore.ManualClock()
        var options = CloudStore.Options.service
        options.clock = clock
        let notes = try await NotesStore(options)
        var first = try await notes.database.save(notes.note("a"))
        for round in 0..<2 {
            clock.advance(by: .seconds(10))
            if round == 0 {
                try await notes.database.deleteRecord(withID: notes.id("a"))
            } else {
                try await notes.database.deleteRecordZone(withID: notes.zone)
                try await notes.database.save(CKRecordZone(zoneID: notes.zone))
            }
            let again = try await notes.database.save(notes.note("a"))
            #expect(try #require(again.creationDate) > #require(first.creationDate))
            #expect(again.recordChangeTag != first.recordChangeTag)
            first["text"] = "of the earlier life"
            #expect(await code { try await notes.database.save(first) } == .serverRecordChanged)
            first = again
        }
    }

    @Test("What is handed out are copies (B253)")
    func copies() async throws {
        let notes = try await NotesStore()
        let mine = notes.note("a", "mine")
        let saved = try await notes.database.save(mine)
        mine["text"] = "changed after the save"
        saved["text"] = "changed in the answer"
        let (one, other) = (
            try await notes.database.record(for: notes.id("a")), try await notes.database.record(for: notes.id("a"))
        )
        #expect(one !== other)
        one["text"] = "changed in a fetch"
        #expect(other["text"] as? String == "mine")
        #expect(try await notes.database.record(for: notes.id("a"))["text"] as? String == "mine")
    }

    @Test("What a record is when it is passed is what is saved (B201)")
    func passed() async throws {
        let notes = try await NotesStore()
        for round in 0..<100 {
            let note = notes.note("\(round)", "passed")
            await withCheckedContinuation { continuation in
                notes.database.save(note) { _, _ in continuation.resume() }
                note["text"] = "changed since"
                note["more"] = 1
            }
            let stored = try await notes.database.record(for: note.recordID)
            #expect(stored["text"] as? String == "passed" && stored.allKeys() == ["text"])
        }
    }

    @Test("The first save of a key binds its type; what fits is turned into it (B23)")
    func types() async throws {
        let notes = try await NotesStore()
        let first = notes.note("first")
        first["n"] = 1
        first["d"] = 1.5
        first["at"] = Date()
        first["list"] = ["a"]
        first["empty"] = [String]()
        try await notes.database.save(first)
        func saving(_ key: String, _ value: any CKRecordValueProtocol) async -> (CKError.Code?, String) {
            let record = CKRecord(recordType: "Note", recordID: notes.id(UUID().uuidString))
            record[key] = value
            do {
                let saved = try await notes.database.save(record)
                return (nil, "\(saved[key] as? Double ?? 0)")
            } catch {
                return ((error as? CKError)?.code, error.detail)
            }
        }
        #expect(await saving("d", 2) == (nil, "2.0"))
        #expect(await saving("n", 3.0) == (nil, "3.0"))
        #expect(await saving("n", true) == (nil, "1.0"))
        let refused: [(String, any CKRecordValueProtocol, String, String)] = [
            ("n", 2.5, "INT64", "DOUBLE"), ("text", 1, "STRING", "INT64"), ("n", "1", "INT64", "STRING"),
            ("at", 0.5, "TIMESTAMP", "DOUBLE"), ("list", "a", "LIST<STRING>", "STRING"),
            ("text", ["a"], "STRING", "LIST<STRING>"), ("n", Data([1]), "INT64", "BYTES"),
            ("n", CLLocation(latitude: 0, longitude: 0), "INT64", "LOCATION"),
            ("n", CKRecord.Reference(recordID: notes.id("first"), action: .none), "INT64", "REFERENCE"),
        ]
        for (key, value, bound, other) in refused {
            let (code, message) = await saving(key, value)
            #expect(code == .invalidArguments)
            #expect(message.contains(bound) && message.contains(other) && message.contains(key))
        }
        // An empty list binds nothing.
        #expect(await saving("empty", [1]).0 == nil)
        #expect(await saving("empty", ["a"]).0 == .invalidArguments)
    }

    @Test("Types and keys that nobody declared are made by saving them (B24)")
    func undeclared() async throws {
        let notes = try await NotesStore()
        for number in 0..<20 {
            let record = CKRecord(recordType: "Type\(number)", recordID: notes.id("\(number)"))
            record["key\(number)"] = number
            #expect(try await notes.database.save(record)["key\(number)"] as? Int == number)
        }
    }

    @Test("Saves are judged before deletes, in one commit (B255, B271)")
    func order() async throws {
        let notes = try await NotesStore()
        try await notes.database.save(notes.note("old"))
        let child = notes.note("child")
        child.setParent(notes.id("parent"))
        let before = notes.store.offset
        let results = try await notes.database.modifyRecords(
            saving: [child, notes.note("parent")], deleting: [notes.id("old")])
        #expect(results.saveResults.values.allSatisfy { $0.code == nil })
        #expect(results.deleteResults[notes.id("old")]?.code == nil)
        #expect(notes.store.offset == before + 1)
    }

    @Test("What a save made is its result, though a delete of the same request took it along (B255)")
    func savedAndGone() async throws {
        let notes = try await NotesStore()
        try await notes.database.save(notes.note("owner"))
        let owned = notes.note("owned")
        owned["owner"] = CKRecord.Reference(recordID: notes.id("owner"), action: .deleteSelf)
        let results = try await notes.database.modifyRecords(saving: [owned], deleting: [notes.id("owner")])
        #expect(results.deleteResults[notes.id("owner")]?.code == nil)
        #expect(try #require(results.saveResults[notes.id("owned")]).get()["text"] as? String == "text")
        #expect(await code { try await notes.database.record(for: notes.id("owned")) } == .unknownItem)
    }

    @Test("A child's save gives its parent a new tag in .service, in .embedded it does not (B61)")
    func parentTouch() async throws {
        for (options, touches) in [(CloudStore.Options.service, true), (.embedded, false)] {
            let notes = try await NotesStore(options)
            let parent = try await notes.database.save(notes.note("parent"))
            let child = notes.note("child")
            child.setParent(parent)
            child["link"] = CKRecord.Reference(
                record: try await notes.database.save(notes.note("linked")), action: .none)
            let linked = try await notes.database.record(for: notes.id("linked"))
            try await notes.database.save(child)
            let after = try await notes.database.record(for: notes.id("parent"))
            #expect((after.recordChangeTag != parent.recordChangeTag) == touches)
            #expect(after.modificationDate == parent.modificationDate)
            #expect(try await notes.database.record(for: notes.id("linked")).recordChangeTag == linked.recordChangeTag)
        }
    }
}
