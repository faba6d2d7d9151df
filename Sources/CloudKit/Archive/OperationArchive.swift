import Foundation

/// The properties of an operation, keyed by name.
struct OperationArchive {
    private enum Key: String {
        case records, recordIDs, zones, zoneIDs, desiredKeys, policy, isAtomic, clientToken, fetchesSpecial
        case subscriptions, subscriptionIDs, query, cursor, token, resultsLimit, fetchesAll
        case configuredZoneIDs, configurations, scope, quality, group
    }

    var records: [CKRecord]?
    var recordIDs: [CKRecord.ID]?
    var zones: [CKRecordZone]?
    var zoneIDs: [CKRecordZone.ID]?
    var desiredKeys: [String]?
    var policy = CKModifyRecordsOperation.RecordSavePolicy.ifServerRecordUnchanged
    var isAtomic = true
    var clientToken: Data?
    var subscriptions: [CKSubscription]?
    var subscriptionIDs: [CKSubscription.ID]?
    var query: CKQuery?
    var cursor: CKQueryCursor?
    var token: CKServerChangeToken?
    var resultsLimit = 0
    /// True if the operation continues until there are no more changes.
    var fetchesAll = true
    /// The configuration of each zone.
    var configurations: [CKRecordZone.ID: CKFetchRecordZoneChangesConfiguration]?
    /// True if the operation fetches all zones, all subscriptions, or the current user's record.
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
        encode(records, Key.records.rawValue)
        encode(recordIDs, Key.recordIDs.rawValue)
        encode(zones, Key.zones.rawValue)
        encode(zoneIDs, Key.zoneIDs.rawValue)
        encode(subscriptions, Key.subscriptions.rawValue)
        encode(subscriptionIDs?.map { NSString(string: $0) }, Key.subscriptionIDs.rawValue)
        encode(desiredKeys?.map { NSString(string: $0) }, Key.desiredKeys.rawValue)
        if let query { archiver.encode(query, forKey: Key.query.rawValue) }
        if let cursor { archiver.encode(cursor, forKey: Key.cursor.rawValue) }
        if let token { archiver.encode(token, forKey: Key.token.rawValue) }
        archiver.encode(Int64(resultsLimit), forKey: Key.resultsLimit.rawValue)
        archiver.encode(fetchesAll, forKey: Key.fetchesAll.rawValue)
        if let configurations {
            let zones = Array(configurations.keys)
            encode(zones, Key.configuredZoneIDs.rawValue)
            encode(zones.compactMap { configurations[$0] }, Key.configurations.rawValue)
        }
        archiver.encode(Int64(policy.rawValue), forKey: Key.policy.rawValue)
        archiver.encode(isAtomic, forKey: Key.isAtomic.rawValue)
        if let clientToken { archiver.encode(NSData(data: clientToken), forKey: Key.clientToken.rawValue) }
        archiver.encode(fetchesSpecial, forKey: Key.fetchesSpecial.rawValue)
        archiver.encode(Int64(scope.rawValue), forKey: Key.scope.rawValue)
        archiver.encode(Int64(quality.rawValue), forKey: Key.quality.rawValue)
        if let group { archiver.encode(group, forKey: Key.group.rawValue) }
        archiver.finishEncoding()
        if let error = archiver.error { throw error }
        let bytes = [UInt8](archiver.encodedData)
        guard !bytes.isEmpty else {
            throw CKError(
                .internalError,
                message: "A long-lived operation cannot be stored: Foundation cannot archive objects in a program "
                    + "linked with --static-swift-stdlib. Link without the option, or use an ordinary operation.")
        }
        return bytes
    }

    /// - Throws: The unarchiver's error if a property cannot be read.
    init(decoding bytes: [UInt8]) throws {
        let unarchiver = try NSKeyedUnarchiver(checking: Data(bytes))
        unarchiver.requiresSecureCoding = true
        // Properties that were nil are absent, and requesting an absent key from Foundation is an error.
        let archive = ArchiveReader(unarchiver)
        func integer(_ key: String) -> Int? { archive.integer(key).flatMap { Int(exactly: $0) } }
        records = archive.list(of: CKRecord.self, Key.records.rawValue)
        recordIDs = archive.list(of: CKRecordID.self, Key.recordIDs.rawValue)
        zones = archive.list(of: CKRecordZone.self, Key.zones.rawValue)
        zoneIDs = archive.list(of: CKRecordZoneID.self, Key.zoneIDs.rawValue)
        subscriptions = archive.list(of: CKSubscription.self, Key.subscriptions.rawValue)
        subscriptionIDs = archive.strings(Key.subscriptionIDs.rawValue)
        desiredKeys = archive.strings(Key.desiredKeys.rawValue)
        query = archive.object(CKQuery.self, Key.query.rawValue)
        cursor = archive.object(CKQueryCursor.self, Key.cursor.rawValue)
        token = archive.object(CKServerChangeToken.self, Key.token.rawValue)
        resultsLimit = integer(Key.resultsLimit.rawValue) ?? resultsLimit
        fetchesAll = archive.bool(Key.fetchesAll.rawValue) ?? fetchesAll
        if let zones = archive.list(of: CKRecordZoneID.self, Key.configuredZoneIDs.rawValue),
            let values = archive.list(of: CKFetchRecordZoneChangesConfiguration.self, Key.configurations.rawValue)
        {
            configurations = Dictionary(zip(zones, values)) { first, _ in first }
        }
        policy = integer(Key.policy.rawValue).flatMap { .init(rawValue: $0) } ?? policy
        isAtomic = archive.bool(Key.isAtomic.rawValue) ?? isAtomic
        clientToken = archive.data(Key.clientToken.rawValue).map { Data($0) }
        fetchesSpecial = archive.bool(Key.fetchesSpecial.rawValue) ?? fetchesSpecial
        scope = integer(Key.scope.rawValue).flatMap { .init(rawValue: $0) } ?? scope
        quality = integer(Key.quality.rawValue).flatMap { .init(rawValue: $0) } ?? quality
        group = archive.object(CKOperationGroup.self, Key.group.rawValue)
        if let error = unarchiver.error { throw error }
    }
}
