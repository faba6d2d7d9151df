import CloudKit
import Testing

@Suite("Records that were saved and fetched", .timeLimit(.minutes(1)))
struct StoredRecordTests {
    @Test("B13, B16, B59: what a save and a fetch hand out has a tag, dates and users, and no changes")
    func saved() async throws {
        let notes = try await NotesStore()
        let mine = notes.note("a")
        let saved = try await notes.database.save(mine)
        let fetched = try await notes.database.record(for: notes.id("a"))
        for record in [saved, fetched] {
            #expect(record !== mine)
            #expect(record.changedKeys().isEmpty && record.allKeys() == ["text"])
            #expect(record.recordChangeTag?.isEmpty == false)
            #expect(record.creationDate != nil && record.creationDate == record.modificationDate)
            #expect(record.creatorUserRecordID?.recordName == CKCurrentUserDefaultName)
            #expect(record.lastModifiedUserRecordID == record.creatorUserRecordID)
            #expect(record[CKRecord.SystemFieldKey.creationDate] as? Date == record.creationDate)
            #expect("\(record)".contains("tag \(record.recordChangeTag ?? "?")"))
        }
        fetched["text"] = "text"
        #expect(fetched.changedKeys() == ["text"])
        #expect(saved["text"] as? String == "text")
    }

    @Test("Every kind of value comes back from the store as it was set (B251)")
    func values() async throws {
        let notes = try await NotesStore()
        let note = notes.note("a", "Grüße")
        let place = CLLocation(
            coordinate: .init(latitude: 1.25, longitude: -3), altitude: 4, horizontalAccuracy: 5, verticalAccuracy: 6,
            course: 7, speed: 8, timestamp: Date(timeIntervalSinceReferenceDate: 9.1))
        let link = CKRecord.Reference(recordID: notes.id("b"), action: .deleteSelf)
        note["n"] = Int64.max
        note["d"] = 0.1
        note["flag"] = true
        note["at"] = Date(timeIntervalSinceReferenceDate: 0.1)
        note["data"] = Data([0, 255])
        note["place"] = place
        note["link"] = link
        note["links"] = [link]
        note["texts"] = ["a", "b"]
        note["numbers"] = [1.5, 2]
        note["dates"] = [Date(timeIntervalSinceReferenceDate: 0.1)]
        note["empty"] = [Int]()
        try await notes.database.save(note)
        let back = try await notes.database.record(for: note.recordID)
        #expect(back.allKeys() == note.allKeys())
        #expect(back["text"] as? String == "Grüße" && back["n"] as? Int64 == .max && back["d"] as? Double == 0.1)
        #expect(back["flag"] as? Bool == true && back["flag"] as? Int == 1)
        #expect((back["at"] as? Date)?.timeIntervalSinceReferenceDate == 0.1)
        #expect(back["data"] as? Data == Data([0, 255]) && back["place"] as? CLLocation == place)
        #expect(back["link"] as? CKRecord.Reference == link && back["links"] as? [CKRecord.Reference] == [link])
        #expect(back["texts"] as? [String] == ["a", "b"] && back["numbers"] as? [Double] == [1.5, 2])
        #expect(back["dates"] as? [Date] == [Date(timeIntervalSinceReferenceDate: 0.1)])
        #expect(back["empty"] as? [String] == [])
        #expect(back.map { $0.0 } == note.allKeys())
    }

    @Test("B14, B56: clearing a saved key is a change, and removes it")
    func clearing() async throws {
        let notes = try await NotesStore()
        try await notes.database.save(notes.note("a"))
        let note = try await notes.database.record(for: notes.id("a"))
        note["never"] = nil
        #expect(note.changedKeys().isEmpty)
        note["text"] = nil
        #expect(note.changedKeys() == ["text"] && note.allKeys().isEmpty && note["text"] as? String == nil)
        let saved = try await notes.database.save(note)
        #expect(saved.allKeys().isEmpty)
    }

    @Test("B17: a record of system fields alone saves with its tag, and leaves other fields alone")
    func systemFields() async throws {
        let notes = try await NotesStore()
        let saved = try await notes.database.save(notes.note("a"))
        let archiver = NSKeyedArchiver(requiringSecureCoding: true)
        saved.encodeSystemFields(with: archiver)
        let unarchiver = try NSKeyedUnarchiver(forReadingFrom: archiver.encodedData)
        let kept = try #require(CKRecord(coder: unarchiver))
        let stale = try #require(kept.copy() as? CKRecord)
        #expect(kept.allKeys().isEmpty && kept.changedKeys().isEmpty)
        #expect(kept.recordChangeTag == saved.recordChangeTag && kept.creationDate == saved.creationDate)
        #expect(kept.creatorUserRecordID == saved.creatorUserRecordID)
        kept["more"] = 1
        let again = try await notes.database.save(kept)
        #expect(again.allKeys() == ["more", "text"])
        stale["more"] = 2
        #expect(await code { try await notes.database.save(stale) } == .serverRecordChanged)
        kept["more"] = 3
        #expect(try await notes.database.save(kept).allKeys() == ["more", "text"])
    }

    @Test("B17: system fields that are decoded and encoded again have the same bytes")
    func sameBytes() async throws {
        let notes = try await NotesStore()
        func encoded(_ record: CKRecord) -> Data {
            let archiver = NSKeyedArchiver(requiringSecureCoding: true)
            record.encodeSystemFields(with: archiver)
            return archiver.encodedData
        }
        let root = try await notes.database.save(notes.note("root"))
        for number in 0..<300 {
            let note = notes.note("note \(number)")
            if number % 2 == 0 { note.setParent(root) }
            let bytes = encoded(try await notes.database.save(note))
            let kept = try #require(CKRecord(coder: try NSKeyedUnarchiver(forReadingFrom: bytes)))
            #expect(encoded(kept) == bytes, "record \(number)")
        }
    }

    @Test("B18: a fetched record's archive keeps its fields and tag, and nothing is changed")
    func archived() async throws {
        let notes = try await NotesStore()
        let note = notes.note("a")
        note.setParent(try await notes.database.save(notes.note("parent")))
        let saved = try await notes.database.save(note)
        let data = try NSKeyedArchiver.archivedData(withRootObject: saved, requiringSecureCoding: true)
        let kept = try #require(try NSKeyedUnarchiver.unarchivedObject(ofClass: CKRecord.self, from: data))
        #expect(kept["text"] as? String == "text" && kept.changedKeys().isEmpty)
        #expect(kept.recordChangeTag == saved.recordChangeTag && kept.parent == saved.parent && kept.parent != nil)
        kept["text"] = "other"
        kept.setParent(nil as CKRecord?)
        let again = try await notes.database.save(kept)
        #expect(again["text"] as? String == "other" && again.parent == nil)
    }

    @Test("A foreign change tag is not the stored one")
    func foreignTag() async throws {
        let notes = try await NotesStore()
        let record = try await notes.staleNote("a")
        #expect(await code { try await notes.database.save(record) } == .serverRecordChanged)
    }

    @Test("B250: the modification date rises with every save")
    func dates() async throws {
        let notes = try await NotesStore()
        var record = try await notes.database.save(notes.note("a"))
        for round in 0..<20 {
            let before = try #require(record.modificationDate)
            record["n"] = round
            record = try await notes.database.save(record)
            #expect(try #require(record.modificationDate) > before)
        }
    }

    @Test(
        "B270: a save says which key of which record cannot be, and why",
        arguments: ["nested", "large", "several", "_mine", "no-dash", "file", "parent"])
    func mistakes(key: String) async throws {
        let notes = try await NotesStore()
        let record = notes.note("wrong")
        switch key {
        case "nested": record[key] = [[1], [2]]
        case "large": record[key] = UInt64.max
        case "several": record[key] = NSArray(array: ["a", 1])
        case "file": record[key] = CKAsset(fileURL: URL(fileURLWithPath: "/nowhere"))
        case "parent": record.parent = CKRecord.Reference(recordID: notes.id("b"), action: .deleteSelf)
        default: record[key] = 1
        }
        do {
            try await notes.database.save(record)
            Issue.record("it was saved")
        } catch let error as CKError {
            #expect(error.code == (key == "file" ? .assetFileNotFound : .invalidArguments))
            #expect(error.detail.contains(key))
        }
        #expect(await code { try await notes.database.record(for: record.recordID) } == .unknownItem)
    }
}
