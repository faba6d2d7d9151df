import Foundation

/// The properties of an operation, written and read by their names.
struct OperationArchive {
    private enum Key {
        static let records = "records"
        static let recordIDs = "recordIDs"
        static let zones = "zones"
        static let zoneIDs = "zoneIDs"
        static let desiredKeys = "desiredKeys"
        static let policy = "policy"
        static let isAtomic = "isAtomic"
        static let clientToken = "clientToken"
        static let fetchesSpecial = "fetchesSpecial"
        static let scope = "scope"
        static let quality = "quality"
        static let group = "group"
    }

    var records: [CKRecord]?
    var recordIDs: [CKRecord.ID]?
    var zones: [CKRecordZone]?
    var zoneIDs: [CKRecordZone.ID]?
    var desiredKeys: [String]?
    var policy = CKModifyRecordsOperation.RecordSavePolicy.ifServerRecordUnchanged
    var isAtomic = true
    var clientToken: Data?
    /// Whether it fetches all zones, or the current user's record.
    var fetchesSpecial = false
    var scope = CKDatabase.Scope.private
    var quality = QualityOfService.default
    var group: CKOperationGroup?

    init() {}

    func encoded() throws -> [UInt8] {
        let archiver = NSKeyedArchiver(requiringSecureCoding: true)
        func encode(_ objects: [NSObject]?, _ key: String) {
            if let objects { archiver.encode(NSArray(array: objects), forKey: key) }
        }
        encode(records, Key.records)
        encode(recordIDs, Key.recordIDs)
        encode(zones, Key.zones)
        encode(zoneIDs, Key.zoneIDs)
        encode(desiredKeys?.map { NSString(string: $0) }, Key.desiredKeys)
        archiver.encode(Int64(policy.rawValue), forKey: Key.policy)
        archiver.encode(isAtomic, forKey: Key.isAtomic)
        if let clientToken { archiver.encode(NSData(data: clientToken), forKey: Key.clientToken) }
        archiver.encode(fetchesSpecial, forKey: Key.fetchesSpecial)
        archiver.encode(Int64(scope.rawValue), forKey: Key.scope)
        archiver.encode(Int64(quality.rawValue), forKey: Key.quality)
        if let group { archiver.encode(group, forKey: Key.group) }
        archiver.finishEncoding()
        if let error = archiver.error { throw error }
        return [UInt8](archiver.encodedData)
    }

    /// - Throws: The unarchiver's error for what cannot be read.
    init(decoding bytes: [UInt8]) throws {
        let unarchiver = try NSKeyedUnarchiver(forReadingFrom: Data(bytes))
        unarchiver.requiresSecureCoding = true
        unarchiver.decodingFailurePolicy = .setErrorAndReturn
        func decode<Object: NSObject & NSSecureCoding>(_ type: Object.Type, _ key: String) -> [Object]? {
            unarchiver.decodeObject(of: [NSArray.self, type], forKey: key) as? [Object]
        }
        func integer(_ key: String) -> Int { Int(truncatingIfNeeded: unarchiver.decodeInt64(forKey: key)) }
        records = decode(CKRecord.self, Key.records)
        recordIDs = decode(CKRecordID.self, Key.recordIDs)
        zones = decode(CKRecordZone.self, Key.zones)
        zoneIDs = decode(CKRecordZoneID.self, Key.zoneIDs)
        let keys = unarchiver.decodeObject(of: [NSArray.self, NSString.self], forKey: Key.desiredKeys) as? [Any]
        desiredKeys = keys?.compactMap { $0 as? String }
        policy = CKModifyRecordsOperation.RecordSavePolicy(rawValue: integer(Key.policy)) ?? policy
        isAtomic = unarchiver.decodeBool(forKey: Key.isAtomic)
        clientToken = unarchiver.decodeObject(of: NSData.self, forKey: Key.clientToken).map { Data(referencing: $0) }
        fetchesSpecial = unarchiver.decodeBool(forKey: Key.fetchesSpecial)
        scope = CKDatabase.Scope(rawValue: integer(Key.scope)) ?? scope
        quality = QualityOfService(rawValue: integer(Key.quality)) ?? quality
        group = unarchiver.decodeObject(of: CKOperationGroup.self, forKey: Key.group)
        if let error = unarchiver.error { throw error }
    }
}
