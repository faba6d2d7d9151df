import CloudKit

/// Checks descriptions, equality, copies and archives of classes.
struct ObjectSurface: Section {
    @available(*, deprecated)
    func check() throws {
        try values()
        try questions()
        try containers()
        try configurations()
        try options()
    }

    private func values() throws {
        let _: KeyPath<CKRecord.ID, String> = \.description
        let _: KeyPath<CKRecord.ID, String> = \.debugDescription
        let _: KeyPath<CKRecord.ID, Int> = \.hash
        let _: (CKRecord.ID) -> (Any?) -> Bool = CKRecord.ID.isEqual
        let _: (CKRecord.ID, NSZone?) -> Any = { $0.copy(with: $1) }
        let _: (CKRecord.ID) -> (NSCoder) -> Void = CKRecord.ID.encode(with:)
        let _: (NSCoder) -> CKRecord.ID? = CKRecord.ID.init(coder:)
        try expect(CKRecord.ID.supportsSecureCoding)
        let _: KeyPath<CKRecord.Reference, String> = \.description
        let _: KeyPath<CKRecord.Reference, String> = \.debugDescription
        let _: KeyPath<CKRecord.Reference, Int> = \.hash
        let _: (CKRecord.Reference) -> (Any?) -> Bool = CKRecord.Reference.isEqual
        let _: (CKRecord.Reference, NSZone?) -> Any = { $0.copy(with: $1) }
        let _: (CKRecord.Reference) -> (NSCoder) -> Void = CKRecord.Reference.encode(with:)
        let _: (NSCoder) -> CKRecord.Reference? = CKRecord.Reference.init(coder:)
        try expect(CKRecord.Reference.supportsSecureCoding)
        let _: KeyPath<CKRecordZone.ID, String> = \.description
        let _: KeyPath<CKRecordZone.ID, String> = \.debugDescription
        let _: KeyPath<CKRecordZone.ID, Int> = \.hash
        let _: (CKRecordZone.ID) -> (Any?) -> Bool = CKRecordZone.ID.isEqual
        let _: (CKRecordZone.ID, NSZone?) -> Any = { $0.copy(with: $1) }
        let _: (CKRecordZone.ID) -> (NSCoder) -> Void = CKRecordZone.ID.encode(with:)
        let _: (NSCoder) -> CKRecordZone.ID? = CKRecordZone.ID.init(coder:)
        try expect(CKRecordZone.ID.supportsSecureCoding)
        let _: KeyPath<CKServerChangeToken, String> = \.description
        let _: KeyPath<CKServerChangeToken, String> = \.debugDescription
        let _: KeyPath<CKServerChangeToken, Int> = \.hash
        let _: (CKServerChangeToken) -> (Any?) -> Bool = CKServerChangeToken.isEqual
        let _: (CKServerChangeToken, NSZone?) -> Any = { $0.copy(with: $1) }
        let _: (CKServerChangeToken) -> (NSCoder) -> Void = CKServerChangeToken.encode(with:)
        let _: (NSCoder) -> CKServerChangeToken? = CKServerChangeToken.init(coder:)
        try expect(CKServerChangeToken.supportsSecureCoding)
        let _: KeyPath<CKRecord, String> = \.description
        let _: KeyPath<CKRecord, String> = \.debugDescription
        let _: (CKRecord, NSZone?) -> Any = { $0.copy(with: $1) }
        let _: (CKRecord) -> (NSCoder) -> Void = CKRecord.encode(with:)
        let _: (NSCoder) -> CKRecord? = CKRecord.init(coder:)
        try expect(CKRecord.supportsSecureCoding)
        let _: KeyPath<CKRecordZone, String> = \.description
        let _: KeyPath<CKRecordZone, String> = \.debugDescription
        let _: (CKRecordZone, NSZone?) -> Any = { $0.copy(with: $1) }
        let _: (CKRecordZone) -> (NSCoder) -> Void = CKRecordZone.encode(with:)
        let _: (NSCoder) -> CKRecordZone? = CKRecordZone.init(coder:)
        try expect(CKRecordZone.supportsSecureCoding)
        let _: KeyPath<CKAsset, String> = \.description
        let _: KeyPath<CKAsset, String> = \.debugDescription
        let _: (CKAsset) -> (NSCoder) -> Void = CKAsset.encode(with:)
        let _: (NSCoder) -> CKAsset? = CKAsset.init(coder:)
        try expect(CKAsset.supportsSecureCoding)
    }

    private func questions() throws {
        let _: KeyPath<CKQuery, String> = \.description
        let _: KeyPath<CKQuery, String> = \.debugDescription
        let _: KeyPath<CKQuery, Int> = \.hash
        let _: (CKQuery) -> (Any?) -> Bool = CKQuery.isEqual
        let _: (CKQuery, NSZone?) -> Any = { $0.copy(with: $1) }
        let _: (CKQuery) -> (NSCoder) -> Void = CKQuery.encode(with:)
        let _: (NSCoder) -> CKQuery? = CKQuery.init(coder:)
        try expect(CKQuery.supportsSecureCoding)
        let _: KeyPath<CKQueryOperation.Cursor, String> = \.description
        let _: KeyPath<CKQueryOperation.Cursor, String> = \.debugDescription
        let _: KeyPath<CKQueryOperation.Cursor, Int> = \.hash
        let _: (CKQueryOperation.Cursor) -> (Any?) -> Bool = CKQueryOperation.Cursor.isEqual
        let _: (CKQueryOperation.Cursor, NSZone?) -> Any = { $0.copy(with: $1) }
        let _: (CKQueryOperation.Cursor) -> (NSCoder) -> Void = CKQueryOperation.Cursor.encode(with:)
        let _: (NSCoder) -> CKQueryOperation.Cursor? = CKQueryOperation.Cursor.init(coder:)
        try expect(CKQueryOperation.Cursor.supportsSecureCoding)
        let _: KeyPath<CKLocationSortDescriptor, String> = \.description
        let _: KeyPath<CKLocationSortDescriptor, String> = \.debugDescription
        let _: KeyPath<CKLocationSortDescriptor, Int> = \.hash
        let _: (CKLocationSortDescriptor) -> (Any?) -> Bool = CKLocationSortDescriptor.isEqual
        let _: (CKLocationSortDescriptor, NSZone?) -> Any = { $0.copy(with: $1) }
        let _: (CKLocationSortDescriptor) -> (NSCoder) -> Void = CKLocationSortDescriptor.encode(with:)
        let _: (NSCoder) -> CKLocationSortDescriptor? = CKLocationSortDescriptor.init(coder:)
        try expect(CKLocationSortDescriptor.supportsSecureCoding)
        let _: KeyPath<CKSubscription, String> = \.description
        let _: KeyPath<CKSubscription, String> = \.debugDescription
        let _: KeyPath<CKSubscription, Int> = \.hash
        let _: (CKSubscription) -> (Any?) -> Bool = CKSubscription.isEqual
        let _: (CKSubscription, NSZone?) -> Any = { $0.copy(with: $1) }
        let _: (CKSubscription) -> (NSCoder) -> Void = CKSubscription.encode(with:)
        let _: (NSCoder) -> CKSubscription? = CKSubscription.init(coder:)
        try expect(CKSubscription.supportsSecureCoding)
        let _: KeyPath<CKSubscription.NotificationInfo, String> = \.description
        let _: KeyPath<CKSubscription.NotificationInfo, String> = \.debugDescription
        let _: KeyPath<CKSubscription.NotificationInfo, Int> = \.hash
        let _: (CKSubscription.NotificationInfo) -> (Any?) -> Bool = CKSubscription.NotificationInfo.isEqual
        let _: (CKSubscription.NotificationInfo, NSZone?) -> Any = { $0.copy(with: $1) }
        let _: (CKSubscription.NotificationInfo) -> (NSCoder) -> Void = CKSubscription.NotificationInfo.encode(with:)
        let _: (NSCoder) -> CKSubscription.NotificationInfo? = CKSubscription.NotificationInfo.init(coder:)
        try expect(CKSubscription.NotificationInfo.supportsSecureCoding)
        let _: KeyPath<CKNotification.ID, String> = \.description
        let _: KeyPath<CKNotification.ID, String> = \.debugDescription
        let _: KeyPath<CKNotification.ID, Int> = \.hash
        let _: (CKNotification.ID) -> (Any?) -> Bool = CKNotification.ID.isEqual
        let _: (CKNotification.ID, NSZone?) -> Any = { $0.copy(with: $1) }
        let _: (CKNotification.ID) -> (NSCoder) -> Void = CKNotification.ID.encode(with:)
        let _: (NSCoder) -> CKNotification.ID? = CKNotification.ID.init(coder:)
        try expect(CKNotification.ID.supportsSecureCoding)
        let _: (CKDatabaseSubscription, NSZone?) -> Any = { $0.copy(with: $1) }
        let _: (CKQuerySubscription, NSZone?) -> Any = { $0.copy(with: $1) }
        let _: (CKQuerySubscription) -> (NSCoder) -> Void = CKQuerySubscription.encode(with:)
        let _: (NSCoder) -> CKQuerySubscription? = CKQuerySubscription.init(coder:)
        let _: (CKQuerySubscription) -> (Any?) -> Bool = CKQuerySubscription.isEqual
        let _: (CKRecordZoneSubscription, NSZone?) -> Any = { $0.copy(with: $1) }
        let _: (NSCoder) -> CKRecordZoneSubscription? = CKRecordZoneSubscription.init(coder:)
        let near = CKLocationSortDescriptor(key: "place", relativeLocation: CLLocation(latitude: 1, longitude: 2))
        // Together with that class, this key path once made the compiler crash in a release build.
        let key: KeyPath<NSSortDescriptor, String?> = \NSSortDescriptor.key
        try expect(near[keyPath: key] == "place" && near.key == "place")
        let _: Any = near.copy()
        let _: ComparisonResult = near.compare(near, to: near)
        let _: Any = near.reversedSortDescriptor
    }

    private func containers() throws {
        let _: KeyPath<CKContainer, String> = \.description
        let _: KeyPath<CKContainer, String> = \.debugDescription
        let _: KeyPath<CKDatabase, String> = \.description
        let _: KeyPath<CKDatabase, String> = \.debugDescription
        let _: KeyPath<CKNotification, String> = \.description
        let _: KeyPath<CKNotification, String> = \.debugDescription
    }

    private func configurations() throws {
        typealias Configuration = CKFetchRecordZoneChangesOperation.ZoneConfiguration
        let _: (Configuration, NSZone?) -> Any = { $0.copy(with: $1) }
        let _: (Configuration) -> (NSCoder) -> Void = Configuration.encode(with:)
        let _: (NSCoder) -> Configuration? = Configuration.init(coder:)
        try expect(Configuration.supportsSecureCoding)
        let _: (CKOperationGroup) -> (NSCoder) -> Void = CKOperationGroup.encode(with:)
        let _: (NSCoder) -> CKOperationGroup? = CKOperationGroup.init(coder:)
        try expect(CKOperationGroup.supportsSecureCoding)
    }

    @available(*, deprecated)
    private func options() throws {
        typealias Options = CKFetchRecordZoneChangesOperation.ZoneOptions
        let _: (Options, NSZone?) -> Any = { $0.copy(with: $1) }
        let _: (Options) -> (NSCoder) -> Void = Options.encode(with:)
        let _: (NSCoder) -> Options? = Options.init(coder:)
        try expect(Options.supportsSecureCoding)
    }
}
