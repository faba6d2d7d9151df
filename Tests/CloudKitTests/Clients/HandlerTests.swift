import CloudKit
import TestSupport
import Testing

@testable import CloudKit

/// What a handler of a result was called with, once, and not on the main thread.
private func result<Value: Sendable>(
    of start: (@escaping @Sendable (Result<Value, Error>) -> Void) -> Void
) async -> Result<Value, Error> {
    await withCheckedContinuation { continuation in
        start { result in
            #expect(!Thread.isMainThread)
            continuation.resume(returning: result)
        }
    }
}

/// As `result`, for a handler of a value and an error.
private func answer<Value: Sendable>(
    of start: (@escaping @Sendable (Value?, Error?) -> Void) -> Void
) async -> (value: Value?, code: CKError.Code?) {
    await withCheckedContinuation { continuation in
        start { value, error in
            #expect(!Thread.isMainThread)
            continuation.resume(returning: (value, (error as? CKError)?.code))
        }
    }
}

/// A client's protocol, whose handlers are not declared `@Sendable`.
private protocol PlainDatabase {
    func save(_ record: CKRecord, completionHandler: @escaping (CKRecord?, Error?) -> Void)
    func modifyRecords(
        saving recordsToSave: [CKRecord], deleting recordIDsToDelete: [CKRecord.ID],
        savePolicy: CKModifyRecordsOperation.RecordSavePolicy, atomically: Bool,
        completionHandler:
            @escaping (
                Result<
                    (
                        saveResults: [CKRecord.ID: Result<CKRecord, Error>],
                        deleteResults: [CKRecord.ID: Result<Void, Error>]
                    ), Error
                >
            ) -> Void
    )
}

extension CKDatabase: PlainDatabase {}

@Suite("Methods with completion handlers: what the handlers get (B200)", .timeLimit(.minutes(2)))
struct HandlerTests {
    private let notes: NotesStore
    private let missing = CKRecordZone.ID(zoneName: "Missing")
    private var database: CKDatabase { notes.database }

    init() async throws { notes = try await NotesStore() }

    private func signOut() throws { try notes.store.console.setAccountStatus(.noAccount, of: "anna") }

    /// A query for all notes, by their texts, of which there are three.
    private func savedNotes() async throws -> CKQuery {
        for name in ["a", "b", "c"] { try await database.save(notes.note(name, name)) }
        let query = CKQuery(recordType: "Note", predicate: NSPredicate(value: true))
        query.sortDescriptors = [NSSortDescriptor(key: "text", ascending: true)]
        return query
    }

    // MARK: Protocols of clients

    @Test("A client's protocol without @Sendable gets what the methods get")
    func plain() async throws {
        let plain: any PlainDatabase = database
        let saved = await answer { plain.save(notes.note("a"), completionHandler: $0) }
        #expect(saved.value?.recordChangeTag != nil && saved.code == nil)
        #expect(await answer { plain.save(notes.note("a"), completionHandler: $0) }.code == .serverRecordChanged)
        let outcome = await result {
            plain.modifyRecords(
                saving: [notes.note("b")], deleting: [notes.id("a")], savePolicy: .allKeys, atomically: true,
                completionHandler: $0)
        }
        #expect(try outcome.get().saveResults.count == 1 && outcome.get().deleteResults.count == 1)
    }

    // MARK: Queries

    @Test("fetch(withQuery:), fetch(withCursor:)")
    func queries() async throws {
        let query = try await savedNotes()
        let first = try await result {
            database.fetch(
                withQuery: query, inZoneWith: notes.zone, desiredKeys: [], resultsLimit: 2, completionHandler: $0)
        }.get()
        #expect(first.matchResults.map(\.0.recordName) == ["a", "b"])
        #expect(try first.matchResults[0].1.get().allKeys().isEmpty)
        let cursor = try #require(first.queryCursor)
        let next = try await result { database.fetch(withCursor: cursor, completionHandler: $0) }.get()
        #expect(next.matchResults.map(\.0.recordName) == ["c"] && next.queryCursor == nil)
        #expect(try next.matchResults[0].1.get()["text"] == "c")
        let failed = await result { database.fetch(withQuery: query, inZoneWith: missing, completionHandler: $0) }
        #expect(failed.code == .zoneNotFound)
        try signOut()
        let refused = await result { database.fetch(withCursor: cursor, completionHandler: $0) }
        #expect(refused.code == .notAuthenticated)
    }

    @Test("perform")
    @available(*, deprecated)
    func perform() async throws {
        let query = try await savedNotes()
        let found = await answer { database.perform(query, inZoneWith: notes.zone, completionHandler: $0) }
        #expect(found.value?.map(\.recordID.recordName) == ["a", "b", "c"] && found.code == nil)
        let failed = await answer { database.perform(query, inZoneWith: missing, completionHandler: $0) }
        #expect(failed.value == nil && failed.code == .zoneNotFound)
    }

    @Test("recordFetchedBlock gets each record before the operation ends, and nothing of one that fails")
    @available(*, deprecated)
    func recordFetchedBlock() async throws {
        let query = try await savedNotes()
        func entries(in zone: CKRecordZone.ID) async -> [String] {
            let journal = Journal()
            let operation = CKQueryOperation(query: query)
            operation.zoneID = zone
            operation.recordFetchedBlock = { journal.add($0.recordID.recordName) }
            operation.queryCompletionBlock = { cursor, error in
                journal.add("end", error)
                #expect(cursor == nil)
            }
            await operation.finish { database.add($0) }
            return journal.entries
        }
        #expect(await entries(in: notes.zone) == ["a", "b", "c", "end success"])
        #expect(await entries(in: missing) == ["end zoneNotFound"])
    }

    // MARK: Records

    @Test("modifyRecords")
    func modifyRecords() async throws {
        try await database.save(notes.note("old"))
        let (a, old) = (notes.id("a"), notes.id("old"))
        let done = try await result {
            database.modifyRecords(saving: [notes.note("a")], deleting: [old], completionHandler: $0)
        }.get()
        #expect(try done.saveResults[a]?.get().recordChangeTag != nil)
        #expect(try done.deleteResults[old]?.get() != nil)
        let stale = try await notes.staleNote("b")
        let mixed = try await result {
            database.modifyRecords(
                saving: [stale, notes.note("c")], deleting: [], atomically: false, completionHandler: $0)
        }.get()
        #expect(mixed.saveResults[stale.recordID]?.code == .serverRecordChanged)
        #expect(try mixed.saveResults[notes.id("c")]?.get() != nil)
        let failed = await result {
            database.modifyRecords(saving: [stale, notes.note("d")], deleting: [], completionHandler: $0)
        }
        #expect(failed.code == .partialFailure)
        #expect(await code { try await database.record(for: notes.id("d")) } == .unknownItem)
    }

    // MARK: Zones

    @Test("save of a zone, fetch(withRecordZoneID:)")
    func zone() async throws {
        let saved = await answer { database.save(CKRecordZone(zoneName: "New"), completionHandler: $0) }
        #expect(saved.value?.zoneID.zoneName == "New" && saved.code == nil)
        let zone = try #require(saved.value).zoneID
        let fetched = await answer { database.fetch(withRecordZoneID: zone, completionHandler: $0) }
        #expect(fetched.value?.zoneID == zone && fetched.code == nil)
        let absent = await answer { database.fetch(withRecordZoneID: missing, completionHandler: $0) }
        #expect(absent.value == nil && absent.code == .zoneNotFound)
        let shared = notes.phone.sharedCloudDatabase
        let refused = await answer { shared.save(CKRecordZone(zoneName: "New"), completionHandler: $0) }
        #expect(refused.value == nil && refused.code == .badDatabase)
    }

    @Test("fetch(withRecordZoneIDs:), modifyRecordZones")
    func zones() async throws {
        let new = CKRecordZone(zoneName: "New")
        let done = try await result {
            database.modifyRecordZones(saving: [new], deleting: [notes.zone], completionHandler: $0)
        }.get()
        #expect(try done.saveResults[new.zoneID]?.get().zoneID == new.zoneID)
        #expect(try done.deleteResults[notes.zone]?.get() != nil)
        let ids = [new.zoneID, notes.zone]
        let fetched = try await result { database.fetch(withRecordZoneIDs: ids, completionHandler: $0) }.get()
        #expect(try fetched[new.zoneID]?.get().zoneID == new.zoneID)
        #expect(fetched[notes.zone]?.code == .zoneNotFound)
        try signOut()
        let refused = await result { database.fetch(withRecordZoneIDs: ids, completionHandler: $0) }
        #expect(refused.code == .notAuthenticated)
        let failed = await result {
            database.modifyRecordZones(saving: [new], deleting: [], completionHandler: $0)
        }
        #expect(failed.code == .notAuthenticated)
    }

    @Test("fetchRecordZoneChanges")
    func zoneChanges() async throws {
        try await database.save(notes.note("a"))
        try await database.save(notes.note("b"))
        let first = try await result {
            database.fetchRecordZoneChanges(
                inZoneWith: notes.zone, since: nil, resultsLimit: 1, completionHandler: $0)
        }.get()
        #expect(first.modificationResultsByID.count == 1 && first.moreComing)
        let rest = try await result {
            database.fetchRecordZoneChanges(
                inZoneWith: notes.zone, since: first.changeToken, desiredKeys: [], completionHandler: $0)
        }.get()
        #expect(rest.modificationResultsByID.count == 1 && !rest.moreComing)
        #expect(try rest.modificationResultsByID.values.first?.get().record.allKeys().isEmpty == true)
        try await database.deleteRecord(withID: notes.id("a"))
        let deleted = try await result {
            database.fetchRecordZoneChanges(
                inZoneWith: notes.zone, since: rest.changeToken, completionHandler: $0)
        }.get()
        #expect(deleted.deletions.map(\.recordID) == [notes.id("a")])
        let failed = await result {
            database.fetchRecordZoneChanges(inZoneWith: missing, since: nil, completionHandler: $0)
        }
        #expect(failed.code == .zoneNotFound)
    }

    // MARK: The container

    @Test("fetchUserRecordID")
    func user() async throws {
        let user = await answer { notes.phone.fetchUserRecordID(completionHandler: $0) }
        #expect(try await user.value == notes.phone.userRecordID() && user.code == nil)
        try signOut()
        let nobody = await answer { notes.phone.fetchUserRecordID(completionHandler: $0) }
        #expect(nobody.value == nil && nobody.code == .notAuthenticated)
    }

    @Test("fetchAllLongLivedOperationIDs, fetchLongLivedOperation")
    func longLived() async throws {
        let directory = try TestDirectory()
        let store = try CloudStore(at: URL(fileURLWithPath: directory.path("Notes.strata")))
        let phone = store.container(user: "anna")
        let journal = Journal()
        let operation = CKModifyRecordsOperation(recordsToSave: [CKRecord(recordType: "Note")])
        operation.configuration.isLongLived = true
        let id = operation.operationID
        // It is kept until its last block has returned, so that this one waits for the answers.
        operation.modifyRecordsResultBlock = { _ in
            let answers = DispatchSemaphore(value: 0)
            phone.fetchAllLongLivedOperationIDs { ids, error in
                journal.add("listed \(ids == [id])", error)
                answers.signal()
            }
            answers.wait()
            phone.fetchLongLivedOperation(withID: id) { operation, error in
                journal.add("fetched \(operation?.operationID == id)", error)
                answers.signal()
            }
            answers.wait()
        }
        await operation.finish { phone.privateCloudDatabase.add($0) }
        #expect(journal.entries == ["listed true success", "fetched true success"])
        let ended = await answer { phone.fetchLongLivedOperation(withID: id, completionHandler: $0) }
        #expect(ended.value == nil && ended.code == nil)
        let broken = NamedContainers(["STRATA_HOME": directory.path]).container("a/b")
        let ids = await answer { broken.fetchAllLongLivedOperationIDs(completionHandler: $0) }
        #expect(ids.value == nil && ids.code == .badContainer)
        let none = await answer { broken.fetchLongLivedOperation(withID: id, completionHandler: $0) }
        #expect(none.value == nil && none.code == .badContainer)
        try store.close()
    }
}
