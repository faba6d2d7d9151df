import Foundation
import StrataStore

/// The classes of CloudKit that can be archived.
public protocol _CKArchived: NSSecureCoding {}

extension CKRecord: _CKArchived {}
extension CKAsset: _CKArchived {}
extension CLLocation: _CKArchived {}
extension CKRecordID: _CKArchived {}
extension CKReference: _CKArchived {}
extension CKRecordZone: _CKArchived {}
extension CKRecordZoneID: _CKArchived {}
extension CKServerChangeToken: _CKArchived {}
extension CKQuery: _CKArchived {}
extension CKQueryCursor: _CKArchived {}
extension CKSubscription: _CKArchived {}
extension CKNotificationInfo: _CKArchived {}
extension CKNotificationID: _CKArchived {}
extension CKOperationGroup: _CKArchived {}
extension CKFetchRecordZoneChangesConfiguration: _CKArchived {}
extension CKUserIdentity: _CKArchived {}
extension CKUserIdentityLookupInfo: _CKArchived {}
extension CKAllowedSharingOptions: _CKArchived {}
extension CKShareParticipant: _CKArchived {}
extension CKShareMetadata: _CKArchived {}
extension CKShareAccessRequester: _CKArchived {}
extension CKShareBlockedIdentity: _CKArchived {}

extension NSKeyedUnarchiver {
    /// Decodes an object of CloudKit. If the archive contains an object of another class, Foundation's method, which
    /// this one shadows, would trap; this one throws.
    public static func unarchivedObject<Value: NSObject & NSCoding & _CKArchived>(
        ofClass type: Value.Type, from data: Data
    ) throws -> Value? {
        let unarchiver = try NSKeyedUnarchiver(checking: data)
        unarchiver.requiresSecureCoding = true
        unarchiver.decodingFailurePolicy = .setErrorAndReturn
        let object = ArchiveReader(unarchiver).object(type, NSKeyedArchiveRootObjectKey)
        if let error = unarchiver.error { throw error }
        guard let object else {
            throw CocoaError(
                .coderReadCorrupt,
                userInfo: [NSDebugDescriptionErrorKey: "The archive does not contain a \(Value.self)."])
        }
        return object
    }
}

extension NSKeyedUnarchiver {
    /// Opens an archive that may be damaged.
    ///
    /// Foundation's own initializer traps if the property list of the archive contains a set, which no archiver writes.
    /// This one throws.
    convenience init(checking data: Data) throws {
        guard !BinaryPropertyList(data).hasSet else {
            throw CocoaError(
                .coderReadCorrupt,
                userInfo: [NSDebugDescriptionErrorKey: "The archive's property list contains a set."])
        }
        try self.init(forReadingFrom: data)
    }
}
