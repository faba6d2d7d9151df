import CloudKit
import TestSupport
import Testing

/// The guide's code under test.
final class NoteSync {
    private let database: CKDatabase
    private let zone = CKRecordZone(zoneName: "Notes")
    private var token: CKServerChangeToken?
    private var texts: [CKRecord.ID: String] = [:]

    init(_ container: CKContainer) { database = container.privateCloudDatabase }

    var notes: [String] { texts.values.sorted() }

    func save(_ text: String) async throws {
        let note = CKRecord(recordType: "Note", recordID: CKRecord.ID(zoneID: zone.zoneID))
        note["text"] = text
        do {
            try await database.save(note)
        } catch CKError.zoneNotFound {
            try await database.save(zone)
            try await database.save(note)
        }
    }

    func pull() async throws {
        do {
            var moreComing = true
            while moreComing {
                let changes = try await database.recordZoneChanges(inZoneWith: zone.zoneID, since: token)
                // A fetch without a token reports no deletions, so it replaces the texts.
                if token == nil { texts = [:] }
                for (id, change) in changes.modificationResultsByID { texts[id] = try change.get().record["text"] }
                for deletion in changes.deletions { texts[deletion.recordID] = nil }
                (token, moreComing) = (changes.changeToken, changes.moreComing)
            }
        } catch CKError.changeTokenExpired {
            token = nil
            try await pull()
        } catch CKError.zoneNotFound {}  // No device has saved a note yet.
    }
}

/// The page "Testing an app that uses CloudKit": its blocks stand here line for line, are compiled, and run.
@Suite("Guide: testing", .timeLimit(.minutes(3)))
struct TestingGuideTests {
    @Test("Every block of the page stands in this file")
    func page() throws {
        let page = try GuidePage("docs/guide/testing.md")
        #expect(page.blocks.count >= 7)
        let source = try String(contentsOfFile: #filePath, encoding: .utf8)
        #expect(page.blocksMissing(fromSource: source) == [])
    }

    @Test func aNoteReachesTheTablet() async throws {
        let store = try CloudStore.inMemory()
        let phone = NoteSync(store.container(user: "anna", device: "phone"))
        let tablet = NoteSync(store.container(user: "anna", device: "tablet"))
        try await phone.save("Buy milk")
        try await tablet.pull()
        #expect(tablet.notes == ["Buy milk"])
    }

    final class NotesApp {
        let sync = NoteSync(CKContainer(identifier: "iCloud.com.example.notes"))
    }

    @Test func anAppOnTwoDevices() async throws {
        let store = try CloudStore.inMemory()
        func app(on device: String) throws -> NotesApp {
            try CloudStore.with(store, forContainer: "iCloud.com.example.notes", user: "anna", device: device) {
                NotesApp()
            }
        }
        let (phone, tablet) = (try app(on: "phone"), try app(on: "tablet"))
        try await phone.sync.save("Buy milk")
        try await tablet.sync.pull()
        #expect(tablet.sync.notes == ["Buy milk"])
    }

    @Test func theSameInEveryRun() async throws {
        var options = CloudStore.Options.service
        let clock = CloudStore.ManualClock()
        options.clock = clock
        options.random = CloudStore.SeededRandomNumbers(seed: 1)
        let store = try CloudStore.inMemory(options: options)
        let database = store.container(user: "anna").privateCloudDatabase
        let first = try await database.save(CKRecord(recordType: "Note"))
        clock.advance(by: .seconds(3_600))
        let second = try await database.save(CKRecord(recordType: "Note"))
        let (before, after) = (try #require(first.creationDate), try #require(second.creationDate))
        #expect(after.timeIntervalSince(before) == 3_600)
    }

    @Test("What the page has the console do happens")
    func console() async throws {
        let store = try CloudStore.inMemory()
        let container = store.container(user: "anna", device: "phone")
        let phone = NoteSync(container)
        try await phone.save("Buy milk")
        try await phone.pull()
        let zone = CKRecordZone.ID(zoneName: "Notes")
        let id = CKRecord.ID(recordName: "card", zoneID: zone)
        try await container.privateCloudDatabase.save(CKRecord(recordType: "Note", recordID: id))
        let console = store.console
        try console.failNext(2, of: .modifyRecords, with: .requestRateLimited, retryAfter: 3, on: "phone")
        try console.failNext(of: .modifyRecords, with: .zoneBusy, scope: .item)  // one item of a request
        try console.loseNextResponse(on: "phone")  // the request is applied, but the phone gets serverResponseLost
        try console.expireTokens(before: store.offset + 1)  // changeTokenExpired for every device
        try console.setNetwork(.unavailable, on: "tablet")  // also .slow(.seconds(1)), .cellularOnly
        try console.setAccountStatus(.temporarilyUnavailable, of: "anna")  // posts CKAccountChanged
        try console.setQuota(bytes: 5_000_000, of: "anna")  // quotaExceeded
        try console.erase([id], in: .private, of: "anna", reason: "asked for")  // gone from every file
        try console.purgeZone(CKRecordZone.ID(zoneName: "Notes"), of: "anna")  // userDeletedZone
        try console.resetEncryptedData(of: "anna")  // ends the zones that have encrypted values
        var codes: [CKError.Code?] = []
        for _ in 1...3 { codes.append(await failure { try await phone.save("A") }) }
        try console.setAccountStatus(.available, of: "anna")
        codes.append(await failure { try await phone.save("A") })
        codes.append(await failure { try await phone.save("A") })
        let tablet = NoteSync(store.container(user: "anna", device: "tablet"))
        codes.append(await failure { try await tablet.pull() })
        codes.append(await failure { try await phone.pull() })
        #expect(
            codes == [
                .requestRateLimited, .requestRateLimited, .accountTemporarilyUnavailable, .zoneBusy, .userDeletedZone,
                .networkUnavailable, .userDeletedZone,
            ])
    }

    private func failure(_ call: () async throws -> Void) async -> CKError.Code? {
        do {
            try await call()
            return nil
        } catch {
            return (error as? CKError)?.code
        }
    }

    @Test(arguments: 1...1_000 as ClosedRange<UInt64>)
    func devicesAgreeWhateverHappens(seed: UInt64) async throws {
        let store = try CloudStore.inMemory()
        let phone = NoteSync(store.container(user: "anna", device: "phone"))
        let tablet = NoteSync(store.container(user: "anna", device: "tablet"))
        let plan = CloudStore.FaultPlan(seed: seed)
        try store.console.setFaultPlan(plan)
        for day in 1...5 {
            try? await phone.save("phone \(day)")
            try? await tablet.save("tablet \(day)")
            try? await tablet.pull()
            try? await phone.pull()
        }
        try store.console.clearFaults()
        try await phone.save("the end")
        try await phone.pull()
        try await tablet.pull()
        #expect(phone.notes == tablet.notes, "\(plan)")
    }

    @Test func theTabletIsNotified() async throws {
        let store = try CloudStore.inMemory()
        let phone = NoteSync(store.container(user: "anna", device: "phone"))
        let tablet = store.container(user: "anna", device: "tablet")
        try await phone.save("Buy milk")
        let zoneID = CKRecordZone.ID(zoneName: "Notes")
        let subscription = CKRecordZoneSubscription(zoneID: zoneID, subscriptionID: "notes")
        try await tablet.privateCloudDatabase.save(subscription)
        let pushes = tablet.remoteNotifications
        try await phone.save("Buy bread")
        for await push in pushes {
            let note = CKNotification(fromRemoteNotificationDictionary: push.userInfo)
            #expect(note?.subscriptionID == "notes")
            // An app would get it in `application(_:didReceiveRemoteNotification:)`.
            break
        }
    }

    @Test("The page's playback shows the code under test each commit")
    func playback() async throws {
        let directory = try TestDirectory()
        // The page names a store in the working directory, which belongs to all tests.
        // swift-format-ignore: AlwaysUseLowerCamelCase
        func URL(fileURLWithPath path: String) -> Foundation.URL {
            Foundation.URL(fileURLWithPath: directory.path(path))
        }
        do {
            let store = try CloudStore(at: URL(fileURLWithPath: "Notes.strata"))
            let phone = NoteSync(store.container(user: "anna", device: "phone"))
            for text in ["a", "b", "c"] { try await phone.save(text) }
            try store.close()
        }
        let store = try CloudStore(at: URL(fileURLWithPath: "Notes.strata"))
        let playback = try store.playback(from: 3)
        let sync = NoteSync(playback.container(user: "anna", device: "tablet"))
        while let commit = try playback.step() {
            try await sync.pull()
            print(commit.offset, commit.date, sync.notes)
        }
        #expect(sync.notes == ["a", "b", "c"])
        try store.close()
    }
}
