import CloudKit
import StrataModel
import TestSupport
import Testing

@testable import CloudKit

@Suite("Stores that are played again", .timeLimit(.minutes(2)))
struct PlaybackTests {
    enum Ground: CaseIterable, Sendable { case memory, disk }

    private let zone = CKRecordZone.ID(zoneName: "Notes")
    private let directory: TestDirectory
    private let clock = CloudStore.ManualClock(Date(timeIntervalSince1970: 1_000))

    init() throws { directory = try TestDirectory() }

    private func open(_ ground: Ground) throws -> CloudStore {
        var options = CloudStore.Options.service
        options.clock = clock
        return switch ground {
        case .memory: try CloudStore.inMemory(options: options)
        case .disk: try CloudStore(at: URL(fileURLWithPath: directory.path("Notes.strata")), options: options)
        }
    }

    private func note(_ name: String, _ text: String) -> CKRecord {
        let record = CKRecord(recordType: "Note", recordID: CKRecord.ID(recordName: name, zoneID: zone))
        record["text"] = text
        return record
    }

    /// Six commits, ten seconds apart: a zone, a note, a subscription of the tablet, another note, that note again, and
    /// it is gone.
    private func fill(_ store: CloudStore) async throws {
        let phone = store.container(user: "anna", device: "phone").privateCloudDatabase
        let tablet = store.container(user: "anna", device: "tablet").privateCloudDatabase
        try await phone.save(CKRecordZone(zoneID: zone))
        clock.advance(by: .seconds(10))
        try await phone.save(note("z", "other"))
        clock.advance(by: .seconds(10))
        let subscription = CKQuerySubscription(
            recordType: "Note", predicate: NSPredicate(value: true), subscriptionID: "notes",
            options: [.firesOnRecordCreation, .firesOnRecordUpdate, .firesOnRecordDeletion])
        try await tablet.save(subscription)
        clock.advance(by: .seconds(10))
        let first = note("a", "first")
        let file = URL(fileURLWithPath: directory.path("photo"))
        try Data("a photo".utf8).write(to: file)
        first["photo"] = CKAsset(fileURL: file)
        first.encryptedValues["secret"] = "hidden"
        let saved = try await phone.save(first)
        clock.advance(by: .seconds(10))
        saved["text"] = "second"
        try await phone.save(saved)
        clock.advance(by: .seconds(10))
        try await phone.deleteRecord(withID: first.recordID)
    }

    @Test("What clients read, follow and are told comes again, step by step", arguments: Ground.allCases)
    func steps(ground: Ground) async throws {
        let store = try open(ground)
        try await fill(store)
        let playback = try store.playback()
        #expect(playback.offset == 0 && playback.date == nil)
        let tablet = playback.container(user: "anna", device: "tablet")
        #expect(tablet === playback.container(user: "anna", device: "tablet"))
        let database = tablet.privateCloudDatabase
        let made = try #require(try playback.step())
        #expect(made.user == "anna" && made.device == "phone" && made.date == Date(timeIntervalSince1970: 1_000))
        #expect(try await database.allRecordZones().map(\.zoneID.zoneName).contains("Notes"))
        var token = try await database.recordZoneChanges(inZoneWith: zone, since: nil).changeToken
        for _ in 0..<2 { try playback.step() }
        var pushes = tablet.remoteNotifications.makeAsyncIterator()
        #expect(try playback.step()?.offset == playback.offset)
        let push = try #require(await pushes.next())
        #expect(push.subscriptionID == "notes")
        let told = CKNotification(fromRemoteNotificationDictionary: push.userInfo) as? CKQueryNotification
        #expect(told?.recordID?.recordName == "a" && told?.queryNotificationReason == .recordCreated)
        let id = CKRecord.ID(recordName: "a", zoneID: zone)
        let first = try await database.record(for: id)
        #expect(first["text"] as? String == "first" && first.encryptedValues["secret"] as? String == "hidden")
        #expect(first.modificationDate == Date(timeIntervalSince1970: 1_030))
        let photo = try #require((first["photo"] as? CKAsset)?.fileURL)
        #expect(try Data(contentsOf: photo) == Data("a photo".utf8))
        let page = try await database.recordZoneChanges(inZoneWith: zone, since: token)
        #expect(page.modificationResultsByID.keys.map(\.recordName).sorted() == ["a", "z"])
        token = page.changeToken
        try playback.step()
        _ = await pushes.next()
        let query = CKQuery(recordType: "Note", predicate: NSPredicate(format: "text == 'second'"))
        #expect(try await database.records(matching: query, inZoneWith: zone).matchResults.count == 1)
        try playback.step()
        #expect(try await database.recordZoneChanges(inZoneWith: zone, since: token).deletions.count == 1)
        #expect(try playback.step() == nil && playback.isAtEnd && playback.offset == store.offset)
        // A token of the playback is one of the store.
        let live = store.container(user: "anna", device: "tablet").privateCloudDatabase
        #expect(try await live.recordZoneChanges(inZoneWith: zone, since: token).deletions.count == 1)
        try playback.close()
        #expect(await code { try await database.record(for: id) } == .serviceUnavailable)
        try store.close()
    }

    @Test("It is played to its end, and a feed is followed meanwhile", arguments: Ground.allCases)
    func plays(ground: Ground) async throws {
        let store = try open(ground)
        try await fill(store)
        let playback = try store.playback(from: 3)
        let database = playback.container(user: "anna", device: "tablet").privateCloudDatabase
        let token = try await database.databaseChanges(since: nil).changeToken
        #expect(playback.offset == 3)
        playback.play()
        let changes = Task {
            var iterator = database.changes(after: token).makeAsyncIterator()
            return try await iterator.next()?.get().modifications.map(\.zoneID.zoneName)
        }
        try await playback.waitForEnd()
        #expect(try await changes.value == ["Notes"])
        var offsets: [UInt64] = []
        for try await commit in playback.commits { offsets.append(commit.offset) }
        #expect(offsets == [4, 5, 6])
        try playback.close()
        try store.close()
    }

    @Test("Nothing of it can be changed, and what cannot be played is told")
    func bounds() async throws {
        let store = try open(.disk)
        try await fill(store)
        let playback = try store.playback(from: 4)
        let database = playback.container(user: "anna", device: "phone").privateCloudDatabase
        #expect(await code { try await database.save(note("b", "x")) } == .serverRejectedRequest)
        #expect(await code { try await database.save(CKRecordZone(zoneName: "Other")) } == .serverRejectedRequest)
        #expect(await code { try playback.store.console.setQuota(bytes: 1, of: "anna") } == .serverRejectedRequest)
        try playback.close()
        #expect(await code { try store.playback(from: 99) } == .invalidArguments)
        #expect(await code { try store.playback(through: 99) } == .invalidArguments)
        try store.console.compact(before: 4)
        #expect(await code { try store.playback(from: 1) } == .invalidArguments)
        #expect(try store.playback().offset == 3)
        try store.close()
        #expect(await code { try store.playback() } == .serviceUnavailable)
    }

    @Test("Pushes wait for an account that cannot be used, until the log lets it be used again")
    func accounts() async throws {
        let store = try open(.memory)
        try await fill(store)
        let before = store.offset
        try store.console.setAccountStatus(.temporarilyUnavailable, of: "anna")
        try store.console.setAccountStatus(.available, of: "anna")
        let phone = store.container(user: "anna", device: "phone").privateCloudDatabase
        try await phone.save(note("b", "later"))
        let playback = try store.playback(from: before)
        let tablet = playback.container(user: "anna", device: "tablet")
        let stream = tablet.remoteNotifications
        try playback.step()
        let told = Task {
            var pushes = stream.makeAsyncIterator()
            return await pushes.next()?.subscriptionID
        }
        try await Task.sleep(for: .milliseconds(20))
        while try playback.step() != nil {}
        #expect(await told.value == "notes")
        try playback.close()
        try store.close()
    }
}
