import CloudKit
import StrataSystem
import Testing

@Suite("The documents' scenarios run", .timeLimit(.minutes(1)))
struct SeedSampleTests {
    @Test("A record made again from cached metadata saves over its own version only", arguments: SeedMode.allCases)
    func cachedMetadata(mode: SeedMode) async throws {
        let notes = try await NotesStore()
        let saved = try await notes.database.save(notes.note("a"))
        let again = try #require(try mode.cached(saved))
        #expect(again.recordID == saved.recordID && again.recordChangeTag == saved.recordChangeTag)
        #expect(again.allKeys().isEmpty && again.changedKeys().isEmpty)
        let stale = try #require(try mode.cached(saved))
        again["text"] = "changed"
        #expect(try await notes.database.save(again)["text"] as? String == "changed")
        stale["text"] = "too late"
        #expect(await code { try await notes.database.save(stale) } == .serverRecordChanged)
    }

    @Test("Records that refer to each other are saved and others deleted, as one", arguments: SeedMode.allCases)
    func savedHierarchy(mode: SeedMode) async throws {
        let notes = try await NotesStore()
        try await notes.database.save(notes.note("old"))
        let (invoice, line) = (notes.note("invoice"), notes.note("line"))
        let journal = Journal()
        let failure = await withCheckedContinuation { continuation in
            mode.saveHierarchy(
                invoice, line, deleting: [notes.id("old")], in: notes.database,
                each: { journal.add($0.recordName, $1) }, finished: { continuation.resume(returning: $0) })
        }
        #expect(failure == nil)
        #expect(journal.entries == ["invoice success", "line success", "old success"])
        let stored = try await notes.database.record(for: line.recordID)
        let reference = try #require(stored["invoice"] as? CKRecord.Reference)
        #expect(reference.recordID == invoice.recordID && reference.action == .deleteSelf)
        #expect(await code { try await notes.database.record(for: notes.id("old")) } == .unknownItem)
        try await notes.database.deleteRecord(withID: invoice.recordID)
        #expect(await code { try await notes.database.record(for: line.recordID) } == .unknownItem)
    }

    @Test("An urgent fetch gives each record its result", arguments: SeedMode.allCases)
    func urgentFetch(mode: SeedMode) async throws {
        let notes = try await NotesStore()
        try await notes.database.save(notes.note("a"))
        let results = try await mode.urgentFetch(of: [notes.id("a"), notes.id("gone")], from: notes.phone)
        #expect(try results[notes.id("a")]?.get()["text"] as? String == "text")
        #expect(results[notes.id("gone")]?.code == .unknownItem)
        #expect(results.count == 2)
    }

    @Test("A fetch over wireless networks only gives each record its result", arguments: SeedMode.allCases)
    func wirelessOnlyFetch(mode: SeedMode) async throws {
        let notes = try await NotesStore()
        try await notes.database.save(notes.note("a"))
        let results = try await mode.wirelessOnlyFetch(of: [notes.id("a"), notes.id("gone")], from: notes.phone)
        #expect(try results[notes.id("a")]?.get()["text"] as? String == "text")
        #expect(results[notes.id("gone")]?.code == .unknownItem)
        #expect(results.count == 2)
    }

    @Test(
        "Nothing was shared: no zone has changed, and the token is good for the next time", arguments: SeedMode.allCases
    )
    @available(*, deprecated)
    func changedZones(mode: SeedMode) async throws {
        let notes = try await NotesStore()
        var token: CKServerChangeToken?
        for _ in 1...2 {
            let tokens = Lock<[CKServerChangeToken]>([])
            let since = token
            let (zones, failure) = await withCheckedContinuation { continuation in
                mode.changedZones(
                    since: since, of: notes.phone, tokenHandler: { token in tokens.withLock { $0.append(token) } },
                    zonesHandler: { continuation.resume(returning: ($0, $1)) })
            }
            #expect(zones.isEmpty && failure == nil)
            token = tokens.withLock(\.last)
            #expect(token != nil)
        }
    }

    @Test(
        "A search finds what it says, in the order that it says, with the keys that it wants",
        arguments: SeedMode.allCases)
    func propertySearch(mode: SeedMode) async throws {
        let notes = try await NotesStore()
        let search = mode.propertySearch(in: CKRecordZone(zoneID: notes.zone))
        let predicate: NSPredicate = NSPredicate(format: "address CONTAINS[c] 'Cupertino'")
        #expect(search.query?.predicate.isEqual(predicate) == true)
        #expect(search.query?.sortDescriptors?.map(\.key) == ["creationDate"])
        #expect(search.zoneID == notes.zone && search.desiredKeys == ["address", "ownerName", "salePrice"])
        for (name, address) in [
            ("a", "1 Infinite Loop, Cupertino"), ("b", "Berlin"), ("c", "10600 N Tantau Ave, CUPERTINO"),
        ] {
            let property = CKRecord(
                recordType: "Property", recordID: CKRecord.ID(recordName: name, zoneID: notes.zone))
            property["address"] = address
            property["ownerName"] = "Anna"
            property["rooms"] = 3
            try await notes.database.save(property)
        }
        let found = Lock<[CKRecord]>([])
        let end = Lock<Result<CKQueryOperation.Cursor?, any Error>?>(nil)
        search.recordMatchedBlock = { _, result in
            if case .success(let record) = result { found.withLock { $0.append(record) } }
        }
        search.queryResultBlock = { result in end.withLock { $0 = result } }
        await search.finish { notes.database.add($0) }
        #expect(found.withLock { $0.map(\.recordID.recordName) } == ["a", "c"])
        #expect(found.withLock { $0.allSatisfy { $0["ownerName"] == "Anna" && $0["rooms"] == nil } })
        #expect(try end.withLock { $0 }?.get() == nil)
    }
}
