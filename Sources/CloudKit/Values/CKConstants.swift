// Apple's names begin with capitals.
// swift-format-ignore-file: AlwaysUseLowerCamelCase

/// Stands for the current user where the owner of a zone is named.
public let CKCurrentUserDefaultName = "__defaultOwner__"

/// Stands for the current user.
@available(*, deprecated, renamed: "CKCurrentUserDefaultName")
public let CKOwnerDefaultName = "__defaultOwner__"

/// See ``CKRecordZoneID/defaultZoneName``.
@available(*, unavailable, renamed: "CKRecordZone.ID.defaultZoneName")
public let CKRecordZoneDefaultName = "_defaultZone"

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

/// Record name of the share of a whole zone.
public let CKRecordNameZoneWideShare = "cloudkit.zoneshare"

/// Domain of every ``CKError``.
public let CKErrorDomain = "CKErrorDomain"

/// Of a partial failure: the error of each item that failed, by its ID.
public let CKPartialErrorsByItemIDKey = "CKPartialErrors"

/// Of a conflict: the record as the client's edit found it.
public let CKRecordChangedErrorAncestorRecordKey = "AncestorRecord"

/// Of a conflict: the record that is stored now. Edit and save this one to resolve it.
public let CKRecordChangedErrorServerRecordKey = "ServerRecord"

/// Of a conflict: the record that the client tried to save.
public let CKRecordChangedErrorClientRecordKey = "ClientRecord"

/// Of a missing zone: true if it went when the user reset encrypted data.
public let CKErrorUserDidResetEncryptedDataKey = "CKUserDidResetEncryptedData"

/// Seconds after which another try makes sense.
public let CKErrorRetryAfterKey = "CKRetryAfter"
