import CCloudKit
import Foundation

/// The classes that archives identify by Apple's names, without a module prefix (B259).
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
        ("CKAllowedSharingOptions", CKAllowedSharingOptions.self),
        ("CKFetchRecordZoneChangesConfiguration", CKFetchRecordZoneChangesConfiguration.self),
        ("CKUserIdentity", CKUserIdentity.self),
        ("CKUserIdentityLookupInfo", CKUserIdentityLookupInfo.self),
        ("CKShare", CKShare.self),
        ("CKShareParticipant", CKShareParticipant.self),
        ("CKShareMetadata", CKShareMetadata.self),
        ("CKShareAccessRequester", CKShareAccessRequester.self),
        ("CKShareBlockedIdentity", CKShareBlockedIdentity.self),
    ]

    /// The classes of this module.
    static let own: [AnyClass] = all.map(\.type) + [FormatPredicate.self, KeySortDescriptor.self]

    /// The classes that are decoded, whatever the requested class. Objects of others are opaque.
    static let expected: [AnyClass] =
        own + [
            NSString.self, NSNumber.self, NSDate.self, NSData.self, NSArray.self, NSDictionary.self, NSSet.self,
            NSMutableString.self, NSMutableData.self, NSMutableArray.self, NSMutableDictionary.self,
            NSMutableSet.self,
        ]
}

/// Registers the class names. A C constructor calls it before `main`.
@_cdecl("cloudkit_register_class_names")
func registerClassNames() {
    for one in ArchivedClasses.all { NSKeyedUnarchiver.setClass(one.type, forClassName: one.name) }
}
