import CloudKit
import StrataModel
import TestSupport
import Testing

@testable import CloudKit

@Suite("Long-lived operations (B208)", .timeLimit(.minutes(2)))
struct LongLivedTests {
    private func open(_ directory: TestDirectory) throws -> CloudStore {
        try CloudStore(at: URL(fileURLWithPath: directory.path("Notes.strata")))
    }

    private func note(_ name: String) -> CKRecord {
        let note = CKRecord(recordType: "Note", recordID: CKRecord.ID(recordName: name))
        note["text"] = name
        return note
    }

    private func longLived(_ operation: CKModifyRecordsOperation) -> CKModifyRecordsOperation {
        operation.configuration.isLongLived = true
        return operation
    }

    @Test("It is persisted before it runs, and listed until it has ended")
    func listed() async throws {
        let directory = try TestDirectory()
        let store = try open(directory)
        let phone = store.container(user: "anna", device: "phone")
        let journal = Journal()
        let operation = longLived(CKModifyRecordsOperation(recordsToSave: [note("a")]))
        let path = directory.path("Notes.strata/operations/\(operation.operationID)")
        operation.longLivedOperationWasPersistedBlock = {
            journal.add("persisted \(FileManager.default.fileExists(atPath: path))")
        }
        operation.perRecordSaveBlock = { journal.add($0.recordName, $1) }
        operation.modifyRecordsResultBlock = {
            journal.add("result", $0)
            journal.add("still there \(FileManager.default.fileExists(atPath: path))")
        }
        await operation.finish { phone.privateCloudDatabase.add($0) }
        #expect(journal.entries == ["persisted true", "a success", "result success", "still there true"])
        #expect(try await phone.allLongLivedOperationIDs().isEmpty)
        #expect(!FileManager.default.fileExists(atPath: path))
        let plain = CKModifyRecordsOperation(recordsToSave: [note("b")])
        plain.longLivedOperationWasPersistedBlock = { journal.add("wrong") }
        await plain.finish { phone.privateCloudDatabase.add($0) }
        #expect(!journal.entries.contains("wrong"))
        try store.close()
    }

    @Test("One that would save a record goes when the record is erased, others stay")
    func erased() async throws {
        let directory = try TestDirectory()
        let store = try open(directory)
        let (one, other) = (note("a"), note("b"))
        for operation in [
            longLived(CKModifyRecordsOperation(recordsToSave: [one])),
            longLived(CKModifyRecordsOperation(recordsToSave: [other])),
        ] { try await leave(operation, in: store, committed: true) }
        let phone = store.container(user: "anna", device: "phone")
        #expect(try await phone.allLongLivedOperationIDs().count == 2)
        // A refused erasure takes nobody's save with it.
        let missing = note("c").recordID
        #expect(throws: CKError.self) {
            try store.console.erase([one.recordID, missing], in: .private, of: "anna", reason: "asked for")
        }
        #expect(try await phone.allLongLivedOperationIDs().count == 2)
        try store.console.erase([one.recordID], in: .private, of: "anna", reason: "asked for")
        #expect(try await phone.allLongLivedOperationIDs().count == 1)
        try store.console.erase([other.recordID], in: .private, of: "anna", reason: "asked for")
        #expect(try await phone.allLongLivedOperationIDs().isEmpty)
        try store.close()
    }

    @Test("The same if another process that writes the store erases the record")
    func erasedElsewhere() async throws {
        let directory = try TestDirectory()
        let place = CloudStore.LogPlace.directory(directory.path("Notes.sequence"))
        let stores = try ["A", "B"].map {
            try CloudStore(at: URL(fileURLWithPath: directory.path("\($0).strata")), log: place)
        }
        let (one, other) = (note("a"), note("b"))
        for saved in [one, other] {
            let operation = longLived(CKModifyRecordsOperation(recordsToSave: [saved]))
            try await leave(operation, in: stores[0], committed: true)
        }
        try stores[1].console.erase([one.recordID], in: .private, of: "anna", reason: "asked for")
        let phone = stores[0].container(user: "anna", device: "phone")
        #expect(try await awaited { try await phone.allLongLivedOperationIDs().count == 1 })
        let left = try #require(try await phone.allLongLivedOperationIDs().first)
        let operation = try await phone.longLivedOperation(for: left)
        #expect((operation as? CKModifyRecordsOperation)?.recordsToSave?.first?.recordID == other.recordID)
        for store in stores { try store.close() }
    }

    @Test("A process that died behind an erasure's commit has left none that would save the record")
    func erasedBehindCrash() async throws {
        let directory = try TestDirectory()
        var store = try open(directory)
        let (one, other) = (note("a"), note("b"))
        for saved in [one, other] {
            try await leave(longLived(CKModifyRecordsOperation(recordsToSave: [saved])), in: store, committed: true)
        }
        // Its own part is done; the next that a process does is to look after operations.
        let card = RecordID("a", zone: ZoneID("_defaultZone"))
        try store.store.erase([card], in: DatabaseID(.private, owner: "anna"), reason: "asked for")
        try store.close()
        store = try open(directory)
        let phone = store.container(user: "anna", device: "phone")
        let left = try await phone.allLongLivedOperationIDs()
        #expect(left.count == 1)
        let operation = try await phone.longLivedOperation(for: try #require(left.first))
        #expect((operation as? CKModifyRecordsOperation)?.recordsToSave?.first?.recordID == other.recordID)
        // One that is kept again since is another's wish.
        try await leave(longLived(CKModifyRecordsOperation(recordsToSave: [note("a")])), in: store, committed: true)
        try store.close()
        store = try open(directory)
        #expect(try await store.container(user: "anna", device: "phone").allLongLivedOperationIDs().count == 2)
        try store.close()
    }

    /// What a process leaves that ends before the blocks of its operation were called.
    private func leave(
        _ operation: CKModifyRecordsOperation, in store: CloudStore, committed: Bool
    ) async throws {
        let phone = store.container(user: "anna", device: "phone")
        operation.database = phone.privateCloudDatabase
        let keeper = try #require(operation.makeKeeper())
        try keeper()
        guard committed else { return }
        _ = try await operation.call.modify(
            RecordsModification(saves: operation.recordsToSave ?? [], deletes: operation.recordIDsToDelete ?? []))
    }

    @Test("After a restart it can be had again, and what it had done is not done twice", arguments: [false, true])
    func replayed(committed: Bool) async throws {
        let directory = try TestDirectory()
        var store = try open(directory)
        let before = longLived(
            CKModifyRecordsOperation(
                recordsToSave: [note("a"), note("b")], recordIDsToDelete: [.init(recordName: "x")]))
        try await leave(before, in: store, committed: committed)
        let offset = store.offset
        try store.close()

        store = try open(directory)
        let phone = store.container(user: "anna", device: "phone")
        #expect(try await store.container(user: "anna", device: "tablet").allLongLivedOperationIDs().isEmpty)
        let ids = try await phone.allLongLivedOperationIDs()
        #expect(ids == [before.operationID])
        let again = try #require(
            try await phone.longLivedOperation(for: before.operationID) as? CKModifyRecordsOperation)
        #expect(again.operationID == before.operationID)
        #expect(again.recordsToSave?.map(\.recordID.recordName) == ["a", "b"])
        if committed {
            let newer = try await phone.privateCloudDatabase.record(for: CKRecord.ID(recordName: "b"))
            newer["text"] = "newer"
            try await phone.privateCloudDatabase.save(newer)
        }
        let journal = Journal()
        again.perRecordSaveBlock = { id, result in
            let text = (try? result.get())?["text"] as? String
            journal.add("\(id.recordName) \(text ?? "-")", result)
        }
        again.perRecordDeleteBlock = { journal.add($0.recordName, $1) }
        again.modifyRecordsResultBlock = { journal.add("result", $0) }
        await again.finish { phone.add($0) }
        #expect(journal.entries == ["a a success", "b b success", "x success", "result success"])
        #expect(store.offset == offset + 1)
        #expect(try await phone.allLongLivedOperationIDs().isEmpty)
        #expect(try await phone.longLivedOperation(for: before.operationID) == nil)
        try store.close()
    }

    @Test(
        "Files of assets are needed until the store has judged the operation, and no longer", arguments: [false, true])
    func assets(committed: Bool) async throws {
        let directory = try TestDirectory()
        var store = try open(directory)
        let file = URL(fileURLWithPath: directory.path("photo"))
        try Data("bytes".utf8).write(to: file)
        let record = note("a")
        record["photo"] = CKAsset(fileURL: file)
        let before = longLived(CKModifyRecordsOperation(recordsToSave: [record]))
        try await leave(before, in: store, committed: committed)
        try store.close()
        if committed { try FileManager.default.removeItem(at: file) }

        store = try open(directory)
        let phone = store.container(user: "anna", device: "phone")
        let again = try #require(
            try await phone.longLivedOperation(for: before.operationID) as? CKModifyRecordsOperation)
        let journal = Journal()
        again.perRecordSaveBlock = { journal.add($0.recordName, $1) }
        await again.finish { phone.add($0) }
        #expect(journal.entries == ["a success"])
        let fetched = try await phone.privateCloudDatabase.record(for: record.recordID)
        let url = try #require((fetched["photo"] as? CKAsset)?.fileURL)
        #expect(try Data(contentsOf: url) == Data("bytes".utf8))
        try store.close()
    }

    /// Has an operation of any kind note what it does.
    private func watch(_ operation: CKDatabaseOperation, _ journal: Journal) {
        func texts(_ record: CKRecord?) -> String { "\(record?.allKeys() ?? [])" }
        switch operation {
        case let operation as CKModifyRecordsOperation:
            operation.perRecordSaveBlock = { journal.add("saved \($0.recordName)", $1) }
        case let operation as CKFetchRecordsOperation:
            operation.perRecordResultBlock = { journal.add("fetched \($0.recordName) \(texts(try? $1.get()))", $1) }
        case let operation as CKQueryOperation:
            operation.recordMatchedBlock = { journal.add("matched \($0.zoneID.zoneName) \(texts(try? $1.get()))", $1) }
        case let operation as CKModifyRecordZonesOperation:
            operation.perRecordZoneSaveBlock = { journal.add("zone \($0.zoneName)", $1) }
        case let operation as CKFetchRecordZonesOperation:
            operation.perRecordZoneResultBlock = { journal.add("fetched zone \($0.zoneName)", $1) }
        case let operation as CKFetchDatabaseChangesOperation:
            operation.recordZoneWithIDChangedBlock = { journal.add("changed zone \($0.zoneName)") }
        case let operation as CKFetchRecordZoneChangesOperation:
            operation.recordWasChangedBlock = { journal.add("changed \($0.recordName) \(texts(try? $1.get()))", $1) }
        case let operation as CKModifySubscriptionsOperation:
            operation.perSubscriptionSaveBlock = { journal.add("subscribed \($0)", $1) }
            operation.perSubscriptionDeleteBlock = { journal.add("unsubscribed \($0)", $1) }
        case let operation as CKFetchSubscriptionsOperation:
            operation.perSubscriptionResultBlock = { journal.add("subscription \($0)", $1) }
        default: journal.add("an operation of no kind")
        }
    }

    @Test("An operation of each of the nine classes is kept, and done by the next process after a kill")
    func killed() async throws {
        let directory = try TestDirectory()
        let child = try ChildProcess(ChildProcess.product("cloudkit-child"), ["keep", directory.path("")])
        #expect(child.waitForLine())
        child.kill()
        let store = try open(directory)
        let phone = store.container(user: "anna", device: "phone")
        let ids = try await phone.allLongLivedOperationIDs()
        #expect(ids.count == 9)
        let journal = Journal()
        for id in ids {
            let operation = try #require(try await phone.longLivedOperation(for: id) as? CKDatabaseOperation)
            #expect(operation.configuration.isLongLived && operation.operationID == id)
            watch(operation, journal)
            await operation.finish { phone.add($0) }
        }
        let expected: Set = [
            "saved added success", "fetched after [\"text\"] success", "matched Notes [\"text\"] success",
            "zone New success", "fetched zone Notes success", "changed zone Notes", "changed zone New",
            "changed after [\"text\"] success", "subscribed second success", "unsubscribed none unknownItem",
            "subscription first success",
        ]
        #expect(Set(journal.entries) == expected, "\(journal.entries)")
        #expect(journal.entries.filter { $0.hasPrefix("matched") || $0.hasPrefix("changed after") }.count == 2)
        #expect(try await phone.allLongLivedOperationIDs().isEmpty)
        try store.close()
    }

    @Test("Each property is kept, and what was nil stays nil", arguments: [false, true])
    func properties(areSet: Bool) throws {
        var archive = OperationArchive()
        if areSet {
            let group = CKOperationGroup()
            group.quantity = 3
            archive.records = [note("a")]
            archive.recordIDs = [.init(recordName: "b")]
            archive.zones = [CKRecordZone(zoneName: "Notes")]
            archive.zoneIDs = [.init(zoneName: "Old")]
            archive.desiredKeys = ["text", "ä"]
            (archive.policy, archive.isAtomic, archive.fetchesSpecial) = (.allKeys, false, true)
            archive.clientToken = Data([1, 2])
            archive.subscriptions = [CKDatabaseSubscription(subscriptionID: "all")]
            archive.subscriptionIDs = ["old"]
            archive.query = CKQuery(recordType: "Note", predicate: NSPredicate(format: "n > 3"))
            archive.cursor = CKQueryCursor(bytes: [3])
            archive.token = CKServerChangeToken(bytes: [4])
            (archive.resultsLimit, archive.fetchesAll) = (7, false)
            archive.configurations = [
                .init(zoneName: "Notes"): .init(previousServerChangeToken: .init(bytes: [5]), resultsLimit: 6)
            ]
            (archive.scope, archive.quality, archive.group) = (.public, .userInitiated, group)
        }
        let again = try OperationArchive(decoding: archive.encoded())
        #expect(again.records?.map { $0["text"] as? String } == archive.records?.map { $0["text"] as? String })
        #expect(again.recordIDs == archive.recordIDs && again.zoneIDs == archive.zoneIDs)
        #expect(again.zones?.map(\.zoneID) == archive.zones?.map(\.zoneID))
        #expect(again.desiredKeys == archive.desiredKeys && again.clientToken == archive.clientToken)
        #expect(again.policy == archive.policy && again.isAtomic == archive.isAtomic)
        #expect(again.fetchesSpecial == archive.fetchesSpecial)
        #expect(again.subscriptions?.map(\.subscriptionID) == archive.subscriptions?.map(\.subscriptionID))
        #expect(again.subscriptionIDs == archive.subscriptionIDs && again.query == archive.query)
        #expect(again.cursor == archive.cursor && again.token == archive.token)
        #expect(again.resultsLimit == archive.resultsLimit && again.fetchesAll == archive.fetchesAll)
        #expect(again.configurations?.keys == archive.configurations?.keys)
        let (kept, given) = (again.configurations?.values.first, archive.configurations?.values.first)
        #expect(kept?.resultsLimit == given?.resultsLimit)
        #expect(kept?.previousServerChangeToken == given?.previousServerChangeToken)
        #expect(again.scope == archive.scope && again.quality == archive.quality)
        #expect(again.group?.operationGroupID == archive.group?.operationGroupID)
        #expect(again.group?.quantity == archive.group?.quantity && again.group?.name == nil)
        #expect((again.records == nil) == !areSet)
    }

    @Test("What is set after the start does not keep it longer (B201)")
    func changedWhileItRuns() async throws {
        let directory = try TestDirectory()
        let store = try open(directory)
        let phone = store.container(user: "anna", device: "phone")
        let operation = longLived(CKModifyRecordsOperation(recordsToSave: [note("a")]))
        let journal = Journal()
        operation.modifyRecordsResultBlock = { [unowned operation] in
            operation.configuration.isLongLived = false
            journal.add("result", $0)
        }
        await operation.finish { phone.privateCloudDatabase.add($0) }
        #expect(journal.entries == ["result success"])
        #expect(try await phone.allLongLivedOperationIDs().isEmpty)
        try store.close()
    }

    @Test("One whose time ran out before it was kept is not kept afterwards, and its result comes last")
    func timedOut() async throws {
        let directory = try TestDirectory()
        let store = try open(directory)
        let phone = store.container(user: "anna", device: "phone")
        let journal = Journal()
        for round in 0..<20 {
            let operation = longLived(CKModifyRecordsOperation(recordsToSave: [note("\(round)")]))
            operation.configuration.timeoutIntervalForRequest = 0.000_05
            operation.longLivedOperationWasPersistedBlock = { journal.add("persisted \(round)") }
            operation.modifyRecordsResultBlock = { journal.add("result \(round)", $0) }
            await operation.finish { phone.privateCloudDatabase.add($0) }
        }
        // Whatever still runs has time to do what it must not.
        try await Task.sleep(for: .milliseconds(500))
        let entries = journal.entries
        #expect(entries.contains { $0.hasSuffix("serverResponseLost") })
        for round in 0..<20 {
            let own = entries.filter { $0.hasPrefix("result \(round) ") || $0 == "persisted \(round)" }
            #expect(own.last?.hasPrefix("result") == true && own.count <= 2, "\(own)")
        }
        // One that is being kept when its time runs out is forgotten behind its result.
        #expect(try await awaited { try await phone.allLongLivedOperationIDs().isEmpty })
        try store.close()
    }

    @Test("A cancelled one is not listed any more, a damaged or foreign name leads nowhere")
    func cancelled() async throws {
        let directory = try TestDirectory()
        let store = try open(directory)
        let phone = store.container(user: "anna", device: "phone")
        let operation = longLived(CKModifyRecordsOperation(recordsToSave: [note("a")]))
        try await leave(operation, in: store, committed: false)
        #expect(try await phone.longLivedOperation(for: "../STORE") == nil)
        let again = try #require(try await phone.longLivedOperation(for: operation.operationID))
        again.cancel()
        #expect(try await phone.allLongLivedOperationIDs().isEmpty)

        let damaged = longLived(CKModifyRecordsOperation(recordsToSave: [note("a")]))
        try await leave(damaged, in: store, committed: false)
        let url = URL(fileURLWithPath: directory.path("Notes.strata/operations/\(damaged.operationID)"))
        let whole = try Data(contentsOf: url)
        for position in stride(from: 0, to: whole.count, by: 7) {
            var bytes = whole
            bytes[position] ^= 0x10
            try bytes.write(to: url)
            #expect(try await phone.longLivedOperation(for: damaged.operationID) == nil)
        }
        try whole.write(to: url)
        #expect(try await phone.longLivedOperation(for: damaged.operationID) != nil)
        try store.close()
    }
}
