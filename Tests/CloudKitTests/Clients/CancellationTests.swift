import CloudKit
import StrataSystem
import Testing

@Suite("Operations cancelled at every stage (B203)", .timeLimit(.minutes(2)))
struct CancellationTests {
    // MARK: Before the store is asked

    @Test("Before it is added: each block once, then completionBlock", arguments: OperationKind.allCases)
    func beforeAdding(kind: OperationKind) async throws {
        let notes = try await NotesStore()
        let offset = notes.store.offset
        let journal = Journal()
        let operation = kind.make(notes, journal)
        operation.completionBlock = { journal.add("completion") }
        operation.cancel()
        await operation.finish { notes.database.add($0) }
        #expect(journal.entries == kind.cancelled + ["completion"])
        #expect(operation.isFinished && operation.isCancelled && !operation.isExecuting)
        #expect(notes.store.offset == offset)
    }

    @Test("On a queue that stands still, and by the queue", arguments: OperationKind.allCases)
    func queued(kind: OperationKind) async throws {
        let notes = try await NotesStore()
        let offset = notes.store.offset
        let queue = OperationQueue()
        queue.isSuspended = true
        let journal = Journal()
        let operation = kind.make(notes, journal)
        operation.database = notes.database
        await operation.finish { operation in
            queue.addOperation(operation)
            queue.cancelAllOperations()
            queue.isSuspended = false
        }
        #expect(journal.entries == kind.cancelled)
        #expect(notes.store.offset == offset)
    }

    @Test("Behind another: it ends without waiting, and what depends on it goes on", arguments: OperationKind.allCases)
    func behindDependency(kind: OperationKind) async throws {
        let notes = try await NotesStore()
        let journal = Journal()
        let never = BlockOperation {}
        let operation = kind.make(notes, journal)
        operation.addDependency(never)
        let after = CKModifyRecordsOperation(recordsToSave: [notes.note("after")])
        after.modifyRecordsResultBlock = { journal.add("after", $0) }
        after.addDependency(operation)
        await after.finish { after in
            notes.database.add(after)
            notes.database.add(operation)
            operation.cancel()
        }
        #expect(journal.entries == kind.cancelled + ["after success"])
    }

    // MARK: While it runs

    @Test("From within each block of a modification: what was committed stays a success")
    func withinModification() async throws {
        for stage in ["progress", "save", "delete", "result", "completion"] {
            let notes = try await NotesStore()
            let journal = Journal()
            let operation = CKModifyRecordsOperation(
                recordsToSave: [notes.note("a"), notes.note("b")], recordIDsToDelete: [notes.id("c")])
            @Sendable func reached(_ name: String, _ operation: CKOperation?) {
                if name == stage { operation?.cancel() }
            }
            operation.perRecordProgressBlock = { [weak operation] _, _ in reached("progress", operation) }
            operation.perRecordSaveBlock = { [weak operation] id, result in
                journal.add(id.recordName, result)
                reached("save", operation)
            }
            operation.perRecordDeleteBlock = { [weak operation] id, result in
                journal.add(id.recordName, result)
                reached("delete", operation)
            }
            operation.modifyRecordsResultBlock = { [weak operation] result in
                journal.add("result", result)
                reached("result", operation)
            }
            operation.completionBlock = { [weak operation] in reached("completion", operation) }
            await operation.finish { notes.database.add($0) }
            let isLate = ["result", "completion"].contains(stage)
            #expect(
                journal.entries == [
                    "a success", "b success", "c success", isLate ? "result success" : "result operationCancelled",
                ])
            #expect(operation.isFinished && operation.isCancelled == (stage != "completion"))
            #expect(try await notes.database.record(for: notes.id("b"))["text"] as? String == "text")
        }
    }

    @Test("From within the blocks of fetches: the rest is told that it was cancelled")
    func withinFetches() async throws {
        let notes = try await NotesStore()
        try await notes.database.modifyRecords(saving: [notes.note("a"), notes.note("b")], deleting: [])
        let journal = Journal()
        let zones = CKFetchRecordZonesOperation(recordZoneIDs: [notes.zone, .default])
        zones.perRecordZoneResultBlock = { [weak zones] id, result in
            journal.add(id.zoneName, result)
            zones?.cancel()
        }
        zones.fetchRecordZonesResultBlock = { journal.add("zones", $0) }
        await zones.finish { notes.database.add($0) }
        for stop in ["a", "b"] {
            let fetch = CKFetchRecordsOperation(recordIDs: [notes.id("a"), notes.id("b")])
            fetch.perRecordResultBlock = { [weak fetch] id, result in
                journal.add(id.recordName, result)
                if id.recordName == stop { fetch?.cancel() }
            }
            fetch.fetchRecordsResultBlock = { journal.add("records", $0) }
            await fetch.finish { notes.database.add($0) }
        }
        #expect(
            journal.entries == [
                "Notes success", "_defaultZone operationCancelled", "zones operationCancelled", "a success",
                "b operationCancelled", "records operationCancelled", "a success", "b success",
                "records operationCancelled",
            ])
    }

    @Test("After the end nothing happens", arguments: OperationKind.allCases)
    func afterwards(kind: OperationKind) async throws {
        let notes = try await NotesStore()
        let journal = Journal()
        let operation = kind.make(notes, journal)
        await operation.finish { notes.database.add($0) }
        let entries = journal.entries
        #expect(entries.last?.hasPrefix("result ") == true)
        operation.completionBlock = { journal.add("wrong") }
        operation.cancel()
        operation.start()
        try await Task.sleep(for: .milliseconds(5))
        #expect(journal.entries == entries && operation.isFinished)
    }

    @Test("The first generation of blocks is told too")
    @available(*, deprecated)
    func deprecatedBlocks() async throws {
        let notes = try await NotesStore()
        let journal = Journal()
        let modify = CKModifyRecordsOperation(recordsToSave: [notes.note("a")], recordIDsToDelete: [notes.id("c")])
        modify.perRecordCompletionBlock = { journal.add($0.recordID.recordName, $1) }
        modify.modifyRecordsCompletionBlock = { saved, deleted, error in
            journal.add("modified \(saved?.count ?? 0) \(deleted?.count ?? 0)", error)
        }
        let fetch = CKFetchRecordsOperation(recordIDs: [notes.id("a")])
        fetch.perRecordCompletionBlock = { record, id, error in
            journal.add("\(record == nil) \(id?.recordName ?? "")", error)
        }
        fetch.fetchRecordsCompletionBlock = { journal.add("fetched \($0?.count ?? 0)", $1) }
        let zones = CKModifyRecordZonesOperation(recordZonesToSave: [CKRecordZone(zoneName: "New")])
        zones.modifyRecordZonesCompletionBlock = { journal.add("zones \($0?.count ?? 0) \($1?.count ?? 0)", $2) }
        let query = CKQueryOperation(query: CKQuery(recordType: "Note", predicate: NSPredicate(value: true)))
        query.queryCompletionBlock = { journal.add("query \($0 == nil)", $1) }
        for operation in [modify, fetch, zones, query] as [CKDatabaseOperation] {
            operation.cancel()
            await operation.finish { notes.database.add($0) }
        }
        #expect(
            journal.entries == [
                "a operationCancelled", "modified 0 0 operationCancelled", "true a operationCancelled",
                "fetched 0 operationCancelled", "zones 0 0 operationCancelled", "query true operationCancelled",
            ])
    }
}
