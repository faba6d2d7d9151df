import CloudKit
import StrataSystem
import Testing

@testable import CloudKit

/// Notifications as a program gets them: B186 to B194.
@Suite("Remote notifications", .timeLimit(.minutes(1)))
struct RemoteNotificationTests {
    private let notes: NotesStore
    private let phone: CKContainer
    private let tablet: CKContainer
    private var zone: CKRecordZone.ID { notes.zone }

    init() async throws {
        notes = try await NotesStore()
        phone = notes.phone
        tablet = notes.store.container(user: "anna", device: "tablet")
        // A query is subscribed to when its type and keys are known.
        let fields: [String: any CKRecordValueProtocol] = ["title": "t", "priority": 0, "due": Date()]
        try await tablet.privateCloudDatabase.save(note("known", fields))
    }

    private func note(_ name: String, _ fields: [String: any CKRecordValueProtocol] = [:]) -> CKRecord {
        let record = CKRecord(recordType: "Note", recordID: .init(recordName: name, zoneID: zone))
        for (key, value) in fields { record[key] = value }
        return record
    }

    private func first(_ stream: AsyncStream<RemoteNotification>) async throws -> RemoteNotification {
        for await push in stream { return push }
        throw CKError(.internalError)
    }

    @Test("B191 B192 B190 a query's notification: reason, record, desired fields, alert, badge")
    func query() async throws {
        let subscription = CKQuerySubscription(
            recordType: "Note", predicate: NSPredicate(format: "priority > 3"), subscriptionID: "urgent",
            options: [.firesOnRecordCreation, .firesOnRecordDeletion])
        subscription.notificationInfo = .init(
            alertLocalizationKey: "urgent", alertLocalizationArgs: ["title"], soundName: "ping",
            desiredKeys: ["title", "priority", "due"], shouldBadge: true, category: "notes", collapseIDKey: "one")
        try await phone.privateCloudDatabase.save(subscription)
        let pushes = phone.remoteNotifications
        let due = Date(timeIntervalSinceReferenceDate: 1_000)
        let title = String(repeating: "é", count: 150)
        try await tablet.privateCloudDatabase.save(note("a", ["priority": 1]))
        try await tablet.privateCloudDatabase.save(note("b", ["priority": 5, "title": title, "due": due]))
        let push = try await first(pushes)
        #expect(push.isVisible && push.priority == .immediate && push.subscriptionID == "urgent")
        #expect(push.collapseID == "one")
        let created = try #require(
            CKNotification(fromRemoteNotificationDictionary: push.userInfo) as? CKQueryNotification)
        #expect(created.queryNotificationReason == .recordCreated && created.databaseScope == .private)
        #expect(created.recordID == CKRecord.ID(recordName: "b", zoneID: zone) && !created.isPruned)
        #expect(created.recordFields?["title"] as? String == String(title.prefix(100)))
        #expect(created.recordFields?["priority"] as? Int == 5 && created.recordFields?["due"] as? Date == due)
        #expect(created.subscriptionID == "urgent" && created.notificationID != nil)
        #expect(created.containerIdentifier == phone.containerIdentifier)
        let me = try await phone.userRecordID()
        #expect(created.subscriptionOwnerUserRecordID?.recordName == me.recordName)
        let shown = try #require(push.userInfo["aps"] as? [AnyHashable: Any])
        let alert = try #require(shown["alert"] as? [String: Any])
        #expect(
            alert["loc-key"] as? String == "urgent" && alert["loc-args"] as? [String] == [String(title.prefix(100))])
        #expect(shown["badge"] as? Int == 1 && shown["sound"] as? String == "ping")
        #expect(shown["category"] as? String == "notes" && shown["content-available"] == nil)
        try await tablet.privateCloudDatabase.deleteRecord(withID: .init(recordName: "b", zoneID: zone))
        // Who listens again is told of what comes, not of what was told.
        let next = try await first(phone.remoteNotifications)
        let deleted = try #require(CKQueryNotification(fromRemoteNotificationDictionary: next.userInfo))
        #expect(deleted.queryNotificationReason == .recordDeleted && deleted.recordFields == nil)
    }

    @Test("B189 B192 silent notifications: of a database without information, of a zone that only wakes")
    func silent() async throws {
        let database = CKDatabaseSubscription(subscriptionID: "database")
        let zoned = CKRecordZoneSubscription(zoneID: zone, subscriptionID: "zone")
        zoned.notificationInfo = .init(shouldSendContentAvailable: true)
        _ = try await phone.privateCloudDatabase.modifySubscriptions(saving: [database, zoned], deleting: [])
        let pushes = phone.remoteNotifications
        try await tablet.privateCloudDatabase.save(note("a"))
        var found: [String: CKNotification] = [:]
        for await push in pushes {
            #expect(!push.isVisible && push.priority == .background && push.collapseID == nil)
            #expect((push.userInfo["aps"] as? [AnyHashable: Any])?["content-available"] as? Int == 1)
            found[push.subscriptionID] = CKNotification(fromRemoteNotificationDictionary: push.userInfo)
            if found.count == 2 { break }
        }
        #expect((found["database"] as? CKDatabaseNotification)?.databaseScope == .private)
        #expect((found["zone"] as? CKRecordZoneNotification)?.recordZoneID == zone)
    }

    @Test("B193 what does not fit is left out, the desired fields first")
    func pruned() async throws {
        let subscription = CKQuerySubscription(
            recordType: "Note", predicate: NSPredicate(value: true), subscriptionID: "all",
            options: [.firesOnRecordCreation])
        subscription.notificationInfo = .init(
            alertBody: String(repeating: "b", count: 3_700), title: "short", desiredKeys: ["title"])
        try await phone.privateCloudDatabase.save(subscription)
        let pushes = phone.remoteNotifications
        try await tablet.privateCloudDatabase.save(note("a", ["title": String(repeating: "t", count: 100)]))
        let push = try await first(pushes)
        let note = try #require(CKQueryNotification(fromRemoteNotificationDictionary: push.userInfo))
        #expect(note.isPruned && note.recordFields == nil && note.recordID?.recordName == "a")
        let alert = (push.userInfo["aps"] as? [AnyHashable: Any])?["alert"] as? [String: Any]
        #expect((alert?["body"] as? String)?.count == 3_700 && alert?["title"] as? String == "short")
    }

    @Test("Nobody who is not signed in is told anything; a stream ends with its store")
    func ends() async throws {
        var count = 0
        for await _ in notes.store.container(user: nil).remoteNotifications { count += 1 }
        let pushes = phone.remoteNotifications
        try notes.store.close()
        for await _ in pushes { count += 1 }
        for await _ in tablet.remoteNotifications { count += 1 }
        #expect(count == 0)
    }

    @Test("A database is followed without polling, from any token, until the task ends")
    func following() async throws {
        let database = phone.privateCloudDatabase
        let token = try await database.databaseChanges(since: nil).changeToken
        let found = Lock<[String]>([])
        let follower = Task { () -> CKServerChangeToken? in
            for await change in database.changes(after: token) {
                let page = try change.get()
                found.withLock { found in
                    found += page.modifications.map(\.zoneID.zoneName) + page.deletions.map { "-\($0.zoneID.zoneName)" }
                }
                if page.deletions.isEmpty == false { return page.changeToken }
            }
            return nil
        }
        try await tablet.privateCloudDatabase.save(note("a"))
        let other = try await tablet.privateCloudDatabase.save(CKRecordZone(zoneName: "Other")).zoneID
        while found.withLock({ !$0.contains("Other") }) { await Task.yield() }
        _ = try await tablet.privateCloudDatabase.deleteRecordZone(withID: other)
        let last = try #require(try await follower.value)
        #expect(found.withLock { Set($0) } == ["Notes", "Other", "-Other"])
        #expect(try await database.databaseChanges(since: last).modifications.isEmpty)
        // A task that is cancelled ends, and so does one whose token is of no use.
        let waiting = Task { for await _ in database.changes(after: last) {} }
        waiting.cancel()
        await waiting.value
        var errors: [CKError.Code] = []
        for await change in database.changes(after: CKServerChangeToken(bytes: [1])) {
            if case .failure(let error) = change { errors.append(error.code) }
        }
        #expect(errors == [.invalidArguments])
    }
}
