import CloudKit
import StrataTesting
import TestSupport
import Testing

/// Pages with a few Swift blocks each: these stand here line for line, are compiled, and run.
@Suite("Guide: blocks of the other pages", .timeLimit(.minutes(2)))
struct PageBlocksTests {
    @Test(
        "Every block of the page stands in this file",
        arguments: [
            ("docs/console.md", 3), ("docs/schema.md", 1), ("docs/sync-engine.md", 1),
            ("Sources/CloudKit/CloudKit.docc/CloudKit.md", 1), ("Sources/CloudKit/CloudKit.docc/Schemas.md", 2),
        ])
    func page(path: String, count: Int) throws {
        let page = try GuidePage(path)
        #expect(page.blocks.count == count)
        #expect(try page.blocksMissing(fromSource: source()) == [])
    }

    @Test("The first block of the page on assets, and the second of the one on Linux, stand in this file")
    func pagesWithOtherBlocks() throws {
        // The others are of the engine, and of a manifest.
        let assets = try GuidePage("docs/assets.md").blocksMissing(fromSource: source())
        #expect(assets.count == 1 && assets[0][0].contains("store.importAsset"))
        let linux = try GuidePage("Sources/CloudKit/CloudKit.docc/OnLinux.md").blocksMissing(fromSource: source())
        #expect(linux.count == 1 && linux[0][0].hasPrefix(".product("))
    }

    private func source() throws -> String { try String(contentsOfFile: #filePath, encoding: .utf8) }

    @Test func assets() async throws {
        let directory = try TestDirectory()
        let photoFile = URL(fileURLWithPath: directory.path("photo.jpg"))
        try Data("a photo".utf8).write(to: photoFile)
        let database = try CloudStore.inMemory().container(user: "anna").privateCloudDatabase
        let record = CKRecord(recordType: "Note")
        record["photo"] = CKAsset(fileURL: photoFile)
        try await database.save(record)
        let stored = try await database.record(for: record.recordID)
        let file = try #require((stored["photo"] as CKAsset?)?.fileURL)
        #expect(try Data(contentsOf: file) == Data("a photo".utf8))
    }

    @Test func erasure() async throws {
        let store = try CloudStore.inMemory()
        let database = store.container(user: "anna").privateCloudDatabase
        let people = try await database.save(CKRecordZone(zoneName: "People")).zoneID
        let review = CKRecord.ID(recordName: "review")
        let open = store.container(user: "anna").publicCloudDatabase
        try await open.save(CKRecord(recordType: "Review", recordID: review))
        try await database.save(CKRecord(recordType: "Card", recordID: CKRecord.ID(recordName: "card", zoneID: people)))
        let card = CKRecord.ID(recordName: "card", zoneID: people)
        try store.console.erase([card], in: .private, of: "anna", reason: "asked for on 4 May")
        try store.console.erase([review], in: .public, reason: "court order 12/26")
        for (id, database) in [(card, database), (review, open)] {
            let error = await #expect(throws: CKError.self) { try await database.record(for: id) }
            #expect(error?.code == .unknownItem)
        }
    }

    @Test func people() async throws {
        let store = try CloudStore.inMemory()
        var name = PersonNameComponents()
        name.givenName = "Anna"
        try store.console.addUser("anna", nameComponents: name, emails: ["anna@example.com"], phones: ["+14155550100"])
        try store.console.addAddress("anna@work.example", to: "anna")
        try store.console.setRole("Editors", of: ["anna", "bert"])
        try store.console.setDiscoverable(true, for: "anna")
        let found = try await store.container(user: "bert").shareParticipant(forEmailAddress: "anna@work.example")
        #expect(found.userIdentity.nameComponents?.givenName == "Anna")
    }

    @Test func sharing() async throws {
        let store = try CloudStore.inMemory()
        try store.console.addUser("ben", emails: ["ben@example.com"])
        let anna = store.container(user: "anna")
        let database = anna.privateCloudDatabase
        let zone = try await database.save(CKRecordZone(zoneName: "Lists"))
        let list = CKRecord(recordType: "List", recordID: CKRecord.ID(recordName: "list", zoneID: zone.zoneID))
        let share = CKShare(rootRecord: list)
        let guest = try await anna.shareParticipant(forEmailAddress: "ben@example.com")
        share.addParticipant(guest)
        _ = try await database.modifyRecords(saving: [list, share], deleting: [])
        let metadata = try await store.console.open(share.url!, as: "ben", device: "phone")
        let sheet = store.console.sharingSheet(for: share.recordID, of: "anna")
        try await sheet.save(share)
        try await sheet.stopSharing()
        #expect(metadata.share.recordID.recordName == share.recordID.recordName)
        let error = await #expect(throws: CKError.self) { try await database.record(for: share.recordID) }
        #expect(error?.code == .unknownItem)
    }

    @Test func schemas() async throws {
        let directory = try TestDirectory()
        let (url, schemaFile) = (
            URL(fileURLWithPath: directory.path("Notes.strata")), URL(fileURLWithPath: directory.path("Schema.ckdb"))
        )
        do {
            let store = try CloudStore(at: url)
            try store.importSchema(
                """
                DEFINE SCHEMA
                    RECORD TYPE Note (
                        title STRING QUERYABLE SORTABLE,
                        tags  LIST<STRING> QUERYABLE,
                        GRANT READ TO "_world"
                    );
                """)
            print(try store.exportSchema())
            try store.exportSchema().write(to: schemaFile, atomically: true, encoding: .utf8)
            try store.close()
        }
        do {
            var options = CloudStore.Options.service
            options.schema = .enforced
            let store = try CloudStore(at: url, options: options)
            try store.importSchema(String(contentsOf: schemaFile, encoding: .utf8))
            let database = store.container(user: "anna").privateCloudDatabase
            try await database.save(CKRecord(recordType: "Note"))
            let other = CKRecord(recordType: "Other")
            let error = await #expect(throws: CKError.self) { try await database.save(other) }
            #expect(error?.code == .invalidArguments)
            try store.close()
        }
    }

    private typealias MyApp = BenchNotes

    @Test func aBench() async throws {
        var bench = SyncBench<MyApp>(seed: 7)
        bench.deviceCount = 3
        bench.zoneID = CKRecordZone.ID(zoneName: "Notes")
        try await bench.run()
    }

    @Test func aFirstProgram() async throws {
        let directory = try TestDirectory()
        // The page names a store in the working directory, which belongs to all tests.
        // swift-format-ignore: AlwaysUseLowerCamelCase
        func URL(fileURLWithPath path: String) -> Foundation.URL {
            Foundation.URL(fileURLWithPath: directory.path(path))
        }
        func print(_ tag: String) { #expect(tag != "never saved") }
        let store = try CloudStore(at: URL(fileURLWithPath: "Notes.strata"))
        let database = store.container(user: "anna", device: "phone").privateCloudDatabase

        let note = CKRecord(recordType: "Note", recordID: CKRecord.ID(recordName: "note-1"))
        note["text"] = "Buy milk"
        let saved = try await database.save(note)
        print(saved.recordChangeTag ?? "never saved")
    }

    @Test func aQuery() async throws {
        let database = try CloudStore.inMemory().container(user: "anna").privateCloudDatabase
        for (title, price) in [("Ada", 12), ("Austerlitz", 30), ("Beloved", 9)] {
            let book = CKRecord(recordType: "Book")
            book["title"] = title
            book["price"] = price
            try await database.save(book)
        }
        let cheap = NSPredicate(format: "price < %d AND title BEGINSWITH %@", 20, "A")
        let query = CKQuery(recordType: "Book", predicate: cheap)
        query.sortDescriptors = [NSSortDescriptor(key: "title", ascending: true)]
        let (found, _) = try await database.records(matching: query)
        #expect(try found.map { try $0.1.get()["title"] as String? } == ["Ada"])
    }
}
