import CloudKit
import Testing

@Suite("Names of records, zones, types and keys")
struct NameRuleTests {
    private static let long = String(repeating: "n", count: 255)

    /// The code and the message of the error that a save fails with.
    private func failure(of record: CKRecord, in database: CKDatabase) async -> (code: CKError.Code, message: String)? {
        do {
            try await database.save(record)
            return nil
        } catch {
            return (error as? CKError).map { ($0.code, $0.detail) }
        }
    }

    @Test("A record without an ID gets a name of its own in the default zone (B1)")
    func madeUp() {
        let (first, second) = (CKRecord(recordType: "Note"), CKRecord(recordType: "Note"))
        #expect(UUID(uuidString: first.recordID.recordName) != nil)
        #expect(first.recordID != second.recordID)
        #expect(first.recordID.zoneID == .default)
        #expect(first.recordID.zoneID.zoneName == "_defaultZone")
        #expect(first.recordID.zoneID.ownerName == CKCurrentUserDefaultName)
    }

    @Test("The same ID in two databases names two records (B2)")
    func databases() async throws {
        let container = try CloudStore.inMemory().container(user: "anna")
        let id = CKRecord.ID(recordName: "same")
        for database in [container.privateCloudDatabase, container.publicCloudDatabase] {
            let record = CKRecord(recordType: "Note", recordID: id)
            record["scope"] = database.databaseScope.rawValue
            try await database.save(record)
        }
        for database in [container.privateCloudDatabase, container.publicCloudDatabase] {
            #expect(try await database.record(for: id)["scope"] as? Int == database.databaseScope.rawValue)
        }
    }

    @Test("Record names: 1 to 255 characters, no control characters, no _ in front (B3, B270)")
    func recordNames() async throws {
        let notes = try await NotesStore()
        for name in ["a", Self.long, "Grüße ✓", "a_b", "-"] {
            #expect(await failure(of: notes.note(name), in: notes.database) == nil)
        }
        for name in ["", Self.long + "n", "_a", "_", "a\u{1}b", "line\n"] {
            let failure = await failure(of: notes.note(name), in: notes.database)
            #expect(failure?.code == .invalidArguments)
            #expect(failure?.message.isEmpty == false)
            #expect(await code { try await notes.database.record(for: notes.id(name)) } == .unknownItem)
        }
    }

    @Test("Zone names: 1 to 255 characters, no control characters, no _ in front but the default zone's (B4)")
    func zoneNames() async throws {
        let database = try CloudStore.inMemory().container(user: "anna").privateCloudDatabase
        for name in ["a", Self.long, "Grüße"] {
            #expect(try await database.save(CKRecordZone(zoneName: name)).zoneID.zoneName == name)
        }
        for name in ["", Self.long + "n", "_a", "a\u{7F}"] {
            #expect(await code { try await database.save(CKRecordZone(zoneName: name)) } == .invalidArguments)
        }
        #expect(try await database.save(.default()).zoneID == .default)
        #expect(try await database.allRecordZones().count == 4)
    }

    @Test("Types: a letter, then letters, digits and _, 255 at most (B6, B270)")
    func types() async throws {
        let notes = try await NotesStore()
        for type in ["N", "Note_2", Self.long] {
            let record = CKRecord(recordType: type, recordID: notes.id("good"))
            #expect(await failure(of: record, in: notes.database) == nil)
            try await notes.database.deleteRecord(withID: notes.id("good"))
        }
        for type in ["", "2Notes", "_Note", "My Note", "Nöte", Self.long + "n"] {
            let record = CKRecord(recordType: type, recordID: notes.id("bad"))
            let failure = await failure(of: record, in: notes.database)
            #expect(failure?.code == .invalidArguments)
            #expect(failure?.message.isEmpty == false)
        }
    }

    @Test("Keys: a letter, then letters, digits and _, 255 at most (B7, B270)")
    func keys() async throws {
        let notes = try await NotesStore()
        for key in ["k", "key_2", Self.long] {
            let record = CKRecord(recordType: "Note", recordID: notes.id("good"))
            record[key] = 1
            #expect(await failure(of: record, in: notes.database) == nil)
            try await notes.database.deleteRecord(withID: notes.id("good"))
        }
        for key in ["", "2nd", "_key", "my key", "schlüssel", "a.b", Self.long + "k"] {
            let record = CKRecord(recordType: "Note", recordID: notes.id("bad"))
            record[key] = 1
            let failure = await failure(of: record, in: notes.database)
            #expect(failure?.code == .invalidArguments)
            #expect(failure?.message.contains("\"\(key)\"") == true || failure?.message.contains("'\(key)'") == true)
        }
    }

    @Test("Another owner's zone is not found in the private and the public database (B266)")
    func otherOwner() async throws {
        let store = try CloudStore.inMemory()
        let anna = store.container(user: "anna")
        let bert = try await store.container(user: "bert").userRecordID().recordName
        let zone = CKRecordZone.ID(zoneName: CKRecordZone.ID.defaultZoneName, ownerName: bert)
        let id = CKRecord.ID(recordName: "a", zoneID: zone)
        for database in [anna.privateCloudDatabase, anna.publicCloudDatabase] {
            #expect(await code { try await database.record(for: id) } == .zoneNotFound)
            #expect(
                await code { try await database.save(CKRecord(recordType: "Note", recordID: id)) } == .zoneNotFound)
            #expect(await code { try await database.deleteRecord(withID: id) } == .zoneNotFound)
        }
        #expect(await code { try await anna.privateCloudDatabase.recordZone(for: zone) } == .zoneNotFound)
        #expect(
            await code { try await anna.privateCloudDatabase.save(CKRecordZone(zoneID: zone)) } == .zoneNotFound)
        #expect(await code { try await anna.privateCloudDatabase.deleteRecordZone(withID: zone) } == .zoneNotFound)
    }
}
