import CloudKit
import Testing

@Suite("Requests as a whole: limits, repeats, first writes", .timeLimit(.minutes(2)))
struct RequestRuleTests {
    private func sized(_ record: CKRecord, bytes: Int) -> CKRecord {
        record["text"] = nil
        record["data"] = Data(count: bytes - "data".utf8.count)
        return record
    }

    @Test("A record of 1 MB is saved, one of a byte more fails alone (B68)")
    func recordBytes() async throws {
        let notes = try await NotesStore()
        let results = try await notes.database.modifyRecords(
            saving: [sized(notes.note("most"), bytes: 1_000_000), sized(notes.note("more"), bytes: 1_000_001 - 2_000)],
            deleting: [], atomically: false)
        #expect(results.saveResults.values.allSatisfy { $0.code == nil })
        let large = try await notes.database.modifyRecords(
            saving: [sized(notes.note("large"), bytes: 1_000_001), notes.note("small")], deleting: [],
            atomically: false)
        #expect(large.saveResults[notes.id("large")]?.code == .limitExceeded)
        #expect(large.saveResults[notes.id("small")]?.code == nil)
        let embedded = try await NotesStore(.embedded)
        #expect(
            await code { try await embedded.database.save(sized(embedded.note("a"), bytes: 1_000_001)) } == nil)
    }

    @Test("A request of 2 MB is done, one of a byte more is not (B67, B68)")
    func requestBytes() async throws {
        let notes = try await NotesStore()
        let halves = [sized(notes.note("a"), bytes: 1_000_000), sized(notes.note("b"), bytes: 1_000_000)]
        #expect(await code { try await notes.database.modifyRecords(saving: halves, deleting: []) } == nil)
        let more = [
            sized(notes.note("c"), bytes: 1_000_000), sized(notes.note("d"), bytes: 999_999),
            sized(notes.note("e"), bytes: 6),
        ]
        #expect(
            await code { try await notes.database.modifyRecords(saving: more, deleting: []) } == .limitExceeded)
        #expect(await code { try await notes.database.record(for: notes.id("c")) } == .unknownItem)
    }

    @Test("More than 400 items are too many, also if one of them cannot be sent (B67, B270)")
    func items() async throws {
        let notes = try await NotesStore()
        var records = (0..<399).map { notes.note("\($0)") }
        let wrong = notes.note("wrong")
        wrong["bad"] = [[1]]
        records.append(wrong)
        #expect(
            await code {
                try await notes.database.modifyRecords(saving: records, deleting: [notes.id("x")], atomically: false)
            } == .limitExceeded)
        #expect(await code { try await notes.database.record(for: notes.id("0")) } == .unknownItem)
        let results = try await notes.database.modifyRecords(saving: records, deleting: [], atomically: false)
        #expect(results.saveResults.values.filter { $0.code == nil }.count == 399)
        #expect(results.saveResults[wrong.recordID]?.code == .invalidArguments)
    }

    @Test("Fetching 400 is allowed, one more is not (B117)")
    func fetched() async throws {
        let notes = try await NotesStore()
        let ids = (0...400).map { notes.id("\($0)") }
        #expect(try await notes.database.records(for: Array(ids.dropLast())).count == 400)
        #expect(await code { try await notes.database.records(for: ids) } == .limitExceeded)
    }

    @Test("Both presets' limits of pages (B272)")
    func pages() {
        #expect(CloudStore.Limits.service.pageSize == 200 && CloudStore.Limits.service.pageSizeMaximum == 400)
        #expect(CloudStore.Limits.embedded.pageSize == 1_000 && CloudStore.Limits.embedded.pageSizeMaximum == 10_000)
    }

    private func repeated(_ records: [CKRecord], token: UInt8, in database: CKDatabase) async -> [String] {
        let journal = Journal()
        // Copies: a record that was saved has a new tag, and would make another request.
        let operation = CKModifyRecordsOperation(recordsToSave: records.compactMap { $0.copy() as? CKRecord })
        operation.isAtomic = false
        operation.clientChangeTokenData = Data([token])
        operation.perRecordSaveBlock = { id, result in
            journal.add("\(id.recordName) \((try? result.get().recordChangeTag) ?? "none")", result)
        }
        operation.modifyRecordsResultBlock = { journal.add("result", $0) }
        await operation.finish { database.add($0) }
        return journal.entries
    }

    @Test("A request that is repeated with its token is answered as before and writes nothing (B65)")
    func repeats() async throws {
        var options = CloudStore.Options.service
        // Refusals are noted a moment later.
        options.recordRefusals = false
        let notes = try await NotesStore(options)
        let stale = try await notes.staleNote("stale")
        let records = [notes.note("a"), stale, notes.note("b")]
        let first = await repeated(records, token: 1, in: notes.database)
        #expect(first.count == 4 && first[0].hasSuffix("success") && first[1].hasSuffix("serverRecordChanged"))
        let offset = notes.store.offset
        #expect(await repeated(records, token: 1, in: notes.database) == first)
        #expect(notes.store.offset == offset)
        // What has become of the records since is another story.
        let tablet = notes.store.container(user: "anna", device: "tablet").privateCloudDatabase
        let newer = try await tablet.record(for: notes.id("a"))
        newer["text"] = "newer"
        try await tablet.save(newer)
        try await tablet.deleteRecord(withID: notes.id("b"))
        #expect(await repeated(records, token: 1, in: notes.database) == first)
        // The token is this device's alone.
        #expect(await repeated(records, token: 1, in: tablet) != first)
        #expect(await repeated(records, token: 2, in: notes.database) != first)
    }

    @Test("Reading writes nothing; the first write makes the databases and the user's record (B265, B116)")
    func firstWrite() async throws {
        var options = CloudStore.Options.service
        options.recordRefusals = false
        let store = try CloudStore.inMemory(options: options)
        let phone = store.container(user: "anna")
        let me = try await phone.userRecordID()
        for database in [phone.privateCloudDatabase, phone.publicCloudDatabase] {
            #expect(try await database.allRecordZones().count == 1)
            #expect(await code { try await database.record(for: CKRecord.ID(recordName: "a")) } == .unknownItem)
            #expect(await code { try await database.record(for: me) } == .unknownItem)
            #expect(await code { try await database.deleteRecord(withID: CKRecord.ID(recordName: "a")) } == nil)
        }
        #expect(store.offset == 0)
        try await phone.privateCloudDatabase.save(CKRecord(recordType: "Note"))
        #expect(store.offset == 1)
        for database in [phone.privateCloudDatabase, phone.publicCloudDatabase] {
            let user = try await database.record(for: me)
            #expect(user.recordType == CKRecord.SystemType.userRecord && user.allKeys().isEmpty)
            user["nickname"] = "Anna"
            #expect(try await database.save(user)["nickname"] as? String == "Anna")
            #expect(await code { try await database.deleteRecord(withID: me) } == .permissionFailure)
        }
        let second = CKRecord(recordType: CKRecord.SystemType.userRecord)
        #expect(await code { try await phone.privateCloudDatabase.save(second) } == .permissionFailure)
    }

    @Test("A fetch sees the save that was acknowledged before it, on every device (B115)")
    func seen() async throws {
        let notes = try await NotesStore()
        let tablet = notes.store.container(user: "anna", device: "tablet").privateCloudDatabase
        for round in 0..<50 {
            try await notes.database.save(notes.note("\(round)", "\(round)"))
            #expect(try await tablet.record(for: notes.id("\(round)"))["text"] as? String == "\(round)")
        }
    }

    @Test("Progress of a fetch: 1 for each record that is there (B113), results once for each ID (B114)")
    func fetchProgress() async throws {
        let notes = try await NotesStore()
        try await notes.database.modifyRecords(saving: [notes.note("a"), notes.note("b")], deleting: [])
        let journal = Journal()
        let operation = CKFetchRecordsOperation(
            recordIDs: ["b", "missing", "a", "b"].map { notes.id($0) })
        operation.perRecordProgressBlock = { journal.add("progress \($0.recordName) \($1)") }
        operation.perRecordResultBlock = { journal.add($0.recordName, $1) }
        operation.fetchRecordsResultBlock = { journal.add("result", $0) }
        await operation.finish { notes.database.add($0) }
        #expect(
            journal.entries == [
                "progress b 1.0", "b success", "missing unknownItem", "progress a 1.0", "a success", "result success",
            ])
    }

    @Test("Results that nobody wants need no underscore (B262)")
    func discarded() async throws {
        let notes = try await NotesStore()
        let database = notes.database
        try await database.save(notes.note("a"))
        try await database.record(for: notes.id("a"))
        try await database.records(for: [notes.id("a")])
        try await database.modifyRecords(saving: [], deleting: [])
        try await database.deleteRecord(withID: notes.id("a"))
        try await database.allRecordZones()
        try await database.recordZone(for: notes.zone)
        try await database.recordZones(for: [notes.zone])
        try await database.modifyRecordZones(saving: [], deleting: [])
        try await notes.phone.userRecordID()
        try await database.deleteRecordZone(withID: notes.zone)
        #expect(try await database.allRecordZones().count == 1)
    }
}
