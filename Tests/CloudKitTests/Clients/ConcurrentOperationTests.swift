import CloudKit
import StrataSystem
import Testing

@Suite("Many operations at the same time", .timeLimit(.minutes(2)))
struct ConcurrentOperationTests {
    @Test("Many at once, on many devices, all end")
    func many() async throws {
        let notes = try await NotesStore()
        let journal = Journal()
        await withTaskGroup(of: Void.self) { group in
            for number in 0..<200 {
                group.addTask {
                    let device = notes.store.container(user: "anna", device: "device-\(number % 7)")
                    let operation = CKModifyRecordsOperation(recordsToSave: [notes.note("\(number)")])
                    operation.modifyRecordsResultBlock = { journal.add("result", $0) }
                    await operation.finish { device.privateCloudDatabase.add($0) }
                }
            }
        }
        #expect(journal.entries == Array(repeating: "result success", count: 200))
        let stored = try await notes.database.records(for: (0..<200).map { notes.id("\($0)") })
        #expect(stored.values.allSatisfy { $0.code == nil })
    }

    @Test("Blocks may call the database and wait for it, also many at a time")
    func nested() async throws {
        let notes = try await NotesStore()
        let journal = Journal()
        await withTaskGroup(of: Void.self) { group in
            for number in 0..<40 {
                group.addTask {
                    let operation = CKModifyRecordsOperation(recordsToSave: [notes.note("\(number)")])
                    operation.perRecordSaveBlock = { id, _ in
                        let isDone = DispatchSemaphore.wait { done in
                            notes.database.fetch(withRecordID: id) { record, _ in
                                journal.add(record == nil ? "nothing" : "fetched")
                                done()
                            }
                        }
                        if !isDone { journal.add("the fetch within a block did not end") }
                    }
                    operation.modifyRecordsResultBlock = { _ in
                        let inner = CKModifyRecordsOperation(recordIDsToDelete: [notes.id("\(number)")])
                        inner.modifyRecordsResultBlock = { journal.add("deleted", $0) }
                        notes.database.add(inner)
                        inner.waitUntilFinished()
                    }
                    await operation.finish { notes.database.add($0) }
                }
            }
        }
        let entries = journal.entries
        #expect(entries.filter { $0 == "fetched" }.count == 40)
        #expect(entries.filter { $0 == "deleted success" }.count == 40 && entries.count == 80)
    }

    @Test(
        "Cancelled at any moment: whole or not at all, each block once, in order (B203)",
        arguments: OperationKind.allCases)
    func anytime(kind: OperationKind) async throws {
        let notes = try await NotesStore()
        let complete = Journal()
        await kind.make(notes, complete).finish { notes.database.add($0) }
        for round in 0..<40 {
            let notes = try await NotesStore()
            let journal = Journal()
            let operation = kind.make(notes, journal)
            await operation.finish { operation in
                notes.database.add(operation)
                for _ in 0..<(round * 3) { sched_yield() }
                operation.cancel()
            }
            let entries = journal.entries
            #expect(entries.filter { $0.hasPrefix("result ") }.count == 1)
            #expect(entries.last?.hasPrefix("result ") == true)
            #expect(Set(entries.map { $0.split(separator: " ").prefix(2) }).count == entries.count)
            let isSaved = await code { try await notes.database.record(for: notes.id("a")) } == nil
            #expect(isSaved == entries.contains("save a success"))
        }
    }
}

extension DispatchSemaphore {
    /// Waits as programs do that know no other way; must not be called from a task.
    static func wait(for work: (@escaping @Sendable () -> Void) -> Void) -> Bool {
        let done = DispatchSemaphore(value: 0)
        work { done.signal() }
        return done.wait(timeout: .now() + 60) == .success
    }
}
