import Foundation
import StrataStore

/// The classes of CloudKit that can be archived.
public protocol _CKArchived: NSSecureCoding {}

/// A class that supports secure coding, as all classes of CloudKit that can be archived do.
protocol SecurelyCoded: NSSecureCoding {}

extension SecurelyCoded {
    public static var supportsSecureCoding: Bool { true }
}

/// An object that never changes, so that a copy of it is the object itself.
protocol ImmutableObject: NSCopying {}

extension ImmutableObject {
    public func copy(with zone: NSZone? = nil) -> Any { self }
}

extension CKRecord: _CKArchived, SecurelyCoded {}
extension CKAsset: _CKArchived, SecurelyCoded {}
extension CLLocation: _CKArchived {}
extension CKRecordID: _CKArchived, SecurelyCoded, ImmutableObject {}
extension CKReference: _CKArchived, SecurelyCoded, ImmutableObject {}
extension CKRecordZone: _CKArchived, SecurelyCoded {}
extension CKRecordZoneID: _CKArchived, SecurelyCoded, ImmutableObject {}
extension CKServerChangeToken: _CKArchived, SecurelyCoded, ImmutableObject {}
extension CKQuery: _CKArchived, SecurelyCoded {}
extension CKQueryCursor: _CKArchived, SecurelyCoded, ImmutableObject {}
extension CKSubscription: _CKArchived, SecurelyCoded {}
extension CKNotificationInfo: _CKArchived, SecurelyCoded {}
extension CKNotificationID: _CKArchived, SecurelyCoded, ImmutableObject {}
extension CKOperationGroup: _CKArchived, SecurelyCoded {}
extension CKFetchRecordZoneChangesConfiguration: _CKArchived, SecurelyCoded {}
extension CKLocationSortDescriptor: SecurelyCoded {}
extension CKUserIdentity: _CKArchived, SecurelyCoded, ImmutableObject {}
extension CKUserIdentityLookupInfo: _CKArchived, SecurelyCoded, ImmutableObject {}
extension CKAllowedSharingOptions: _CKArchived, SecurelyCoded {}
extension CKShareParticipant: _CKArchived, SecurelyCoded {}
extension CKShareMetadata: _CKArchived, SecurelyCoded, ImmutableObject {}
extension CKShareAccessRequester: _CKArchived, SecurelyCoded, ImmutableObject {}
extension CKShareBlockedIdentity: _CKArchived, SecurelyCoded, ImmutableObject {}

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
