import CloudKit
import Testing

private func isArgument(_: (some CVarArg).Type) {}
private func isObject(_: (some NSObject & Hashable & CustomStringConvertible & CustomDebugStringConvertible).Type) {}
private func isSendable(_: (some Sendable).Type) {}
private func isPlain(_: (some BitwiseCopyable & Sendable & Hashable & RawRepresentable).Type) {}
private func isArchived(_: (some NSSecureCoding & NSCopying).Type) {}
private func isValue(_: (some CKRecordValueProtocol).Type) {}
private func isObjectValue(_: (some CKRecordValue).Type) {}

@Suite("Conformances: that these compile is the test")
struct ConformanceTests {
    @Test("Classes")
    func classes() {
        isArgument(CKRecord.self)
        isArgument(CKRecord.ID.self)
        isArgument(CKRecord.Reference.self)
        isArgument(CKRecordZone.self)
        isArgument(CKRecordZone.ID.self)
        isArgument(CKAsset.self)
        isArgument(CKServerChangeToken.self)
        isArgument(CLLocation.self)
        isObject(CKRecord.self)
        isObject(CKRecord.ID.self)
        isObject(CKRecord.Reference.self)
        isObject(CKRecordZone.self)
        isObject(CKRecordZone.ID.self)
        isObject(CKAsset.self)
        isObject(CKServerChangeToken.self)
        isSendable(CKRecord.self)
        isSendable(CKRecord.ID.self)
        isSendable(CKRecord.Reference.self)
        isSendable(CKRecordZone.self)
        isSendable(CKRecordZone.ID.self)
        isSendable(CKAsset.self)
        isSendable(CKServerChangeToken.self)
        isSendable(CKError.self)
        isArchived(CKRecord.self)
        isArchived(CKRecord.ID.self)
        isArchived(CKRecord.Reference.self)
        isArchived(CKRecordZone.self)
        isArchived(CKRecordZone.ID.self)
        isArchived(CKServerChangeToken.self)
        #expect("\(CKRecord.ID(recordName: "1"))".contains("1"))
    }

    @Test("Enumerations and option sets")
    func enumerations() {
        isPlain(CKRecord.ReferenceAction.self)
        isPlain(CKRecordZone.Capabilities.self)
        isPlain(CKRecordZone.EncryptionScope.self)
        isPlain(CKError.Code.self)
        #expect(CKRecord.ReferenceAction.deleteSelf.rawValue == 1)
    }

    @Test("Values")
    func values() {
        isValue(String.self)
        isValue(Date.self)
        isValue(Data.self)
        isValue(Bool.self)
        isValue(Double.self)
        isValue(Float.self)
        isValue(Int.self)
        isValue(Int8.self)
        isValue(Int16.self)
        isValue(Int32.self)
        isValue(Int64.self)
        isValue(UInt.self)
        isValue(UInt8.self)
        isValue(UInt16.self)
        isValue(UInt32.self)
        isValue(UInt64.self)
        isValue([String].self)
        isValue(CLLocation.self)
        isObjectValue(NSString.self)
        isObjectValue(NSNumber.self)
        isObjectValue(NSArray.self)
        isObjectValue(NSDate.self)
        isObjectValue(NSData.self)
        isObjectValue(CKRecord.Reference.self)
        isObjectValue(CKAsset.self)
        isObjectValue(CLLocation.self)
        isValue(NSString.self)
        isValue(NSArray.self)
        #expect(([1, 2] as any CKRecordValueProtocol) is [Int])
    }

    @Test("Strings of the constants")
    func constants() {
        #expect(CKRecord.SystemType.userRecord == "Users" && CKRecord.SystemType.share == "cloudkit.share")
        #expect(CKRecord.SystemFieldKey.recordID == "___recordID")
        #expect(CKRecord.SystemFieldKey.creationDate == "___createTime")
        #expect(CKRecord.SystemFieldKey.modificationDate == "___modTime")
        #expect(CKRecord.SystemFieldKey.creatorUserRecordID == "___createdBy")
        #expect(CKRecord.SystemFieldKey.lastModifiedUserRecordID == "___modifiedBy")
        #expect(CKRecord.SystemFieldKey.parent == "___parent" && CKRecord.SystemFieldKey.share == "___share")
        #expect(CKRecordNameZoneWideShare == "cloudkit.zoneshare")
        #expect(CKPartialErrorsByItemIDKey == "CKPartialErrors" && CKErrorRetryAfterKey == "CKRetryAfter")
        #expect(NSNotification.Name.CKAccountChanged.rawValue == "CKAccountChangedNotification")
    }
}
