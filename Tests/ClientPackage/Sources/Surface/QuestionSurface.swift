import CloudKit

/// The surface of queries, subscriptions and notifications.
struct QuestionSurface: Section {
    private let all = NSPredicate(value: true)

    @available(*, deprecated)
    func check() async throws {
        try query()
        try foundation()
        try subscriptions()
        try deprecatedSubscriptions()
        try notificationInfo()
        try notifications()
        try deprecatedNotifications()
        try rawValues()
    }

    // CKQuery, CKQueryOperation, CKLocationSortDescriptor.
    func query() throws {
        let query = CKQuery(recordType: "Note", predicate: all)
        let _: (NSCoder) -> CKQuery? = CKQuery.init(coder:)
        gives(query, \.recordType, CKRecord.RecordType.self)
        gives(query, \.predicate, NSPredicate.self)
        keeps(query, \.sortDescriptors, [NSSortDescriptor]?.self)
        _ = CKQueryOperation()
        let _: (CKQueryOperation.Cursor) -> CKQueryOperation = CKQueryOperation.init(cursor:)
        let operation = CKQueryOperation(query: query)
        keeps(operation, \.query, CKQuery?.self)
        keeps(operation, \.cursor, CKQueryOperation.Cursor?.self)
        keeps(operation, \.zoneID, CKRecordZone.ID?.self)
        keeps(operation, \.resultsLimit, Int.self)
        keeps(operation, \.desiredKeys, [CKRecord.FieldKey]?.self)
        keeps(operation, \.recordMatchedBlock, ((CKRecord.ID, Result<CKRecord, Error>) -> Void)?.self)
        keeps(operation, \.queryResultBlock, ((Result<CKQueryOperation.Cursor?, Error>) -> Void)?.self)
        try expect(CKQueryOperation.maximumResults == 0)
        let place = CLLocation(latitude: 1, longitude: 2)
        let near = CKLocationSortDescriptor(key: "place", relativeLocation: place)
        let _: (NSCoder) -> CKLocationSortDescriptor? = CKLocationSortDescriptor.init(coder:)
        let _: NSSortDescriptor = near
        gives(near, \.relativeLocation, CLLocation.self)
    }

    // What Foundation has on Apple's platforms only.
    func foundation() throws {
        let arguments: [Any]? = ["a", 1]
        let predicate: NSPredicate = NSPredicate(format: "%K == %d", "a", 1)
        try expect(predicate.isEqual(NSPredicate(format: "%K == %d", argumentArray: arguments)))
        let order = NSSortDescriptor(key: "a", ascending: false)
        gives(order, \.key, String?.self)
        gives(order, \.ascending, Bool.self)
    }

    // CKSubscription and its subclasses.
    func subscriptions() throws {
        let database = CKDatabaseSubscription(subscriptionID: "a")
        let _: (NSCoder) -> CKDatabaseSubscription? = CKDatabaseSubscription.init(coder:)
        let subscription: CKSubscription = database
        gives(subscription, \.subscriptionID, CKSubscription.ID.self)
        gives(subscription, \.subscriptionType, CKSubscription.SubscriptionType.self)
        keeps(subscription, \.notificationInfo, CKSubscription.NotificationInfo?.self)
        keeps(database, \.recordType, CKRecord.RecordType?.self)
        let types: [CKSubscription.SubscriptionType] = [.query, .recordZone, .database]
        try expect(types.map(\.rawValue) == [1, 2, 3])
        let zone = CKRecordZoneSubscription(zoneID: .default, subscriptionID: "b")
        let _: (NSCoder) -> CKRecordZoneSubscription? = CKRecordZoneSubscription.init(coder:)
        gives(zone, \.zoneID, CKRecordZone.ID.self)
        keeps(zone, \.recordType, CKRecord.RecordType?.self)
        _ = CKQuerySubscription(recordType: "Note", predicate: all, subscriptionID: "c")
        let query = CKQuerySubscription(
            recordType: "Note", predicate: all, subscriptionID: "c", options: .firesOnRecordCreation)
        let _: (NSCoder) -> CKQuerySubscription? = CKQuerySubscription.init(coder:)
        gives(query, \.recordType, CKRecord.RecordType?.self)
        gives(query, \.predicate, NSPredicate.self)
        keeps(query, \.zoneID, CKRecordZone.ID?.self)
        gives(query, \.querySubscriptionOptions, CKQuerySubscription.Options.self)
        let options: CKQuerySubscription.Options = [
            .firesOnRecordCreation, .firesOnRecordUpdate, .firesOnRecordDeletion, .firesOnce,
        ]
        try expect(options == CKQuerySubscription.Options(rawValue: 15 as UInt))
    }

    // CKSubscription and its subclasses, deprecated.
    @available(*, deprecated)
    func deprecatedSubscriptions() throws {
        try expect(CKDatabaseSubscription().subscriptionID != CKDatabaseSubscription().subscriptionID)
        try expect(!CKRecordZoneSubscription(zoneID: .default).subscriptionID.isEmpty)
        try expect(!CKQuerySubscription(recordType: "Note", predicate: all).subscriptionID.isEmpty)
        _ = CKQuerySubscription(recordType: "Note", predicate: all, options: .firesOnce)
    }

    // CKSubscription.NotificationInfo.
    func notificationInfo() throws {
        _ = CKSubscription.NotificationInfo()
        _ = CKSubscription.NotificationInfo(shouldSendContentAvailable: true)
        let info = CKSubscription.NotificationInfo(
            alertBody: nil, alertLocalizationKey: nil, alertLocalizationArgs: ["a"], title: nil,
            titleLocalizationKey: nil, titleLocalizationArgs: [], subtitle: nil, subtitleLocalizationKey: nil,
            subtitleLocalizationArgs: [], alertActionLocalizationKey: nil, alertLaunchImage: nil, soundName: nil,
            desiredKeys: [], shouldBadge: false, shouldSendContentAvailable: false, shouldSendMutableContent: false,
            category: nil, collapseIDKey: nil)
        let texts: [ReferenceWritableKeyPath<CKSubscription.NotificationInfo, String?>] = [
            \.alertBody, \.alertLocalizationKey, \.title, \.titleLocalizationKey, \.subtitle,
            \.subtitleLocalizationKey, \.alertActionLocalizationKey, \.alertLaunchImage, \.soundName, \.category,
            \.collapseIDKey,
        ]
        for text in texts { keeps(info, text, String?.self) }
        let lists: [ReferenceWritableKeyPath<CKSubscription.NotificationInfo, [CKRecord.FieldKey]?>] = [
            \.alertLocalizationArgs, \.titleLocalizationArgs, \.subtitleLocalizationArgs, \.desiredKeys,
        ]
        for list in lists { keeps(info, list, [CKRecord.FieldKey]?.self) }
        keeps(info, \.shouldBadge, Bool.self)
        keeps(info, \.shouldSendContentAvailable, Bool.self)
        keeps(info, \.shouldSendMutableContent, Bool.self)
        try expect(info.alertLocalizationArgs == ["a"])
    }

    // CKNotification and its subclasses.
    func notifications() throws {
        let _: ([AnyHashable: Any]) -> CKNotification? = { CKNotification(fromRemoteNotificationDictionary: $0) }
        let _: KeyPath<CKNotification, CKNotification.NotificationType> = \.notificationType
        let _: KeyPath<CKNotification, CKNotification.ID?> = \.notificationID
        let _: KeyPath<CKNotification, String?> = \.containerIdentifier
        let _: KeyPath<CKNotification, CKRecord.ID?> = \.subscriptionOwnerUserRecordID
        let _: KeyPath<CKNotification, Bool> = \.isPruned
        let _: KeyPath<CKNotification, CKSubscription.ID?> = \.subscriptionID
        let types: [CKNotification.NotificationType] = [.query, .recordZone, .readNotification, .database]
        try expect(types.map(\.rawValue) == [1, 2, 3, 4])
        let _: KeyPath<CKQueryNotification, CKQueryNotification.Reason> = \.queryNotificationReason
        let _: KeyPath<CKQueryNotification, [String: Any]?> = \.recordFields
        let _: KeyPath<CKQueryNotification, CKRecord.ID?> = \.recordID
        let _: KeyPath<CKQueryNotification, CKDatabase.Scope> = \.databaseScope
        let reasons: [CKQueryNotification.Reason] = [.recordCreated, .recordUpdated, .recordDeleted]
        try expect(reasons.map(\.rawValue) == [1, 2, 3])
        let _: KeyPath<CKRecordZoneNotification, CKRecordZone.ID?> = \.recordZoneID
        let _: KeyPath<CKRecordZoneNotification, CKDatabase.Scope> = \.databaseScope
        let _: KeyPath<CKDatabaseNotification, CKDatabase.Scope> = \.databaseScope
    }

    // What a device shows of a notification, deprecated.
    @available(*, deprecated)
    func deprecatedNotifications() throws {
        let _: [KeyPath<CKNotification, String?>] = [
            \.alertBody, \.alertLocalizationKey, \.title, \.titleLocalizationKey, \.subtitle,
            \.subtitleLocalizationKey, \.alertActionLocalizationKey, \.alertLaunchImage, \.soundName, \.category,
        ]
        let _: [KeyPath<CKNotification, [String]?>] = [
            \.alertLocalizationArgs, \.titleLocalizationArgs, \.subtitleLocalizationArgs,
        ]
        let _: KeyPath<CKNotification, NSNumber?> = \.badge
    }

    // What an archive or a payload has as a number.
    func rawValues() throws {
        try expect(CKSubscription.SubscriptionType(rawValue: 1) == .query)
        try expect(CKNotification.NotificationType(rawValue: 4) == .database)
        try expect(CKQueryNotification.Reason(rawValue: 3) == .recordDeleted)
        gives(CKQuerySubscription.Options.firesOnce, \.rawValue, UInt.self)
    }
}
