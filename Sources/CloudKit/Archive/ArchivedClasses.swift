import CCloudKit
import Foundation

/// The classes that archives name by Apple's bare names, without a module in front (B259).
enum ArchivedClasses {
    static let all: [(name: String, type: AnyClass)] = [
        ("CKRecord", CKRecord.self),
        ("CKRecordID", CKRecordID.self),
        ("CKReference", CKReference.self),
        ("CKRecordZone", CKRecordZone.self),
        ("CKRecordZoneID", CKRecordZoneID.self),
        ("CKServerChangeToken", CKServerChangeToken.self),
        ("CKAsset", CKAsset.self),
        ("CLLocation", CLLocation.self),
        ("CKQuery", CKQuery.self),
        ("CKQueryCursor", CKQueryCursor.self),
        ("CKLocationSortDescriptor", CKLocationSortDescriptor.self),
        ("CKSubscription", CKSubscription.self),
        ("CKQuerySubscription", CKQuerySubscription.self),
        ("CKRecordZoneSubscription", CKRecordZoneSubscription.self),
        ("CKDatabaseSubscription", CKDatabaseSubscription.self),
        ("CKNotificationInfo", CKNotificationInfo.self),
        ("CKNotificationID", CKNotificationID.self),
        ("CKOperationGroup", CKOperationGroup.self),
        ("CKFetchRecordZoneChangesConfiguration", CKFetchRecordZoneChangesConfiguration.self),
    ]

    /// What an archive may hold, whichever class was asked for.
    static let expected: [AnyClass] =
        all.map(\.type) + [
            FormatPredicate.self, KeySortDescriptor.self,
            NSString.self, NSNumber.self, NSDate.self, NSData.self, NSArray.self, NSDictionary.self, NSSet.self,
            NSMutableString.self, NSMutableData.self, NSMutableArray.self, NSMutableDictionary.self,
            NSMutableSet.self, NSURL.self, NSUUID.self, NSError.self,
        ]
}

/// Called by a constructor of C before the process's first instruction of its own.
@_cdecl("cloudkit_register_class_names")
func registerClassNames() {
    for one in ArchivedClasses.all { NSKeyedUnarchiver.setClass(one.type, forClassName: one.name) }
}
