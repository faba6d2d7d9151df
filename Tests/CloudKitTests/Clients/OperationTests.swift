import CloudKit
import StrataSystem
import TestSupport
import Testing

@testable import CloudKit

@Suite("Operations", .timeLimit(.minutes(2)))
struct OperationTests {
    private func operation(saving records: [CKRecord], deleting ids: [CKRecord.ID] = [], _ journal: Journal)
        -> CKModifyRecordsOperation
    {
        let operation = CKModifyRecordsOperation(recordsToSave: records, recordIDsToDelete: ids)
        operation.perRecordProgressBlock = { journal.add("progress \($0.recordID.recordName) \($1)") }
        operation.perRecordSaveBlock = { journal.add("save \($0.recordName)", $1) }
        operation.perRecordDeleteBlock = { journal.add("delete \($0.recordName)", $1) }
        operation.modifyRecordsResultBlock = { journal.add("result", $0) }
        operation.completionBlock = { journal.add("completion") }
        return operation
    }

    // MARK: Order and results

    @Test("Blocks come in order, each once, the result last, then completionBlock (B114, B200, B202, B267)")
    func order() async throws {
        let notes = try await NotesStore()
        let journal = Journal()
        let operation = operation(saving: [notes.note("a"), notes.note("b")], deleting: [notes.id("c")], journal)
        await operation.finish { notes.database.add($0) }
        #expect(
            journal.entries == [
                "progress a 1.0", "save a success", "progress b 1.0", "save b success", "delete c success",
                "result success", "completion",
            ])
        #expect(operation.isFinished && !operation.isExecuting)
    }

    @Test("Errors of items leave the result a success (B85); progress of what failed stays at 0 (B267)")
    func itemErrors() async throws {
        let notes = try await NotesStore()
        let stale = try await notes.staleNote("a")
        let journal = Journal()
        let operation = operation(saving: [stale, notes.note("b")], deleting: [notes.id("c")], journal)
        await operation.finish { notes.database.add($0) }
        #expect(
            journal.entries == [
                "progress a 0.0", "save a serverRecordChanged", "progress b 0.0", "save b batchRequestFailed",
                "delete c batchRequestFailed", "result success", "completion",
            ])
    }

    @Test("What fails as a whole comes to the result block only (B88)")
    func wholeErrors() async throws {
        let notes = try await NotesStore()
        let journal = Journal()
        let operation = operation(saving: [notes.note("a"), notes.note("a")], journal)
        await operation.finish { notes.database.add($0) }
        #expect(journal.entries == ["result invalidArguments", "completion"])
        let guest = Journal()
        let signedOut = self.operation(saving: [notes.note("a")], guest)
        await signedOut.finish { notes.store.container(user: nil).privateCloudDatabase.add($0) }
        #expect(guest.entries == ["result notAuthenticated", "completion"])
    }

    @Test("Blocks run one after another, on no main thread, even from the main queue")
    func queue() async throws {
        let notes = try await NotesStore()
        let journal = Journal()
        let operation = CKFetchRecordsOperation(recordIDs: [notes.id("a"), notes.id("b")])
        operation.database = notes.database
        operation.perRecordResultBlock = { _, _ in journal.add(Thread.isMainThread ? "main" : "other") }
        operation.fetchRecordsResultBlock = { _ in journal.add(Thread.isMainThread ? "main" : "other") }
        await operation.finish { operation in Task { @MainActor in operation.start() } }
        #expect(journal.entries == ["other", "other", "other"])
    }

    // MARK: Both generations of blocks

    @Test("The deprecated blocks get partialFailure with every item's error (B86)")
    @available(*, deprecated)
    func deprecatedBlocks() async throws {
        let notes = try await NotesStore()
        let stale = try await notes.staleNote("a")
        let journal = Journal()
        let operation = CKModifyRecordsOperation(
            recordsToSave: [stale, notes.note("b")], recordIDsToDelete: [notes.id("c")])
        operation.isAtomic = false
        operation.perRecordCompletionBlock = { journal.add($0.recordID.recordName, $1) }
        operation.modifyRecordsCompletionBlock = { saved, deleted, error in
            journal.add("completion", error)
            journal.add("saved \(saved?.map(\.recordID.recordName) ?? [])")
            journal.add("deleted \(deleted?.map(\.recordName) ?? [])")
            let errors = (error as? CKError)?.partialErrorsByItemID ?? [:]
            journal.add("a in it", errors[stale.recordID])
        }
        await operation.finish { notes.database.add($0) }
        #expect(
            journal.entries == [
                "a serverRecordChanged", "b success", "completion partialFailure", "saved [\"b\"]",
                "deleted [\"c\"]", "a in it serverRecordChanged",
            ])

        let fetched = Journal()
        let fetch = CKFetchRecordsOperation(recordIDs: [notes.id("b"), notes.id("c")])
        fetch.perRecordCompletionBlock = { record, id, error in fetched.add(id?.recordName ?? "", error) }
        fetch.fetchRecordsCompletionBlock = { records, error in
            fetched.add("completion \(records?.count ?? -1)", error)
        }
        await fetch.finish { notes.database.add($0) }
        #expect(fetched.entries == ["b success", "c unknownItem", "completion 1 partialFailure"])

        let zones = Journal()
        let zoneFetch = CKFetchRecordZonesOperation(recordZoneIDs: [notes.zone, .init(zoneName: "Nowhere")])
        zoneFetch.fetchRecordZonesCompletionBlock = { zones.add("completion \($0?.count ?? -1)", $1) }
        await zoneFetch.finish { notes.database.add($0) }
        #expect(zones.entries == ["completion 1 partialFailure"])
    }

    @Test("A deprecated block is not called where its replacement is set (B209)")
    @available(*, deprecated)
    func replacedBlocks() async throws {
        let notes = try await NotesStore()
        let journal = Journal()
        let operation = operation(saving: [notes.note("a")], journal)
        operation.perRecordProgressBlock = nil
        operation.perRecordCompletionBlock = { _, _ in journal.add("deprecated") }
        operation.modifyRecordsCompletionBlock = { _, _, _ in journal.add("deprecated") }
        await operation.finish { notes.database.add($0) }
        #expect(journal.entries == ["save a success", "result success", "completion"])
        let fetch = CKFetchRecordsOperation(recordIDs: [notes.id("a")])
        fetch.perRecordResultBlock = { journal.add("fetch \($0.recordName)", $1) }
        fetch.perRecordCompletionBlock = { _, _, _ in journal.add("deprecated") }
        fetch.fetchRecordsCompletionBlock = { journal.add("fetched \($0?.count ?? 0)", $1) }
        await fetch.finish { notes.database.add($0) }
        #expect(journal.entries.suffix(2) == ["fetch a success", "fetched 1 success"])
    }

    // MARK: Cancellation

    private let cancelled = [
        "progress a 0.0", "save a operationCancelled", "delete c operationCancelled", "result operationCancelled",
        "completion",
    ]

    @Test("Cancelled before it is added, it tells every block once and does nothing (B203)")
    func cancelledBefore() async throws {
        let notes = try await NotesStore()
        let journal = Journal()
        let operation = operation(saving: [notes.note("a")], deleting: [notes.id("c")], journal)
        operation.cancel()
        await operation.finish { notes.database.add($0) }
        #expect(journal.entries == cancelled)
        #expect(await code { try await notes.database.record(for: notes.id("a")) } == .unknownItem)
    }

    @Test("Cancelled while it waits for another, it ends without waiting (B203)")
    func cancelledWaiting() async throws {
        let notes = try await NotesStore()
        let journal = Journal()
        let never = BlockOperation {}
        let operation = operation(saving: [notes.note("a")], deleting: [notes.id("c")], journal)
        operation.addDependency(never)
        await operation.finish {
            notes.database.add($0)
            $0.cancel()
        }
        #expect(journal.entries == cancelled)
    }

    @Test("Cancelled in a block, what was committed keeps its success, the whole is cancelled (B203)")
    func cancelledWithin() async throws {
        let notes = try await NotesStore()
        let journal = Journal()
        let operation = operation(saving: [notes.note("a"), notes.note("b")], journal)
        operation.perRecordProgressBlock = { [unowned operation] _, _ in operation.cancel() }
        await operation.finish { notes.database.add($0) }
        #expect(
            journal.entries == ["save a success", "save b success", "result operationCancelled", "completion"])
        #expect(try await notes.database.record(for: notes.id("b")).recordChangeTag != nil)

        let fetch = CKFetchRecordsOperation(recordIDs: [notes.id("a"), notes.id("b")])
        let fetched = Journal()
        fetch.perRecordResultBlock = { [unowned fetch] id, result in
            fetched.add(id.recordName, result)
            fetch.cancel()
        }
        fetch.fetchRecordsResultBlock = { fetched.add("result", $0) }
        await fetch.finish { notes.database.add($0) }
        #expect(fetched.entries == ["a success", "b operationCancelled", "result operationCancelled"])
    }

    @Test("Cancelled at any moment, a save is done wholly or not at all, and told so (B203)")
    func cancelledAnytime() async throws {
        let notes = try await NotesStore()
        for round in 0..<100 {
            let names = ["\(round)-a", "\(round)-b"]
            let journal = Journal()
            let operation = CKModifyRecordsOperation(recordsToSave: names.map { notes.note($0) })
            operation.perRecordSaveBlock = { journal.add("save", $1) }
            operation.modifyRecordsResultBlock = { journal.add("result", $0) }
            await operation.finish { operation in
                notes.database.add(operation)
                for _ in 0..<round { sched_yield() }
                operation.cancel()
            }
            let saved = journal.entries.filter { $0 == "save success" }.count
            #expect(journal.entries.count == 3 && (saved == 0 || saved == 2))
            let stored = try await notes.database.records(for: names.map { notes.id($0) })
            #expect(stored.values.filter { $0.code == nil }.count == saved)
        }
        // The canary: were all cancelled before they began, nothing was tested.
        let journal = Journal()
        await operation(saving: [notes.note("last")], journal).finish { notes.database.add($0) }
        #expect(journal.entries.contains("save last success"))
    }

    // MARK: Queues

    @Test("On a queue of the caller's, with dependencies, each sees what the one before did (B261, B269)")
    func ownQueue() async throws {
        let notes = try await NotesStore()
        let queue = OperationQueue()
        let journal = Journal()
        var previous: Operation?
        var operations: [CKModifyRecordsOperation] = []
        for number in 0..<20 {
            let note = notes.note("counter")
            note["number"] = number
            let operation = CKModifyRecordsOperation(recordsToSave: [note])
            operation.savePolicy = .changedKeys
            operation.database = notes.database
            operation.modifyRecordsResultBlock = { journal.add("\(number)", $0) }
            if let previous { operation.addDependency(previous) }
            previous = operation
            operations.append(operation)
        }
        let last = try #require(operations.last)
        await last.finish { _ in for operation in operations.reversed() { queue.addOperation(operation) } }
        #expect(journal.entries == (0..<20).map { "\($0) success" })
        #expect(try await notes.database.record(for: notes.id("counter"))["number"] as? Int == 19)
    }

    @Test("Properties are copied when it starts (B201), an operation runs once")
    func copied() async throws {
        let notes = try await NotesStore()
        let journal = Journal()
        let operation = operation(saving: [notes.note("a")], journal)
        // The second time it is added while it runs: once it has ended, that would be an error.
        let isAdded = DispatchSemaphore(value: 0)
        operation.perRecordSaveBlock = { [unowned operation] id, result in
            isAdded.wait()
            journal.add("save \(id.recordName)", result)
            operation.recordsToSave = [notes.note("b")]
            operation.modifyRecordsResultBlock = { _ in journal.add("wrong") }
        }
        await operation.finish { operation in
            notes.database.add(operation)
            notes.database.add(operation)
            isAdded.signal()
        }
        #expect(
            journal.entries == ["progress a 1.0", "save a success", "result success", "completion"])
        operation.start()
        operation.modifyRecordsResultBlock = { journal.add("again", $0) }
        notes.database.add(operation)
        #expect(try await awaited { journal.entries.last == "again invalidArguments" })
        #expect(journal.entries.count == 5)
    }

    @Test("An abstract operation ends without doing anything (B201)")
    func abstract() async throws {
        let notes = try await NotesStore()
        let operation = CKDatabaseOperation()
        await operation.finish { notes.database.add($0) }
        #expect(operation.isFinished)
        let plain = CKOperation()
        await withCheckedContinuation { continuation in
            plain.completionBlock = { continuation.resume() }
            notes.phone.add(plain)
        }
        #expect(plain.isFinished)
    }

    @Test("Without a database it works in the private one of its container (B204)")
    func defaultDatabase() async throws {
        let notes = try await NotesStore()
        try await notes.database.save(notes.note("a"))
        let journal = Journal()
        let configured = CKFetchRecordsOperation(recordIDs: [notes.id("a")])
        configured.configuration.container = notes.phone
        configured.fetchRecordsResultBlock = { journal.add("configured", $0) }
        configured.perRecordResultBlock = { journal.add($0.recordName, $1) }
        await configured.finish { $0.start() }
        let added = CKFetchRecordsOperation(recordIDs: [notes.id("a")])
        added.perRecordResultBlock = { journal.add($0.recordName, $1) }
        await added.finish { notes.phone.add($0) }
        #expect(journal.entries == ["a success", "configured success", "a success"])
    }

    @Test("The current user's record is there without being saved (B116)")
    func currentUser() async throws {
        let store = try CloudStore.inMemory()
        let phone = store.container(user: "anna")
        let found = Lock<CKRecord?>(nil)
        for round in 0..<2 {
            let operation = CKFetchRecordsOperation.fetchCurrentUserRecordOperation()
            operation.perRecordResultBlock = { _, result in found.withLock { $0 = try? result.get() } }
            await operation.finish { phone.privateCloudDatabase.add($0) }
            let record = try #require(found.withLock { $0 })
            #expect(try await phone.userRecordID() == record.recordID)
            #expect(record.recordType == CKRecord.SystemType.userRecord)
            #expect(record["name"] as? String == (round == 0 ? nil : "Anna"))
            record["name"] = "Anna"
            if round == 0 { try await phone.privateCloudDatabase.save(record) }
        }
    }

    @Test("A timeout that has passed fails the operation before anything is asked")
    func timeout() async throws {
        let notes = try await NotesStore()
        let journal = Journal()
        let operation = operation(saving: [notes.note("a")], journal)
        operation.configuration.timeoutIntervalForRequest = 0
        await operation.finish { notes.database.add($0) }
        #expect(journal.entries == ["result serverResponseLost", "completion"])
        let fetch = CKFetchRecordsOperation(recordIDs: [notes.id("a")])
        fetch.configuration.timeoutIntervalForResource = 0
        fetch.fetchRecordsResultBlock = { journal.add("fetch", $0) }
        await fetch.finish { notes.database.add($0) }
        #expect(journal.entries.last == "fetch networkFailure")
    }

    @Test("Zones by operations, all and some")
    func zones() async throws {
        let notes = try await NotesStore()
        let journal = Journal()
        let modify = CKModifyRecordZonesOperation(
            recordZonesToSave: [CKRecordZone(zoneName: "New")], recordZoneIDsToDelete: [.init(zoneName: "Nowhere")])
        modify.perRecordZoneSaveBlock = { journal.add("save \($0.zoneName)", $1) }
        modify.perRecordZoneDeleteBlock = { journal.add("delete \($0.zoneName)", $1) }
        modify.modifyRecordZonesResultBlock = { journal.add("result", $0) }
        await modify.finish { notes.database.add($0) }
        #expect(journal.entries == ["save New success", "delete Nowhere zoneNotFound", "result success"])
        let all = CKFetchRecordZonesOperation.fetchAllRecordZonesOperation()
        let names = Journal()
        all.perRecordZoneResultBlock = { names.add($0.zoneName, $1) }
        all.fetchRecordZonesResultBlock = { names.add("result", $0) }
        await all.finish { notes.database.add($0) }
        #expect(names.entries == ["_defaultZone success", "Notes success", "New success", "result success"])
    }
}
