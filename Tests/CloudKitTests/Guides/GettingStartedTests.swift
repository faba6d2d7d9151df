import CloudKit
import TestSupport
import Testing

/// The page "Getting started": its blocks stand here line for line, are compiled, and run.
@Suite("Guide: getting started", .timeLimit(.minutes(2)))
struct GettingStartedTests {
    @Test("Every block of the page stands in this file")
    func page() throws {
        let page = try GuidePage("Sources/CloudKit/CloudKit.docc/GettingStarted.md")
        #expect(page.blocks.count >= 6)
        let source = try String(contentsOfFile: #filePath, encoding: .utf8)
        #expect(page.blocksMissing(fromSource: source) == [])
    }

    @Test("Canary: a block that is changed in the page is missing from the test")
    func canary() throws {
        let source = "func f() {\n    let a = 1\n\n    let b = 2\n}\n"
        #expect(GuidePage(text: "```swift\nlet a = 1\nlet b = 2\n```\n").blocksMissing(fromSource: source) == [])
        #expect(
            GuidePage(text: "```swift\nlet a = 1\nlet b = 3\n```\n").blocksMissing(fromSource: source)
                == [["let a = 1", "let b = 3"]])
        #expect(GuidePage(text: "```swift\nlet b = 2\nlet a = 1\n```\n").blocksMissing(fromSource: source).count == 1)
        // Imports stand at the beginning of a file, but they must be there.
        let importing = GuidePage(text: "```swift\nimport A\n\nlet a = 1\n```\n")
        #expect(importing.blocksMissing(fromSource: "import B\nimport A\n" + source) == [])
        #expect(importing.blocksMissing(fromSource: "import B\n" + source).count == 1)
    }

    @Test("The page's program saves, merges a conflict and follows the changes")
    func program() async throws {
        let directory = try TestDirectory()
        // The page names a store in the working directory, which belongs to all tests.
        // swift-format-ignore: AlwaysUseLowerCamelCase
        func URL(fileURLWithPath path: String) -> Foundation.URL {
            Foundation.URL(fileURLWithPath: directory.path(path))
        }
        let store = try CloudStore(at: URL(fileURLWithPath: "Notes.strata"))
        let phone = store.container(user: "anna", device: "phone")
        let tablet = store.container(user: "anna", device: "tablet")

        let database = phone.privateCloudDatabase
        let zone = CKRecordZone(zoneName: "Notes")
        try await database.save(zone)

        let id = CKRecord.ID(recordName: "list", zoneID: zone.zoneID)
        let list = CKRecord(recordType: "Note", recordID: id)
        list["items"] = ["Milk", "Bread"]
        list["due"] = Date()
        try await database.save(list)

        let fetched = try await database.record(for: id)
        let items: [String] = fetched["items"] ?? []

        #expect(items == ["Milk", "Bread"])
        let onTablet = try await tablet.privateCloudDatabase.record(for: id)
        onTablet["owner"] = "tablet"
        try await tablet.privateCloudDatabase.save(onTablet)
        list["items"] = items + ["Butter"]

        do {
            try await database.save(list)
        } catch CKError.zoneNotFound {
            try await database.save(zone)
        } catch let error as CKError where error.code == .serverRecordChanged {
            // Another device saved first. Change its version, and save that.
            guard let server = error.serverRecord else { throw error }
            server["items"] = items + ["Butter"]
            try await database.save(server)
        }
        let merged = try await database.record(for: id)
        #expect(merged["items"] == ["Milk", "Bread", "Butter"])
        #expect(merged["owner"] == "tablet")

        let subscription = CKRecordZoneSubscription(zoneID: zone.zoneID, subscriptionID: "notes")
        subscription.notificationInfo = CKSubscription.NotificationInfo(shouldSendContentAvailable: true)
        try await database.save(subscription)

        try await operation(saving: merged, in: database)
        let cache = try await follow(FirstPush(container: tablet), zone)
        #expect(cache[id]?["items"] == ["Milk", "Bread", "Butter"])
        try store.close()
    }

    /// A container whose notifications end with the first, as the page's loop goes on for ever.
    private struct FirstPush {
        let container: CKContainer
        var privateCloudDatabase: CKDatabase { container.privateCloudDatabase }
        var remoteNotifications: some AsyncSequence<RemoteNotification, Never> {
            container.remoteNotifications.prefix(1)
        }
    }

    private func follow(_ tablet: FirstPush, _ zone: CKRecordZone) async throws -> [CKRecord.ID: CKRecord] {
        var token: CKServerChangeToken?
        var cache: [CKRecord.ID: CKRecord] = [:]
        for await _ in tablet.remoteNotifications {
            let changes = try await tablet.privateCloudDatabase.recordZoneChanges(inZoneWith: zone.zoneID, since: token)
            for (id, change) in changes.modificationResultsByID { cache[id] = try change.get().record }
            for deletion in changes.deletions { cache[deletion.recordID] = nil }
            token = changes.changeToken
        }
        #expect(token != nil)
        return cache
    }

    private func operation(saving list: CKRecord, in database: CKDatabase) async throws {
        list["due"] = Date(timeIntervalSince1970: 0)
        let operation = CKModifyRecordsOperation(recordsToSave: [list], recordIDsToDelete: nil)
        operation.configuration.qualityOfService = .userInitiated
        operation.perRecordSaveBlock = { id, result in print(id.recordName, result) }
        operation.modifyRecordsResultBlock = { result in print("done", result) }
        database.add(operation)
        #expect(try await awaited { operation.isFinished })
    }
}
