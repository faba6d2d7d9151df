import CloudKit
import StrataModel
import StrataStore
import StrataSystem
import Testing

@testable import CloudKit

/// Feeds as operations and methods give them: B89, B150 to B170.
@Suite("Feeds")
struct FeedRuleTests {
    private let notes: NotesStore
    private var database: CKDatabase { notes.database }
    private var zone: CKRecordZone.ID { notes.zone }

    init() async throws { notes = try await NotesStore() }

    private func save(_ names: String..., in zone: CKRecordZone.ID? = nil) async throws {
        let records = names.map {
            CKRecord(recordType: "Note", recordID: .init(recordName: $0, zoneID: zone ?? self.zone))
        }
        _ = try await database.modifyRecords(saving: records, deleting: [])
    }

    private func purge(_ name: String?) async throws {
        var names = RequestNames()
        let body = name.map { AdministerRequest.purgeZone(names.ordinal(of: ZoneID($0))) } ?? .resetEncryptedData
        let request = Request(database: DatabaseID(.private, owner: "anna"), names: names, .administer(body))
        try await notes.store.store.modify(request, as: .service)
    }

    private func run(_ operation: CKDatabaseOperation) async { await operation.finish { database.add($0) } }

    @Test("B151 B153 B154 the database's feed: zones that are new or changed, and those that are gone")
    func databaseFeed() async throws {
        let other = try await database.save(CKRecordZone(zoneName: "Other")).zoneID
        let first = try await database.databaseChanges(since: nil)
        #expect(Set(first.modifications.map(\.zoneID)) == [zone, other] && !first.moreComing)
        try await save("a")
        _ = try await database.deleteRecordZone(withID: other)
        let second = try await database.databaseChanges(since: first.changeToken)
        #expect(second.modifications.map(\.zoneID) == [zone])
        #expect(second.deletions == [.init(zoneID: other, reason: .deleted)])
        let handled = await withCheckedContinuation { continuation in
            database.fetchDatabaseChanges(since: first.changeToken) { continuation.resume(returning: $0) }
        }
        #expect(try handled.get().deletions == second.deletions)
        #expect(try handled.get().changeToken == second.changeToken)
    }

    @Test("B163 B162 the operation fetches all pages, with the tokens of all but the last; or one page")
    func databaseOperation() async throws {
        for name in ["A", "B", "C", "D"] { _ = try await database.save(CKRecordZone(zoneName: name)) }
        for fetchesAll in [true, false] {
            let journal = Journal()
            let operation = CKFetchDatabaseChangesOperation()
            operation.resultsLimit = 2
            operation.fetchAllChanges = fetchesAll
            operation.recordZoneWithIDChangedBlock = { journal.add($0.zoneName) }
            operation.changeTokenUpdatedBlock = { _ in journal.add("token") }
            operation.fetchDatabaseChangesResultBlock = { result in
                journal.add("more \((try? result.get().moreComing) == true)", result)
            }
            await run(operation)
            #expect(
                journal.entries
                    == (fetchesAll
                        ? ["Notes", "A", "token", "B", "C", "token", "D", "more false success"]
                        : ["Notes", "A", "more true success"]))
        }
    }

    @Test("B155 blocks for a reason take the place of the one for all")
    func reasons() async throws {
        for name in ["Purged", "Deleted"] { _ = try await database.save(CKRecordZone(zoneName: name)) }
        let token = try await database.databaseChanges(since: nil).changeToken
        try await purge("Purged")
        _ = try await database.deleteRecordZone(withID: .init(zoneName: "Deleted"))
        for hasReasons in [true, false] {
            let journal = Journal()
            let operation = CKFetchDatabaseChangesOperation(previousServerChangeToken: token)
            operation.recordZoneWithIDWasDeletedBlock = { journal.add("deleted \($0.zoneName)") }
            if hasReasons {
                operation.recordZoneWithIDWasPurgedBlock = { journal.add("purged \($0.zoneName)") }
                operation.recordZoneWithIDWasDeletedDueToUserEncryptedDataResetBlock = { _ in journal.add("reset") }
            }
            await run(operation)
            #expect(journal.entries == [hasReasons ? "purged Purged" : "deleted Purged", "deleted Deleted"])
        }
    }

    @Test("B157 B168 a zone's feed: records as they are, deletions with their types, the keys that were desired")
    func zoneFeed() async throws {
        try await save("a", "b")
        let first = try await database.recordZoneChanges(inZoneWith: zone, since: nil)
        #expect(Set(first.modificationResultsByID.keys.map(\.recordName)) == ["a", "b"] && first.deletions.isEmpty)
        let a = try #require(
            try first.modificationResultsByID.values.first { try $0.get().record.recordID.recordName == "a" })
        let record = try a.get().record
        record["title"] = "new"
        record["text"] = "long"
        let saved = try await database.save(record)
        let b = CKRecord.ID(recordName: "b", zoneID: zone)
        try await database.deleteRecord(withID: b)
        let second = try await database.recordZoneChanges(
            inZoneWith: zone, since: first.changeToken, desiredKeys: ["title"])
        #expect(second.deletions == [.init(recordID: b, recordType: "Note")])
        let changed = try #require(second.modificationResultsByID[record.recordID]).get().record
        #expect(changed["title"] == "new" && changed.allKeys() == ["title"])
        #expect(changed.recordChangeTag == saved.recordChangeTag)
    }

    @Test("B163 B164 B166 zones one after another, each page by page; the last token comes with the result")
    func zonesOperation() async throws {
        let other = try await database.save(CKRecordZone(zoneName: "Other")).zoneID
        try await save("a", "b", "c")
        try await save("x", in: other)
        let journal = Journal()
        let operation = CKFetchRecordZoneChangesOperation(
            recordZoneIDs: [zone, other],
            configurationsByRecordZoneID: [zone: .init(resultsLimit: 2)])
        operation.recordWasChangedBlock = { id, result in journal.add(id.recordName, result) }
        operation.recordZoneChangeTokensUpdatedBlock = { id, token, data in
            journal.add("token \(id.zoneName) \(token != nil) \(data != nil)")
        }
        operation.recordZoneFetchResultBlock = { id, result in
            journal.add("zone \(id.zoneName) \((try? result.get().moreComing) == true)", result)
        }
        operation.fetchRecordZoneChangesResultBlock = { journal.add("all", $0) }
        await run(operation)
        #expect(
            journal.entries == [
                "a success", "b success", "token Notes true false", "c success", "zone Notes false success",
                "x success", "zone Other false success", "all success",
            ])
    }

    @Test("B160 B165 a zone that failed is its own block's; tokens that were delivered stay good")
    func failingZones() async throws {
        try await save("a", "b", "c")
        let missing = CKRecordZone.ID(zoneName: "Missing")
        let token = Lock<CKServerChangeToken?>(nil)
        let journal = Journal()
        let operation = CKFetchRecordZoneChangesOperation(
            recordZoneIDs: [missing, .default, zone], configurationsByRecordZoneID: [zone: .init(resultsLimit: 2)])
        let database = database
        let zone = zone
        operation.recordZoneChangeTokensUpdatedBlock = { _, new, _ in
            token.withLock { $0 = new }
            // The zone goes while it is being read.
            let gone = DispatchSemaphore(value: 0)
            database.delete(withRecordZoneID: zone) { _, _ in gone.signal() }
            gone.wait()
        }
        operation.recordZoneFetchResultBlock = { journal.add($0.zoneName, $1) }
        operation.fetchRecordZoneChangesResultBlock = { journal.add("all", $0) }
        await run(operation)
        #expect(
            journal.entries == [
                "Missing zoneNotFound", "_defaultZone invalidArguments", "Notes zoneNotFound", "all success",
            ])
        #expect(token.withLock { $0 } != nil)
    }

    @available(*, deprecated, message: "it tests what is deprecated")
    private func oldBlocks(_ journal: Journal, _ ids: [CKRecordZone.ID]) -> CKFetchRecordZoneChangesOperation {
        let operation = CKFetchRecordZoneChangesOperation(
            recordZoneIDs: ids, optionsByRecordZoneID: [ids[0]: .init()])
        operation.recordChangedBlock = { journal.add($0.recordID.recordName) }
        operation.recordWithIDWasDeletedBlock = { id, type in journal.add("\(id.recordName) \(type)") }
        operation.recordZoneFetchCompletionBlock = { id, token, _, more, error in
            journal.add("\(id.zoneName) \(token != nil) \(more)", error)
        }
        operation.fetchRecordZoneChangesCompletionBlock = { journal.add("all", $0) }
        return operation
    }

    @Test("B160 B163 blocks of the first generation are told of errors as partial failures")
    @available(*, deprecated, message: "it tests what is deprecated")
    func firstGeneration() async throws {
        try await save("a")
        let journal = Journal()
        await run(oldBlocks(journal, [zone, .init(zoneName: "Missing")]))
        #expect(
            journal.entries == [
                "a", "Notes true false success", "Missing false false zoneNotFound", "all partialFailure",
            ])
    }

    @available(*, deprecated, message: "it tests what is deprecated")
    private func single(
        _ journal: Journal, since token: CKServerChangeToken? = nil, _ zone: CKRecordZone.ID? = nil
    ) async -> CKServerChangeToken? {
        let operation = CKFetchRecordChangesOperation(
            recordZoneID: zone ?? self.zone, previousServerChangeToken: token)
        operation.resultsLimit = 2
        operation.desiredKeys = ["title"]
        operation.recordChangedBlock = { journal.add("\($0.recordID.recordName) \($0.allKeys())") }
        operation.recordWithIDWasDeletedBlock = { journal.add("deleted \($0.recordName)") }
        return await finish(operation, journal)
    }

    @available(*, deprecated, message: "it tests what is deprecated")
    private func finish(_ operation: CKFetchRecordChangesOperation, _ journal: Journal) async -> CKServerChangeToken? {
        let last = Lock<CKServerChangeToken?>(nil)
        operation.fetchRecordChangesCompletionBlock = { [unowned operation] token, client, error in
            last.withLock { $0 = token }
            journal.add("all \(operation.moreComing) \(client.map(Array.init) ?? [])", error)
        }
        await run(operation)
        return last.withLock { $0 }
    }

    @Test("B157 B163 B167 B168 the operation of a single zone fetches one page; its tokens are those of the others")
    @available(*, deprecated, message: "it tests what is deprecated")
    func singleZone() async throws {
        for name in ["a", "b", "c"] {
            let record = CKRecord(recordType: "Note", recordID: .init(recordName: name, zoneID: zone))
            (record["title"], record["text"]) = (name, "long")
            let save = CKModifyRecordsOperation(recordsToSave: [record])
            save.clientChangeTokenData = Data([7])
            await run(save)
        }
        let journal = Journal()
        let first = await single(journal)
        let second = await single(journal, since: first)
        #expect(try await database.recordZoneChanges(inZoneWith: zone, since: second).modificationResultsByID.isEmpty)
        try await database.deleteRecord(withID: .init(recordName: "a", zoneID: zone))
        let other = try await database.recordZoneChanges(inZoneWith: zone, since: nil).changeToken
        let third = await single(journal, since: second)
        let keys = "[\"title\"]"
        #expect(
            journal.entries == [
                "a \(keys)", "b \(keys)", "all true [7] success", "c \(keys)", "all false [7] success", "deleted a",
                "all false [7] success",
            ])
        #expect(third == other)
    }

    @Test("B160 B161 B203 the operation of a single zone reports an error once, as it is, and without a token")
    @available(*, deprecated, message: "it tests what is deprecated")
    func failingSingleZone() async throws {
        try await save("a")
        let journal = Journal()
        var tokens = [await single(journal, .init(zoneName: "Missing")), await single(journal, .default)]
        let strange = try await NotesStore()
        let foreign = try await strange.database.recordZoneChanges(inZoneWith: strange.zone, since: nil).changeToken
        tokens.append(await single(journal, since: foreign))
        tokens.append(await finish(CKFetchRecordChangesOperation(), journal))
        let cancelled = CKFetchRecordChangesOperation(recordZoneID: zone, previousServerChangeToken: nil)
        cancelled.recordChangedBlock = { _ in journal.add("a record") }
        cancelled.cancel()
        tokens.append(await finish(cancelled, journal))
        try notes.store.console.setNetwork(.unavailable, user: "anna")
        tokens.append(await single(journal))
        #expect(
            journal.entries
                == [
                    "zoneNotFound", "invalidArguments", "changeTokenExpired", "invalidArguments", "operationCancelled",
                    "networkUnavailable",
                ].map { "all false [] \($0)" })
        #expect(tokens.allSatisfy { $0 == nil })
    }

    @Test("B65 B167 the client token that the device sent last comes with each page")
    func clientToken() async throws {
        let operation = CKModifyRecordsOperation(
            recordsToSave: [CKRecord(recordType: "Note", recordID: .init(recordName: "a", zoneID: zone))])
        operation.clientChangeTokenData = Data([7, 8])
        await run(operation)
        let found = Lock<Data?>(nil)
        let fetch = CKFetchRecordZoneChangesOperation(recordZoneIDs: [zone])
        fetch.recordZoneFetchResultBlock = { _, result in
            found.withLock { $0 = (try? result.get())?.clientChangeTokenData }
        }
        await run(fetch)
        #expect(found.withLock { $0 } == Data([7, 8]))
    }

    @Test("B151 B161 tokens that are none, and tokens that do not fit")
    func tokens() async throws {
        try await save("a")
        let zoneToken = try await database.recordZoneChanges(inZoneWith: zone, since: nil).changeToken
        let databaseToken = try await database.databaseChanges(since: nil).changeToken
        let garbage = CKServerChangeToken(bytes: [1, 2, 3])
        let forged = zoneToken.bytes.indices.dropFirst().map { place in
            var bytes = zoneToken.bytes
            bytes[place] ^= 0x41
            return CKServerChangeToken(bytes: bytes)
        }
        for token in forged {
            #expect(
                await code { try await database.recordZoneChanges(inZoneWith: zone, since: token) }
                    == .changeTokenExpired)
        }
        let strange = try await NotesStore()
        for (token, code) in [
            (garbage, CKError.Code.invalidArguments), (databaseToken, .invalidArguments),
        ] {
            #expect(
                await CloudKitTests.code { try await database.recordZoneChanges(inZoneWith: zone, since: token) }
                    == code)
        }
        #expect(await code { try await database.databaseChanges(since: zoneToken) } == .invalidArguments)
        #expect(
            await code { try await strange.database.recordZoneChanges(inZoneWith: strange.zone, since: zoneToken) }
                == .changeTokenExpired)
        // It comes back from an archive.
        let data = try NSKeyedArchiver.archivedData(withRootObject: zoneToken, requiringSecureCoding: true)
        let again = try NSKeyedUnarchiver.unarchivedObject(ofClass: CKServerChangeToken.self, from: data)
        try await save("b")
        let page = try await database.recordZoneChanges(inZoneWith: zone, since: again)
        #expect(page.modificationResultsByID.keys.map(\.recordName) == ["b"])
    }

    @Test("B203 a fetch that is cancelled between pages ends as cancelled, once")
    func cancelled() async throws {
        try await save("a", "b", "c", "d")
        let journal = Journal()
        let operation = CKFetchRecordZoneChangesOperation(
            recordZoneIDs: [zone, .init(zoneName: "Later")],
            configurationsByRecordZoneID: [zone: .init(resultsLimit: 1)])
        operation.recordWasChangedBlock = { id, _ in journal.add(id.recordName) }
        operation.recordZoneChangeTokensUpdatedBlock = { [unowned operation] _, _, _ in operation.cancel() }
        operation.recordZoneFetchResultBlock = { journal.add($0.zoneName, $1) }
        operation.fetchRecordZoneChangesResultBlock = { journal.add("all", $0) }
        await run(operation)
        #expect(
            journal.entries == [
                "a", "Notes operationCancelled", "Later operationCancelled", "all operationCancelled",
            ])
    }
}
