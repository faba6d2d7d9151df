import CloudKit
import StrataSystem
import Testing

@Suite("Values that several threads use")
struct ConcurrentRecordTests {
    @Test("Many threads may use one record")
    func threads() async {
        let record = CKRecord(recordType: "Note")
        await withTaskGroup(of: Void.self) { group in
            for index in 0..<8 {
                group.addTask {
                    for round in 0..<200 {
                        record["key\(index)"] = round
                        _ = record.allKeys()
                        _ = record["key\((index + 1) % 8)"] as? Int
                    }
                }
            }
        }
        #expect(record.allKeys().count == 8)
        #expect((0..<8).allSatisfy { record["key\($0)"] as? Int == 199 })
    }

    @Test("A record may be saved, archived, printed and edited at the same time; each save is of one moment")
    func everything() async throws {
        let notes = try await NotesStore()
        let record = try await notes.database.save(notes.note("a"))
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask {
                for round in 0..<300 {
                    // What is set in one go is seen in one go: a list.
                    record["pair"] = [round, round]
                    record["text"] = "\(round)"
                }
            }
            group.addTask {
                for _ in 0..<30 {
                    let results = try await notes.database.modifyRecords(
                        saving: [record], deleting: [], savePolicy: .changedKeys)
                    let pair = try results.saveResults[record.recordID]?.get()["pair"] as? [Int] ?? []
                    #expect(pair.isEmpty || pair.count == 2 && pair[0] == pair[1])
                }
            }
            group.addTask {
                for _ in 0..<50 {
                    let data = try NSKeyedArchiver.archivedData(withRootObject: record, requiringSecureCoding: true)
                    let copy = try NSKeyedUnarchiver.unarchivedObject(ofClass: CKRecord.self, from: data)
                    #expect(copy?.recordID == record.recordID && !"\(record)".isEmpty)
                    #expect(record.map { $0.0 }.count <= 2)
                }
            }
            try await group.waitForAll()
        }
        #expect(record["text"] as? String == "299")
    }

    @Test("B319 a record whose fields a thread keeps setting can be saved again and again without a fetch")
    func savedAgain() async throws {
        let notes = try await NotesStore()
        let record = notes.note("a", "0")
        let isDone = Lock(false)
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask {
                var round = 0
                while !isDone.withLock({ $0 }) {
                    round += 1
                    record["text"] = "\(round)"
                    record["sometimes"] = round % 3 == 0 ? nil : round
                    record.encryptedValues["pin"] = "\(round)"
                    record.setParent(round % 2 == 0 ? nil : notes.id("root"))
                    await Task.yield()
                }
            }
            group.addTask {
                defer { isDone.withLock { $0 = true } }
                try await notes.database.save(notes.note("root"))
                for round in 0..<60 {
                    if round % 2 == 0 {
                        // No other device saves the record, so its tag is always the newest.
                        let saved = try await notes.database.save(record)
                        #expect(record.recordChangeTag == saved.recordChangeTag)
                    } else {
                        let operation = CKModifyRecordsOperation(recordsToSave: [record])
                        operation.perRecordSaveBlock = { _, result in
                            #expect((try? result.get().recordChangeTag) == record.recordChangeTag)
                        }
                        await operation.finish { notes.database.add($0) }
                    }
                }
            }
            try await group.waitForAll()
        }
        try await notes.database.save(record)
        let stored = try await notes.database.record(for: record.recordID)
        #expect(record.changedKeys() == [] && stored.recordChangeTag == record.recordChangeTag)
        #expect(stored["text"] as? String == record["text"] as? String && stored.allKeys() == record.allKeys())
        #expect(stored["sometimes"] as? Int == record["sometimes"] as? Int && stored.parent == record.parent)
    }

    @Test("Fetched records that threads share decode the same values")
    func shared() async throws {
        let notes = try await NotesStore()
        let note = notes.note("a")
        for key in 0..<20 { note["key\(key)"] = key }
        try await notes.database.save(note)
        let fetched = try await notes.database.record(for: note.recordID)
        let sums = await withTaskGroup(of: Int.self) { group in
            for _ in 0..<8 {
                group.addTask {
                    (0..<200).reduce(0) { sum, round in sum + (fetched["key\(round % 20)"] as? Int ?? -1_000) }
                }
            }
            return await group.reduce(into: []) { $0.append($1) }
        }
        #expect(sums == Array(repeating: 1_900, count: 8))
    }

    @Test("Containers and databases that threads ask for at once are the same objects (B223)")
    func containers() async throws {
        let store = try CloudStore.inMemory()
        for round in 0..<50 {
            let found = await withTaskGroup(of: CKDatabase.self) { group in
                for _ in 0..<8 {
                    group.addTask { store.container(user: "user-\(round)").privateCloudDatabase }
                }
                return await group.reduce(into: [CKDatabase]()) { $0.append($1) }
            }
            #expect(found.allSatisfy { $0 === found[0] })
        }
    }
}
