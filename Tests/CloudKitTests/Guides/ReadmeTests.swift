import CloudKit
import TestSupport
import Testing

/// README: its test stands here line for line, and each row of its comparison is a test.
@Suite("README", .timeLimit(.minutes(2)))
struct ReadmeTests {
    private static func source() throws -> String { try String(contentsOfFile: #filePath, encoding: .utf8) }

    /// The first cells of the rows of the comparison, without links.
    private static func rows() throws -> [String] {
        let root = #filePath.split(separator: "/", omittingEmptySubsequences: false).dropLast(4)
            .joined(separator: "/")
        let page = try String(contentsOfFile: "\(root)/README.md", encoding: .utf8)
        let section = try #require(page.components(separatedBy: "\n## ").first { $0.hasPrefix("How it compares") })
        return section.split(separator: "\n").filter { $0.hasPrefix("| ") && !$0.hasPrefix("| |") }
            .compactMap { $0.split(separator: "|").first?.trimmingCharacters(in: .whitespaces) }
    }

    @Test("The test of the page stands in this file, and each row of its comparison is a test")
    func page() throws {
        let page = try GuidePage("README.md")
        let missing = try page.blocksMissing(fromSource: Self.source())
        #expect(page.blocks.contains { $0.first?.hasPrefix("@Test") == true })
        // The other block is of a manifest.
        #expect(missing.count == 1 && missing[0].first?.hasPrefix("dependencies:") == true)
        let rows = try Self.rows()
        #expect(rows.count >= 4)
        for row in rows { #expect(try Self.source().contains("@Test(\"\(row)\")"), "no test is called \(row)") }
    }

    @Test func aLateSaveIsAConflict() async throws {
        let store = try CloudStore.inMemory()
        let phone = store.container(user: "anna", device: "phone").privateCloudDatabase
        let tablet = store.container(user: "anna", device: "tablet").privateCloudDatabase
        let note = try await phone.save(CKRecord(recordType: "Note"))
        let copy = try await tablet.record(for: note.recordID)
        note["text"] = "Buy milk"
        try await phone.save(note)
        copy["text"] = "Buy bread"  // based on an outdated version
        let error = await #expect(throws: CKError.self) { try await tablet.save(copy) }
        #expect(error?.code == .serverRecordChanged && error?.serverRecord?["text"] == "Buy milk")
    }

    @Test("runs on Linux, without an Apple account")
    func runsOnLinux() async throws {
        let container = try CloudStore.inMemory().container(user: "anna")
        #expect(try await container.accountStatus() == .available)
        #expect(try await container.privateCloudDatabase.save(CKRecord(recordType: "Note")).creationDate != nil)
    }

    @Test("applies the server's rules, such as conflicts and cascades")
    func appliesRules() async throws {
        let database = try CloudStore.inMemory().container(user: "anna").privateCloudDatabase
        let list = try await database.save(CKRecord(recordType: "List"))
        let item = CKRecord(recordType: "Item")
        item["list"] = CKRecord.Reference(record: list, action: .deleteSelf)
        let saved = try await database.save(item)
        #expect(saved.recordChangeTag != nil)
        try await database.deleteRecord(withID: list.recordID)
        let error = await #expect(throws: CKError.self) { try await database.record(for: saved.recordID) }
        #expect(error?.code == .unknownItem)
    }

    @Test("shows participants nothing but what is shared")
    func showsSharedRecords() async throws {
        let store = try CloudStore.inMemory()
        let (anna, ben) = (store.container(user: "anna"), store.container(user: "ben"))
        let zone = try await anna.privateCloudDatabase.save(CKRecordZone(zoneName: "Lists"))
        let list = CKRecord(recordType: "List", recordID: CKRecord.ID(recordName: "list", zoneID: zone.zoneID))
        let other = CKRecord(recordType: "List", recordID: CKRecord.ID(recordName: "other", zoneID: zone.zoneID))
        let share = CKShare(rootRecord: list)
        share.publicPermission = .readOnly
        _ = try await anna.privateCloudDatabase.modifyRecords(saving: [list, share, other], deleting: [])
        let url = try #require(share.url)
        try await ben.accept(ben.shareMetadata(for: url))
        let zones = try await ben.sharedCloudDatabase.allRecordZones()
        let shared = try #require(zones.first?.zoneID)
        let seen = try await ben.sharedCloudDatabase.record(for: CKRecord.ID(recordName: "list", zoneID: shared))
        #expect(seen.recordType == "List")
        let hidden = CKRecord.ID(recordName: "other", zoneID: shared)
        let error = await #expect(throws: CKError.self) { try await ben.sharedCloudDatabase.record(for: hidden) }
        #expect(error?.code == .unknownItem)
    }

    @Test("fails on demand, and again from the same seed")
    func failsOnDemand() async throws {
        func outcomes(seed: UInt64) async throws -> [Int?] {
            let store = try CloudStore.inMemory()
            let database = store.container(user: "anna").privateCloudDatabase
            try store.console.setFaultPlan(CloudStore.FaultPlan(seed: seed))
            var codes: [Int?] = []
            for number in 1...50 {
                let note = CKRecord(recordType: "Note", recordID: CKRecord.ID(recordName: "\(number)"))
                do { _ = try await database.save(note) } catch let error as CKError {
                    codes.append(error.errorCode)
                    continue
                }
                codes.append(nil)
            }
            return codes
        }
        let first = try await outcomes(seed: 7)
        #expect(first.contains(nil) && first.contains { $0 != nil })
        #expect(try await outcomes(seed: 7) == first)
        #expect(try await outcomes(seed: 8) != first)
    }

    @Test("keeps the history of every record")
    func keepsHistory() async throws {
        let store = try CloudStore.inMemory()
        let database = store.container(user: "anna").privateCloudDatabase
        let note = CKRecord(recordType: "Note")
        note["text"] = "first"
        try await database.save(note)
        let before = store.offset
        note["text"] = "second"
        try await database.save(note)
        let past = try store.asOf(before).container(user: "anna").privateCloudDatabase
        #expect(try await past.record(for: note.recordID)["text"] == "first")
        #expect(try await database.record(for: note.recordID)["text"] == "second")
    }

    @Test("keeps the data on disk")
    func keepsData() async throws {
        let directory = try TestDirectory()
        let url = Foundation.URL(fileURLWithPath: directory.path("Notes.strata"))
        let note = CKRecord(recordType: "Note")
        let store = try CloudStore(at: url)
        try await store.container(user: "anna").privateCloudDatabase.save(note)
        try store.close()
        let again = try CloudStore(at: url)
        let found = try await again.container(user: "anna").privateCloudDatabase.record(for: note.recordID)
        #expect(found.recordChangeTag == note.recordChangeTag && found.recordType == "Note")
        try again.close()
    }
}
