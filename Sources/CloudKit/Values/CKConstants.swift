// Apple's names begin with capitals.
// swift-format-ignore-file: AlwaysUseLowerCamelCase

/// The name that represents the current user as the owner of a zone.
public let CKCurrentUserDefaultName = "__defaultOwner__"

/// The name that represents the current user.
@available(*, deprecated, renamed: "CKCurrentUserDefaultName")
public let CKOwnerDefaultName = "__defaultOwner__"

/// See ``CKRecordZoneID/defaultZoneName``.
@available(*, unavailable, renamed: "CKRecordZone.ID.defaultZoneName")
public let CKRecordZoneDefaultName = CKRecordZone.ID.defaultZoneName

/// See ``CKRecord/SystemType``.
@available(*, unavailable, renamed: "CKRecord.SystemType.userRecord")
public let CKRecordTypeUserRecord = "Users"

/// See ``CKRecord/SystemType``.
@available(*, unavailable, renamed: "CKRecord.SystemType.share")
public let CKRecordTypeShare = "cloudkit.share"

/// See ``CKRecord/SystemFieldKey``.
@available(*, unavailable, renamed: "CKRecord.SystemFieldKey.parent")
public let CKRecordParentKey = "___parent"

/// See ``CKRecord/SystemFieldKey``.
@available(*, unavailable, renamed: "CKRecord.SystemFieldKey.share")
public let CKRecordShareKey = "___share"

/// The record name of a zone-wide share.
public let CKRecordNameZoneWideShare = "cloudkit.zoneshare"

/// The domain of every ``CKError``.
public let CKErrorDomain = "CKErrorDomain"

/// The key of a partial failure's errors, by the ID of the failed item.
public let CKPartialErrorsByItemIDKey = "CKPartialErrors"

/// The key of a conflict's record as it was before the client's edit.
public let CKRecordChangedErrorAncestorRecordKey = "AncestorRecord"

/// The key of a conflict's record that is stored now. Edit and save this one to resolve the conflict.
public let CKRecordChangedErrorServerRecordKey = "ServerRecord"

/// The key of a conflict's record that the client tried to save.
public let CKRecordChangedErrorClientRecordKey = "ClientRecord"

/// The key of a flag for a missing zone: true if resetting the user's encrypted data deleted it.
public let CKErrorUserDidResetEncryptedDataKey = "CKUserDidResetEncryptedData"

/// The key of the number of seconds to wait before retrying.
public let CKErrorRetryAfterKey = "CKRetryAfter"
