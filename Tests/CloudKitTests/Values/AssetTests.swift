import CloudKit
import Foundation
import TestSupport
import Testing

@Suite("Assets", .timeLimit(.minutes(2)))
struct AssetTests {
    /// A store in a directory, and files to put into it.
    final class Place {
        let directory: URL
        let store: CloudStore
        let database: CKDatabase
        let zone = CKRecordZone.ID(zoneName: "Notes")

        init(_ options: CloudStore.Options = .service, inMemory: Bool = false) async throws {
            directory = FileManager.default.temporaryDirectory.appendingPathComponent("assets-\(UUID().uuidString)")
            try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
            store =
                try inMemory
                ? CloudStore.inMemory(options: options)
                : CloudStore(at: directory.appendingPathComponent("Notes.strata"), options: options)
            database = store.container(user: "anna").privateCloudDatabase
            try await database.save(CKRecordZone(zoneID: zone))
        }

        deinit {
            try? store.close()
            try? FileManager.default.removeItem(at: directory)
        }

        func file(_ name: String, _ bytes: Data) throws -> URL {
            let url = directory.appendingPathComponent(name)
            try bytes.write(to: url)
            return url
        }

        func id(_ name: String) -> CKRecord.ID { CKRecord.ID(recordName: name, zoneID: zone) }

        func note(_ name: String, _ file: URL) -> CKRecord {
            let note = CKRecord(recordType: "Note", recordID: id(name))
            note["title"] = name
            note["photo"] = CKAsset(fileURL: file)
            return note
        }

        /// Paths of the files that the store keeps.
        var kept: [URL] {
            let assets = directory.appendingPathComponent("Notes.strata/assets")
            let names = (try? FileManager.default.subpathsOfDirectory(atPath: assets.path)) ?? []
            return names.filter { $0.contains("/") }.map { assets.appendingPathComponent($0) }
        }
    }

    private func photo(_ record: CKRecord?) throws -> CKAsset { try #require(record?["photo"] as? CKAsset) }

    @Test("B25: saving copies the file, which stays; fetching gives the same bytes", arguments: [false, true])
    func savedAndFetched(inMemory: Bool) async throws {
        let place = try await Place(inMemory: inMemory)
        let bytes = Data((0..<3_000_000).map { UInt8(truncatingIfNeeded: $0 &* 31) })
        let file = try place.file("photo", bytes)
        let saved = try await place.database.save(place.note("a", file))
        #expect(try Data(contentsOf: file) == bytes)
        // The caller may do with it as he likes.
        try Data("other".utf8).write(to: file)
        let fetched = try await place.database.record(for: place.id("a"))
        for record in [saved, fetched] {
            let url = try #require(try photo(record).fileURL)
            #expect(try Data(contentsOf: url) == bytes && url != file)
        }
        let empty = try place.file("empty", Data())
        try await place.database.save(place.note("empty", empty))
        let url = try #require(try photo(try await place.database.record(for: place.id("empty"))).fileURL)
        #expect(try Data(contentsOf: url).isEmpty)
    }

    @Test("Out of descriptors, a save says so and can be tried again: the file is not missing")
    func descriptors() async throws {
        let place = try await Place(inMemory: true)
        let file = try place.file("photo", Data([1, 2, 3]))
        let child = try ChildProcess(ChildProcess.product("cloudkit-child"), ["descriptors", file.path])
        let line = child.lines().last ?? ""
        #expect(line.hasPrefix("serviceUnavailable ") && line.contains("Too many files are open"), "\(line)")
    }

    @Test("A list of assets keeps its order, and survives another opening of the store")
    func lists() async throws {
        let place = try await Place()
        let files = try (0..<3).map { try place.file("\($0)", Data(repeating: UInt8($0), count: 10 + $0)) }
        let note = CKRecord(recordType: "Note", recordID: place.id("a"))
        note["photos"] = files.map { CKAsset(fileURL: $0) }
        try await place.database.save(note)
        try place.store.close()
        let again = try CloudStore(at: place.directory.appendingPathComponent("Notes.strata"))
        defer { try? again.close() }
        let database = again.container(user: "anna").privateCloudDatabase
        let fetched = try await database.record(for: place.id("a"))
        let found = try #require(fetched["photos"] as? [CKAsset])
        for (index, asset) in found.enumerated() {
            let url = try #require(asset.fileURL)
            #expect(try Data(contentsOf: url) == Data(repeating: UInt8(index), count: 10 + index))
        }
        #expect(found.count == 3)
    }

    @Test("B254: each fetch has a file of its own; writing to it changes nothing that is stored")
    func privateCopies() async throws {
        let place = try await Place()
        let bytes = Data(repeating: 7, count: 100_000)
        try await place.database.save(place.note("a", try place.file("photo", bytes)))
        let first = try await place.database.record(for: place.id("a"))
        let second = try await place.database.record(for: place.id("a"))
        let one = try #require(try photo(first).fileURL)
        let two = try #require(try photo(second).fileURL)
        #expect(try one != two && one == photo(first).fileURL)
        #expect(!one.path.hasPrefix(place.directory.path))
        try Data("scribble".utf8).write(to: one)
        let handle = try FileHandle(forWritingTo: two)
        try handle.write(contentsOf: Data("scribble".utf8))
        try handle.close()
        let third = try #require(try photo(try await place.database.record(for: place.id("a"))).fileURL)
        #expect(try Data(contentsOf: third) == bytes)
        #expect(try place.kept.map { try Data(contentsOf: $0) } == [bytes])
        // B26: they are the system's, and go with the store.
        try place.store.close()
        for url in [one, two, third] { #expect(!FileManager.default.fileExists(atPath: url.path)) }
        #expect(try photo(second).fileURL == two)
        #expect(try photo(try #require(first.copy() as? CKRecord)).fileURL == one)
    }

    @Test("Equal bytes are one file, whoever saves them; a fetched asset is saved again without a file")
    func shared() async throws {
        let place = try await Place()
        let bytes = Data(repeating: 9, count: 50_000)
        let (one, two) = (try place.file("one", bytes), try place.file("two", bytes))
        try await place.database.save(place.note("a", one))
        try await place.database.save(place.note("b", two))
        #expect(place.kept.count == 1)
        let fetched = try await place.database.record(for: place.id("a"))
        let copy = CKRecord(recordType: "Note", recordID: place.id("c"))
        copy["photo"] = try photo(fetched)
        try await place.database.save(copy)
        #expect(place.kept.count == 1)
        // In another store there is no such file yet.
        let other = try await Place()
        copy["title"] = "elsewhere"
        let elsewhere = CKRecord(recordType: "Note", recordID: other.id("d"))
        elsewhere["photo"] = try photo(fetched)
        try await other.database.save(elsewhere)
        let url = try #require(try photo(try await other.database.record(for: other.id("d"))).fileURL)
        #expect(try Data(contentsOf: url) == bytes && other.kept.count == 1)
    }

    @Test("B27: clearing the key removes the asset from the record; a later save can have another one")
    func cleared() async throws {
        let place = try await Place()
        let note = try await place.database.save(place.note("a", try place.file("photo", Data("1".utf8))))
        note["photo"] = nil
        let cleared = try await place.database.save(note)
        #expect(cleared["photo"] == nil)
        #expect(try await place.database.record(for: place.id("a"))["photo"] == nil)
        cleared["photo"] = CKAsset(fileURL: try place.file("other", Data("22".utf8)))
        try await place.database.save(cleared)
        let url = try #require(try photo(try await place.database.record(for: place.id("a"))).fileURL)
        #expect(try Data(contentsOf: url) == Data("22".utf8))
    }

    @Test("A file that is missing or no file fails its record alone, with the name of the key")
    func missingFile() async throws {
        let place = try await Place()
        let good = place.note("good", try place.file("photo", Data("1".utf8)))
        let gone = place.note("gone", place.directory.appendingPathComponent("nothing"))
        let directory = place.note("directory", place.directory)
        let results = try await place.database.modifyRecords(
            saving: [good, gone, directory], deleting: [], atomically: false
        ).saveResults
        #expect(results[good.recordID]?.code == nil)
        for record in [gone, directory] {
            #expect(results[record.recordID]?.code == .assetFileNotFound)
            guard case .failure(let error)? = results[record.recordID] else { continue }
            #expect(error.detail.contains("photo"))
        }
        #expect(await code { try await place.database.save(gone) } == .assetFileNotFound)
    }

    @Test("An asset has assetBytes at most, its record fails alone")
    func limits() async throws {
        var options = CloudStore.Options.service
        options.limits.assetBytes = 1_000
        let place = try await Place(options)
        let most = place.note("most", try place.file("most", Data(count: 1_000)))
        let more = place.note("more", try place.file("more", Data(count: 1_001)))
        let results = try await place.database.modifyRecords(saving: [most, more], deleting: [], atomically: false)
            .saveResults
        #expect(results[most.recordID]?.code == nil)
        #expect(results[more.recordID]?.code == .limitExceeded)
        #expect(place.kept.count == 1)
        #expect(CloudStore.Limits.service.assetBytes == 50_000_000)
    }

    @Test("Each record's progress ends with 1 if it was saved, with 0 only if not (B267)")
    func progress() async throws {
        let place = try await Place()
        let good = place.note("good", try place.file("photo", Data("1".utf8)))
        let gone = place.note("gone", place.directory.appendingPathComponent("nothing"))
        let operation = CKModifyRecordsOperation(recordsToSave: [good, gone])
        operation.isAtomic = false
        let journal = Journal()
        operation.perRecordProgressBlock = { journal.add("\($0.recordID.recordName) \($1)") }
        operation.perRecordSaveBlock = { journal.add($0.recordName, $1) }
        await operation.finish { place.database.add($0) }
        #expect(journal.entries == ["good 1.0", "good success", "gone 0.0", "gone assetFileNotFound"])
    }

    @Test("Saving all keys sends the assets that were fetched too, and so does changing another key")
    func allKeys() async throws {
        let place = try await Place()
        let bytes = Data("1".utf8)
        try await place.database.save(place.note("a", try place.file("photo", bytes)))
        let fetched = try await place.database.record(for: place.id("a"))
        fetched["title"] = "new"
        for policy in [CKModifyRecordsOperation.RecordSavePolicy.allKeys, .changedKeys] {
            let results = try await place.database.modifyRecords(saving: [fetched], deleting: [], savePolicy: policy)
            let saved = try #require(try results.saveResults[place.id("a")]?.get())
            let url = try #require(try photo(saved).fileURL)
            #expect(try Data(contentsOf: url) == bytes && place.kept.count == 1)
        }
        // Without its file the record cannot be saved as a whole, and says so.
        for url in place.kept { try FileManager.default.removeItem(at: url) }
        let results = try await place.database.modifyRecords(
            saving: [fetched], deleting: [], savePolicy: .allKeys, atomically: false)
        #expect(results.saveResults[place.id("a")]?.code == .assetFileNotFound)
    }

    @Test("What was refused leaves no file")
    func refused() async throws {
        let place = try await Place()
        let saved = try await place.database.save(place.note("a", try place.file("photo", Data("1".utf8))))
        saved["title"] = "newer"
        try await place.database.save(saved)
        let stale = place.note("a", try place.file("other", Data("never".utf8)))
        #expect(await code { try await place.database.save(stale) } == .serverRecordChanged)
        #expect(place.kept.count == 1)
    }

    /// Notes with photos, the first of which is missing and the second damaged.
    private func damaged() async throws -> Place {
        let place = try await Place()
        for name in ["a", "b", "c"] {
            try await place.database.save(place.note(name, try place.file(name, Data("the bytes of \(name)".utf8))))
        }
        for url in place.kept {
            let text = String(decoding: try Data(contentsOf: url), as: UTF8.self)
            if text.hasSuffix("a") { try FileManager.default.removeItem(at: url) }
            if text.hasSuffix("b") { try Data("the bytes of x".utf8).write(to: url) }
        }
        return place
    }

    private static let expected: [String: CKError.Code?] = [
        "a": .assetNotAvailable, "b": .assetNotAvailable, "c": nil,
    ]

    @Test("B145: a record whose asset is missing or damaged fails alone, in fetches, queries and feeds")
    func notAvailable() async throws {
        let place = try await damaged()
        let ids = ["a", "b", "c"].map { place.id($0) }
        let fetched = try await place.database.records(for: ids)
        for id in ids { #expect(fetched[id]?.code == Self.expected[id.recordName], "\(id.recordName)") }
        #expect(await code { try await place.database.record(for: place.id("a")) } == .assetNotAvailable)
        let query = CKQuery(recordType: "Note", predicate: NSPredicate(value: true))
        let matches = try await place.database.records(matching: query, inZoneWith: place.zone).matchResults
        #expect(matches.count == 3)
        for (id, result) in matches { #expect(result.code == Self.expected[id.recordName], "\(id.recordName)") }
        let changes = try await place.database.recordZoneChanges(inZoneWith: place.zone, since: nil)
        #expect(changes.modificationResultsByID.count == 3)
        for (id, result) in changes.modificationResultsByID {
            #expect(result.code == Self.expected[id.recordName], "\(id.recordName)")
        }
        // The token has moved past them.
        let later = try await place.database.recordZoneChanges(inZoneWith: place.zone, since: changes.changeToken)
        #expect(later.modificationResultsByID.isEmpty)
    }

    @Test("B145: without the field among the desired keys the record is as any other")
    func leftOut() async throws {
        let place = try await damaged()
        let ids = ["a", "b", "c"].map { place.id($0) }
        let fetched = try await place.database.records(for: ids, desiredKeys: ["title"])
        for id in ids { #expect(try fetched[id]?.get()["title"] as? String == id.recordName) }
        let query = CKQuery(recordType: "Note", predicate: NSPredicate(value: true))
        let matches = try await place.database.records(
            matching: query, inZoneWith: place.zone, desiredKeys: ["title"]
        ).matchResults
        #expect(matches.allSatisfy { $0.1.code == nil } && matches.count == 3)
        let changes = try await place.database.recordZoneChanges(
            inZoneWith: place.zone, since: nil, desiredKeys: ["title"])
        #expect(changes.modificationResultsByID.values.allSatisfy { $0.code == nil })
        // A record with a lost asset can be changed all the same.
        let record = try #require(try fetched[place.id("a")]?.get())
        record["photo"] = CKAsset(fileURL: try place.file("again", Data("the bytes of a".utf8)))
        try await place.database.save(record)
        #expect(await code { try await place.database.record(for: place.id("a")) } == nil)
    }

    @Test("B64: an asset of a conflict's server record has no file, and stays when that record is saved")
    func conflict() async throws {
        let place = try await Place()
        let mine = try await place.database.save(place.note("a", try place.file("first", Data("first".utf8))))
        let theirs = try await place.database.record(for: place.id("a"))
        theirs["photo"] = CKAsset(fileURL: try place.file("theirs", Data("theirs".utf8)))
        try await place.database.save(theirs)
        mine["title"] = "mine"
        let error = await #expect(throws: CKError.self) { try await place.database.save(mine) }
        let (server, ancestor) = (try #require(error?.serverRecord), try #require(error?.ancestorRecord))
        #expect(try photo(server).fileURL == nil)
        #expect(try Data(contentsOf: #require(try photo(ancestor).fileURL)) == Data("first".utf8))
        server["title"] = mine["title"]
        // It can be put into another record as well: the store has the file.
        let other = CKRecord(recordType: "Note", recordID: place.id("b"))
        other["photo"] = try photo(server)
        _ = try await place.database.modifyRecords(saving: [server, other], deleting: [])
        for name in ["a", "b"] {
            let fetched = try await place.database.record(for: place.id(name))
            #expect(try Data(contentsOf: #require(try photo(fetched).fileURL)) == Data("theirs".utf8))
            #expect(fetched["title"] as? String == (name == "a" ? "mine" : nil))
        }
    }

    /// As an archive of it has it: a hash, and no file.
    private func archived(_ record: CKRecord) throws -> CKRecord {
        let data = try NSKeyedArchiver.archivedData(withRootObject: record, requiringSecureCoding: true)
        return try #require(try NSKeyedUnarchiver.unarchivedObject(ofClass: CKRecord.self, from: data))
    }

    @Test("An archived record keeps its assets, where its record in the store has them")
    func archived() async throws {
        let place = try await Place()
        let saved = try await place.database.save(place.note("a", try place.file("photo", Data("1".utf8))))
        let copy = try archived(saved)
        #expect(try photo(copy).fileURL == nil)
        copy["title"] = "new"
        copy["other"] = try photo(copy)
        let again = try await place.database.save(copy)
        let url = try #require((again["other"] as? CKAsset)?.fileURL)
        #expect(try Data(contentsOf: url) == Data("1".utf8))
        let moved = CKRecord(recordType: "Note", recordID: place.id("b"))
        moved["photo"] = try photo(copy)
        #expect(await code { try await place.database.save(moved) } == .assetFileNotFound)
        moved["photo"] = try photo(again)
        try await place.database.save(moved)
    }

    @Test("Who knows the hash of somebody's file neither gets the file nor learns that it is there")
    func hashesAreNoProof() async throws {
        let place = try await Place()
        let elsewhere = try await Place()
        let here = try archived(
            try await place.database.save(place.note("a", try place.file("secret", Data("secret".utf8)))))
        let gone = try archived(
            try await elsewhere.database.save(elsewhere.note("a", try elsewhere.file("other", Data("other1".utf8)))))
        let bert = place.store.container(user: "bert").privateCloudDatabase
        try await bert.save(CKRecordZone(zoneID: place.zone))
        var messages: [String] = []
        for record in [here, gone] {
            let stolen = CKRecord(recordType: "Note", recordID: place.id("a"))
            stolen["photo"] = try photo(record)
            let error = await #expect(throws: CKError.self) { try await bert.save(stolen) }
            #expect(error?.code == .assetFileNotFound)
            // The only difference is the hash that was named.
            messages.append(
                error?.detail.replacing(/[0-9a-f]{64}/) { _ in "HASH" } ?? "")
        }
        #expect(messages[0] == messages[1] && messages[0].contains("HASH"))
        #expect(await code { try await bert.record(for: place.id("a")) } == .unknownItem)
    }
}
