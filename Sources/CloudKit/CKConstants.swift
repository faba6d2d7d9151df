import Foundation

/// Stands for the current user where the owner of a zone is named.
public let CKCurrentUserDefaultName = "__defaultOwner__"

@available(*, deprecated, renamed: "CKCurrentUserDefaultName")
public let CKOwnerDefaultName = "__defaultOwner__"

/// Record name of the share of a whole zone.
public let CKRecordNameZoneWideShare = "cloudkit.zoneshare"
