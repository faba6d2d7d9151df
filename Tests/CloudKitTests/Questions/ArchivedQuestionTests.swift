import CloudKit
import Testing

@Suite("Archives of queries, subscriptions and what belongs to them")
struct ArchivedQuestionTests {
    private func archive(_ object: NSObject) throws -> Data {
        try NSKeyedArchiver.archivedData(withRootObject: object, requiringSecureCoding: true)
    }

    private func restored<Object: NSObject & NSCoding>(_ object: Object) throws -> Object? {
        try NSKeyedUnarchiver.unarchivedObject(ofClass: Object.self, from: archive(object))
    }

    private func query() -> CKQuery {
        let query = CKQuery(recordType: "Book", predicate: NSPredicate(format: "price < %d AND title != %@", 3, "ä"))
        query.sortDescriptors = [
            NSSortDescriptor(key: "title", ascending: false),
            CKLocationSortDescriptor(key: "place", relativeLocation: CLLocation(latitude: 1, longitude: 2)),
        ]
        return query
    }

    private func subscriptions() -> [CKSubscription] {
        let zoneID = CKRecordZone.ID(zoneName: "Notes")
        let database = CKDatabaseSubscription(subscriptionID: "d")
        database.recordType = "Note"
        database.notificationInfo = CKSubscription.NotificationInfo(
            alertBody: "Hi", alertLocalizationArgs: ["a", "b"], title: "", soundName: "default", desiredKeys: ["k"],
            shouldBadge: true, shouldSendContentAvailable: true, collapseIDKey: "c")
        let zone = CKRecordZoneSubscription(zoneID: zoneID, subscriptionID: "z")
        let query = CKQuerySubscription(
            recordType: "Note", predicate: NSPredicate(format: "a = 1"), subscriptionID: "q",
            options: [.firesOnRecordCreation, .firesOnce])
        query.zoneID = zoneID
        return [database, zone, query]
    }

    @Test("A query comes back as it was")
    func queries() throws {
        let query = query()
        let decoded = try #require(try restored(query))
        #expect(decoded == query)
        #expect(decoded.sortDescriptors?.map(\.key) == ["title", "place"])
        #expect(decoded.sortDescriptors?.first?.ascending == false)
        #expect(try restored(CKQuery(recordType: "T", predicate: NSPredicate(value: true)))?.sortDescriptors == nil)
    }

    @Test("A subscription comes back as it was, and as the class that it was")
    func subscription() throws {
        for subscription in subscriptions() {
            let data = try archive(subscription)
            let classes: [AnyClass] = [
                CKDatabaseSubscription.self, CKRecordZoneSubscription.self, CKQuerySubscription.self,
            ]
            let decoded = try NSKeyedUnarchiver.unarchivedObject(ofClasses: classes, from: data) as? CKSubscription
            #expect(decoded == subscription)
            let restored = try #require(decoded)
            #expect(type(of: restored) == type(of: subscription))
            #expect(restored.notificationInfo == subscription.notificationInfo)
        }
    }

    @Test("A copy is equal, and another object")
    func copies() throws {
        for subscription in subscriptions() {
            let copy = try #require(subscription.copy() as? CKSubscription)
            #expect(copy == subscription && copy !== subscription)
            copy.notificationInfo = CKSubscription.NotificationInfo(title: "other")
            #expect(copy != subscription)
        }
        let query = query()
        let copy = try #require(query.copy() as? CKQuery)
        copy.sortDescriptors = nil
        #expect(query.sortDescriptors?.count == 2)
        #expect(copy != query)
    }

    @Test("B17: damaged texts and archives cut short give an object, nil or an error, never a trap")
    func damage() throws {
        let texts = [
            "Book", "price", "RecordType", "Predicate", "FormatPredicate", "SortDescriptors", "RelativeLocation",
        ]
        try damage(archive(query()), texts, as: CKQuery.self)
        for subscription in subscriptions() {
            let data = try archive(subscription)
            let texts = ["SubscriptionID", "SubscriptionType", "ZoneID", "NotificationInfo", "RecordType"]
            switch subscription {
            case is CKQuerySubscription: try damage(data, texts, as: CKQuerySubscription.self)
            case is CKRecordZoneSubscription: try damage(data, texts, as: CKRecordZoneSubscription.self)
            default: try damage(data, texts, as: CKDatabaseSubscription.self)
            }
        }
    }

    /// Damages what our code reads. Foundation itself ends the process where some bytes of an archive's tables are
    /// flipped, before it asks any class.
    private func damage<Object: NSObject & NSCoding>(
        _ data: Data, _ texts: [String], as type: Object.Type
    ) throws {
        for count in stride(from: 0, to: data.count, by: 7) {
            #expect((try? NSKeyedUnarchiver.unarchivedObject(ofClass: type, from: data.prefix(count))) == nil)
        }
        var failures = 0
        for text in texts {
            guard let range = data.range(of: Data(text.utf8)) else { continue }
            for index in range {
                var damaged = data
                damaged[index] ^= 1
                let object = try? NSKeyedUnarchiver.unarchivedObject(ofClass: type, from: damaged)
                failures += object == nil ? 1 : 0
            }
        }
        // Damage that nobody notices would make the test worth nothing.
        #expect(failures > 10)
    }
}
