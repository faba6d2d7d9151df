import CloudKit
import StrataSystem
import TestSupport
import Testing

@Suite("Operations on queues, and what blocks may do", .timeLimit(.minutes(2)))
struct OperationQueueTests {
    @Test("A queue's own means of waiting return once the blocks were called (B261)", arguments: 0..<3)
    func waiting(way: Int) async throws {
        let notes = try await NotesStore()
        let journal = Journal()
        await withCheckedContinuation { continuation in
            Thread.detachNewThread {
                let queue = OperationQueue()
                for round in 0..<20 {
                    let operation = CKModifyRecordsOperation(recordsToSave: [notes.note("\(round)")])
                    operation.database = notes.database
                    operation.modifyRecordsResultBlock = { journal.add("\(round)", $0) }
                    switch way {
                    case 0: queue.addOperations([operation], waitUntilFinished: true)
                    case 1:
                        notes.database.add(operation)
                        operation.waitUntilFinished()
                    default:
                        queue.addOperation(operation)
                        queue.waitUntilAllOperationsAreFinished()
                    }
                    if journal.entries.count != round + 1 { journal.add("returned early") }
                }
                continuation.resume()
            }
        }
        #expect(journal.entries == (0..<20).map { "\($0) success" })
    }

    @Test("An operation's blocks never run side by side, nor on the main thread (B200)")
    func oneAfterAnother() async throws {
        let notes = try await NotesStore()
        let running = Lock(0)
        let journal = Journal()
        @Sendable func block() {
            let others = running.withLock { count in
                count += 1
                return count - 1
            }
            usleep(200)
            running.withLock { $0 -= 1 }
            journal.add(others == 0 && !Thread.isMainThread ? "alone" : "beside another")
        }
        let operation = CKModifyRecordsOperation(
            recordsToSave: (0..<20).map { notes.note("\($0)") }, recordIDsToDelete: [notes.id("x")])
        operation.perRecordProgressBlock = { _, _ in block() }
        operation.perRecordSaveBlock = { _, _ in block() }
        operation.perRecordDeleteBlock = { _, _ in block() }
        operation.modifyRecordsResultBlock = { _ in block() }
        await operation.finish { notes.database.add($0) }
        #expect(journal.entries == Array(repeating: "alone", count: 42))
    }

    @Test("An operation that has ended is let go, with its blocks")
    func release() async throws {
        let notes = try await NotesStore()
        weak var ended: CKModifyRecordsOperation?
        do {
            let operation = CKModifyRecordsOperation(recordsToSave: [notes.note("a")])
            operation.configuration.timeoutIntervalForRequest = 3_600
            ended = operation
            await operation.finish { notes.database.add($0) }
        }
        #expect(try await awaited { ended == nil })
    }

    @Test("One at a time, each sees what the one before has written (B269)")
    func serial() async throws {
        let notes = try await NotesStore()
        let queue = OperationQueue()
        queue.maxConcurrentOperationCount = 1
        let journal = Journal()
        try await notes.database.save(notes.note("counter"))
        await withCheckedContinuation { continuation in
            for number in 0..<30 {
                let fetch = CKFetchRecordsOperation(recordIDs: [notes.id("counter")])
                let save = CKModifyRecordsOperation()
                fetch.database = notes.database
                save.database = notes.database
                fetch.perRecordResultBlock = { _, result in
                    guard let record = try? result.get() else { return journal.add("not fetched") }
                    journal.add("\(record["number"] as? Int ?? -1)")
                    record["number"] = number
                    save.recordsToSave = [record]
                }
                save.perRecordSaveBlock = { if case .failure(let error) = $1 { journal.add("not saved", error) } }
                if number == 29 { save.completionBlock = { continuation.resume() } }
                queue.addOperations([fetch, save], waitUntilFinished: false)
            }
        }
        #expect(journal.entries == (-1..<29).map { "\($0)" })
    }

    @Test("Handlers may call the database and wait for it")
    func nestedHandlers() async throws {
        let notes = try await NotesStore()
        let journal = Journal()
        for number in 0..<20 {
            await withCheckedContinuation { continuation in
                notes.database.save(notes.note("\(number)")) { saved, _ in
                    guard let id = saved?.recordID else { return continuation.resume() }
                    let isDone = DispatchSemaphore.wait { done in
                        notes.database.delete(withRecordID: id) { _, error in
                            journal.add("deleted", error)
                            done()
                        }
                    }
                    if !isDone { journal.add("the delete within a handler did not end") }
                    continuation.resume()
                }
            }
        }
        #expect(journal.entries == Array(repeating: "deleted success", count: 20))
    }

    @Test("Signed out, every kind of operation says so once (B220)", arguments: OperationKind.allCases)
    func signedOut(kind: OperationKind) async throws {
        let notes = try await NotesStore()
        let journal = Journal()
        await kind.make(notes, journal).finish { notes.store.container(user: nil).privateCloudDatabase.add($0) }
        #expect(journal.entries.count == 1)
        #expect(["result notAuthenticated", "result serverRejectedRequest"].contains(journal.entries.last))
    }

    @Test("In a store that was closed, every kind of operation ends with an error", arguments: OperationKind.allCases)
    func closed(kind: OperationKind) async throws {
        let notes = try await NotesStore()
        try notes.store.close()
        let journal = Journal()
        await kind.make(notes, journal).finish { notes.database.add($0) }
        #expect(journal.entries.count == 1)
        #expect(["result serviceUnavailable", "result serverRejectedRequest"].contains(journal.entries.last))
    }

    @Test("A timeout that passes while it runs: the result once, and nothing half done")
    func timeouts() async throws {
        let notes = try await NotesStore()
        var codes: Set<String> = []
        for round in 0..<60 {
            let names = ["\(round)-a", "\(round)-b"]
            let journal = Journal()
            let operation = CKModifyRecordsOperation(recordsToSave: names.map { notes.note($0) })
            operation.configuration.timeoutIntervalForRequest = Double(round) * 0.000_01
            operation.perRecordSaveBlock = { journal.add("save", $1) }
            operation.modifyRecordsResultBlock = { journal.add("result", $0) }
            await operation.finish { notes.database.add($0) }
            let entries = journal.entries
            #expect(
                entries == ["result serverResponseLost"]
                    || entries == ["save success", "save success", "result success"])
            codes.insert(entries.last ?? "")
            // What was lost may be on its way still, as with a real network.
            let stored = try await notes.database.records(for: names.map { notes.id($0) })
            let count = stored.values.filter { $0.code == nil }.count
            #expect(count == 2 || (count == 0 && entries.count == 1))
        }
        #expect(codes.contains("result serverResponseLost"))
    }

    @Test("A configuration and a group of configuredWith hold for operations that are added in it (B207)")
    func configured() async throws {
        let notes = try await NotesStore()
        let group = CKOperationGroup()
        let outer = CKOperation.Configuration()
        outer.timeoutIntervalForRequest = 0
        let inner = CKOperation.Configuration()
        inner.timeoutIntervalForRequest = 30
        let journal = Journal()
        func fetch(_ name: String, _ own: TimeInterval? = nil) -> CKFetchRecordZonesOperation {
            let operation = CKFetchRecordZonesOperation(recordZoneIDs: [notes.zone])
            if let own { operation.configuration.timeoutIntervalForRequest = own }
            operation.fetchRecordZonesResultBlock = { journal.add(name, $0) }
            return operation
        }
        let database = notes.database
        for (name, own) in [("outer", nil), ("own", 30)] as [(String, TimeInterval?)] {
            await fetch(name, own).finish { operation in
                database.configuredWith(configuration: outer, group: group) { $0.add(operation) }
            }
        }
        await fetch("inner").finish { operation in
            database.configuredWith(configuration: outer) { database in
                database.configuredWith(configuration: inner) { $0.add(operation) }
            }
        }
        await fetch("container").finish { operation in
            notes.phone.configuredWith(configuration: outer) { $0.add(operation) }
        }
        await fetch("elsewhere").finish { operation in
            database.configuredWith(configuration: outer) { _ in database.add(operation) }
        }
        #expect(
            journal.entries == [
                "outer networkFailure", "own success", "inner success", "container networkFailure", "elsewhere success",
            ])
    }
}
