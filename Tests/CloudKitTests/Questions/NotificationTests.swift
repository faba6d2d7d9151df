import CloudKit
import Testing

@Suite("Subscriptions and notifications as values")
struct NotificationTests {
    private func payload(_ kind: String, _ details: [String: Any], pruned: Bool = false) -> [AnyHashable: Any] {
        [
            "aps": ["content-available": 1],
            "ck": [
                "ce": 2, "cid": "iCloud.a.b", "ckuserid": "_u", "nid": "n-1", "p": pruned ? 1 : 0, kind: details,
            ] as [String: Any],
        ]
    }

    @Test("The initialiser gives the subclass that the payload is of")
    func subclasses() throws {
        let zone: [String: Any] = ["sid": "s", "zid": "Notes", "zoid": "__defaultOwner__", "dbs": 1]
        let note = try #require(CKNotification(fromRemoteNotificationDictionary: payload("fet", zone)))
        let zoneNote = try #require(note as? CKRecordZoneNotification)
        #expect(zoneNote.recordZoneID == CKRecordZone.ID(zoneName: "Notes"))
        #expect(zoneNote.databaseScope == .private && zoneNote.notificationType == .recordZone)
        #expect(note.subscriptionID == "s" && note.containerIdentifier == "iCloud.a.b" && !note.isPruned)
        #expect(note.subscriptionOwnerUserRecordID?.recordName == "_u")

        let shared = CKNotification(fromRemoteNotificationDictionary: payload("met", ["sid": "s", "dbs": 3]))
        #expect((shared as? CKDatabaseNotification)?.databaseScope == .shared)
        #expect(CKQueryNotification(fromRemoteNotificationDictionary: payload("met", ["sid": "s"])) == nil)
    }

    @Test("Numbers that are none of the expected are no trap")
    func wildNumbers() throws {
        for number in [1e300, -1e300, .nan, .infinity, 0.5] {
            for wild in [number as Any, NSNumber(value: number)] {
                var dictionary = payload("qry", ["sid": "s", "rid": "r", "fo": wild, "dbs": wild])
                dictionary["aps"] = ["badge": wild]
                let note = try #require(CKQueryNotification(fromRemoteNotificationDictionary: dictionary))
                #expect(note.databaseScope == .private && note.queryNotificationReason == .recordUpdated)
            }
        }
    }

    @Test("B191, B193: what a query notification tells")
    func queries() throws {
        let details: [String: Any] = ["sid": "s", "rid": "r", "zid": "Notes", "fo": 1, "dbs": 2, "af": ["title": "x"]]
        let created = CKNotification(fromRemoteNotificationDictionary: payload("qry", details, pruned: true))
        let note = try #require(created as? CKQueryNotification)
        #expect(note.recordID == CKRecord.ID(recordName: "r", zoneID: CKRecordZone.ID(zoneName: "Notes")))
        #expect(note.queryNotificationReason == .recordCreated && note.databaseScope == .public && note.isPruned)
        #expect(note.recordFields?["title"] as? String == "x")
        #expect(
            note.notificationID
                == CKQueryNotification(
                    fromRemoteNotificationDictionary: payload("qry", details))?.notificationID)

        let deletion = details.merging(["fo": 3]) { $1 }
        let deleted = CKQueryNotification(fromRemoteNotificationDictionary: payload("qry", deletion))
        #expect(deleted?.queryNotificationReason == .recordDeleted && deleted?.recordFields == nil)
    }

    @Test("What is no notification of ours is nil, and nothing that is malformed traps")
    func malformed() {
        let dictionaries: [[AnyHashable: Any]] = [
            [:], ["aps": ["alert": "hi"]], ["ck": 3], ["ck": ["ce": 2]], ["ck": ["qry": 5]], [7: "ck"],
        ]
        for dictionary in dictionaries { #expect(CKNotification(fromRemoteNotificationDictionary: dictionary) == nil) }
        let odd = payload("qry", ["sid": 3, "rid": [1], "fo": "x", "dbs": -1, "af": [3: 4, "a": NSNull()]])
        let note = CKQueryNotification(fromRemoteNotificationDictionary: odd)
        #expect(note?.subscriptionID == nil && note?.recordID == nil && note?.recordFields?.isEmpty == true)
    }

    @Test("Information is copied when it is set, and has every property that it is made with")
    func information() {
        let info = CKSubscription.NotificationInfo(alertBody: "a", desiredKeys: ["k"], shouldBadge: true)
        let subscription = CKDatabaseSubscription(subscriptionID: "s")
        subscription.notificationInfo = info
        info.alertBody = "b"
        #expect(subscription.notificationInfo?.alertBody == "a")
        #expect(info.shouldBadge && info.desiredKeys == ["k"] && info.title == nil)
        info.titleLocalizationArgs = ["t"]
        #expect(info.titleLocalizationArgs == ["t"] && info.subtitleLocalizationArgs == nil)
    }

    @Test("Subscriptions have the types and options that they were made with")
    func subscriptions() {
        let query = CKQuerySubscription(
            recordType: "T", predicate: NSPredicate(value: true), subscriptionID: "q")
        #expect(query.subscriptionType == .query && query.recordType == "T" && query.zoneID == nil)
        #expect(
            query.querySubscriptionOptions == [.firesOnRecordCreation, .firesOnRecordUpdate, .firesOnRecordDeletion])
        let zone = CKRecordZoneSubscription(zoneID: .default, subscriptionID: "z")
        #expect(zone.subscriptionType == .recordZone && zone.zoneID == .default && zone.recordType == nil)
        #expect(CKDatabaseSubscription(subscriptionID: "d").subscriptionType == .database)
        #expect(CKDatabaseSubscription(subscriptionID: "d") == CKDatabaseSubscription(subscriptionID: "d"))
    }
}
