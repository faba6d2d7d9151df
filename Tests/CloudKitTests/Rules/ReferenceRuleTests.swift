import CloudKit
import Testing

@Suite("References, parents and cascades")
struct ReferenceRuleTests {
    private func link(_ id: CKRecord.ID, _ action: CKRecord.ReferenceAction = .none) -> CKRecord.Reference {
        CKRecord.Reference(recordID: id, action: action)
    }

    private func exists(_ name: String, in notes: NotesStore) async -> Bool {
        await code { try await notes.database.record(for: notes.id(name)) } == nil
    }

    @Test("Deleting is for good, takes owned records along, and reports what was asked for (B90, B95, B96)")
    func cascade() async throws {
        let notes = try await NotesStore()
        let names = ["root", "child", "grandchild", "other", "twice"]
        let records = names.map { notes.note($0) }
        records[1]["owner"] = link(notes.id("root"), .deleteSelf)
        records[2]["owners"] = [link(notes.id("child"), .deleteSelf)]
        records[3]["owner"] = link(notes.id("root"))
        records[4]["owners"] = [link(notes.id("other"), .deleteSelf), link(notes.id("child"), .deleteSelf)]
        try await notes.database.modifyRecords(saving: records, deleting: [])
        let results = try await notes.database.modifyRecords(saving: [], deleting: [notes.id("root")])
        #expect(Array(results.deleteResults.keys) == [notes.id("root")])
        for name in ["root", "child", "grandchild", "twice"] { #expect(await !exists(name, in: notes)) }
        // B94: a reference without an action is left pointing nowhere.
        let other = try await notes.database.record(for: notes.id("other"))
        #expect((other["owner"] as? CKRecord.Reference)?.recordID == notes.id("root"))
    }

    @Test("Owners in a circle all go, and it ends (B97)")
    func circle() async throws {
        let notes = try await NotesStore()
        let records = (0..<5).map { number in
            let record = notes.note("\(number)")
            record["next"] = link(notes.id("\((number + 1) % 5)"), .deleteSelf)
            return record
        }
        try await notes.database.modifyRecords(saving: records, deleting: [])
        try await notes.database.deleteRecord(withID: notes.id("3"))
        for number in 0..<5 { #expect(await !exists("\(number)", in: notes)) }
    }

    @Test("References stay in their zone (B93)")
    func zones() async throws {
        let notes = try await NotesStore()
        try await notes.database.save(CKRecordZone(zoneName: "Other"))
        let elsewhere = CKRecord.ID(recordName: "x", zoneID: .init(zoneName: "Other"))
        let note = notes.note("a")
        note["link"] = link(elsewhere)
        #expect(await code { try await notes.database.save(note) } == .invalidArguments)
        note["link"] = nil
        note["links"] = [link(notes.id("b")), link(elsewhere)]
        #expect(await code { try await notes.database.save(note) } == .invalidArguments)
        note["links"] = nil
        note.setParent(elsewhere)
        #expect(await code { try await notes.database.save(note) } == .invalidArguments)
        note.setParent(nil as CKRecord?)
        #expect(await code { try await notes.database.save(note) } == nil)
    }

    @Test("Only the parent must be there, saved before or along, in any order (B99, B100, B103)")
    func parents() async throws {
        let notes = try await NotesStore()
        let child = notes.note("child")
        child.setParent(notes.id("parent"))
        #expect(await code { try await notes.database.save(child) } == .referenceViolation)
        let parent = notes.note("parent")
        parent["child"] = link(child.recordID)
        child["parent"] = link(parent.recordID)
        let results = try await notes.database.modifyRecords(saving: [child, parent], deleting: [])
        #expect(results.saveResults.values.allSatisfy { $0.code == nil })
        let dangling = notes.note("dangling")
        dangling["link"] = link(notes.id("nowhere"), .deleteSelf)
        #expect(await code { try await notes.database.save(dangling) } == nil)
    }

    @Test("A parent that stays one cannot be deleted (B101)")
    func parentDeleted() async throws {
        let notes = try await NotesStore()
        let child = notes.note("child")
        child.setParent(notes.id("parent"))
        try await notes.database.modifyRecords(saving: [notes.note("parent"), child], deleting: [])
        #expect(await code { try await notes.database.deleteRecord(withID: notes.id("parent")) } == .referenceViolation)
        #expect(await exists("parent", in: notes))
        try await notes.database.modifyRecords(saving: [], deleting: [notes.id("parent"), notes.id("child")])
        #expect(await !exists("parent", in: notes))
        #expect(await !exists("child", in: notes))
    }

    @Test("A child fails with its parent: alone referenceViolation, atomically batchRequestFailed (B102)")
    func parentFailed() async throws {
        // The one parent is refused by the store, the other cannot even be sent.
        for mistake in [false, true] {
            let notes = try await NotesStore()
            let parent = notes.note("parent")
            if mistake { parent["bad"] = [[1]] } else { parent["2nd"] = 1 }
            let child = notes.note("child")
            child.setParent(parent)
            let alone = try await notes.database.modifyRecords(
                saving: [child, parent], deleting: [], atomically: false)
            #expect(alone.saveResults[parent.recordID]?.code == .invalidArguments)
            #expect(alone.saveResults[child.recordID]?.code == .referenceViolation)
            let error = await #expect(throws: CKError.self) {
                try await notes.database.modifyRecords(saving: [child, parent], deleting: [])
            }
            #expect((error?.partialErrorsByItemID?[child.recordID] as? CKError)?.code == .batchRequestFailed)
            #expect((error?.partialErrorsByItemID?[parent.recordID] as? CKError)?.code == .invalidArguments)
        }
    }

    @Test("At most 750 records are owned by one (B98)", .timeLimit(.minutes(1)))
    func owned() async throws {
        let notes = try await NotesStore()
        try await notes.database.save(notes.note("owner"))
        func owned(_ numbers: Range<Int>) -> [CKRecord] {
            numbers.map { number in
                let record = CKRecord(recordType: "Note", recordID: notes.id("\(number)"))
                record["owner"] = link(notes.id("owner"), .deleteSelf)
                return record
            }
        }
        for numbers in [0..<400, 400..<749] {
            let results = try await notes.database.modifyRecords(saving: owned(numbers), deleting: [])
            #expect(results.saveResults.values.allSatisfy { $0.code == nil })
        }
        let last = try await notes.database.modifyRecords(saving: owned(749..<751), deleting: [], atomically: false)
        #expect(last.saveResults[notes.id("749")]?.code == nil)
        #expect(last.saveResults[notes.id("750")]?.code == .limitExceeded)
        // A plain reference is none of them.
        let plain = notes.note("plain")
        plain["owner"] = link(notes.id("owner"))
        #expect(await code { try await notes.database.save(plain) } == nil)
    }

    @Test("What is not there can be deleted, but not where there is no zone (B91, B92)")
    func missing() async throws {
        var options = CloudStore.Options.service
        options.recordRefusals = false
        let notes = try await NotesStore(options)
        let offset = notes.store.offset
        #expect(await code { try await notes.database.deleteRecord(withID: notes.id("never")) } == nil)
        #expect(notes.store.offset == offset)
        let nowhere = CKRecord.ID(recordName: "a", zoneID: .init(zoneName: "Nowhere"))
        #expect(await code { try await notes.database.deleteRecord(withID: nowhere) } == .zoneNotFound)
    }
}
