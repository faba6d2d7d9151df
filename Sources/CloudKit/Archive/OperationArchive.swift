import Foundation

/// The properties of an operation, keyed by name.
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
        static let subscriptions = "subscriptions"
        static let subscriptionIDs = "subscriptionIDs"
        static let query = "query"
        static let cursor = "cursor"
        static let token = "token"
        static let resultsLimit = "resultsLimit"
        static let fetchesAll = "fetchesAll"
        static let configuredZoneIDs = "configuredZoneIDs"
        static let configurations = "configurations"
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
        encode(records, Key.records)
        encode(recordIDs, Key.recordIDs)
        encode(zones, Key.zones)
        encode(zoneIDs, Key.zoneIDs)
        encode(subscriptions, Key.subscriptions)
        encode(subscriptionIDs?.map { NSString(string: $0) }, Key.subscriptionIDs)
        encode(desiredKeys?.map { NSString(string: $0) }, Key.desiredKeys)
        if let query { archiver.encode(query, forKey: Key.query) }
        if let cursor { archiver.encode(cursor, forKey: Key.cursor) }
        if let token { archiver.encode(token, forKey: Key.token) }
        archiver.encode(Int64(resultsLimit), forKey: Key.resultsLimit)
        archiver.encode(fetchesAll, forKey: Key.fetchesAll)
        if let configurations {
            let zones = Array(configurations.keys)
            encode(zones, Key.configuredZoneIDs)
            encode(zones.compactMap { configurations[$0] }, Key.configurations)
        }
        archiver.encode(Int64(policy.rawValue), forKey: Key.policy)
        archiver.encode(isAtomic, forKey: Key.isAtomic)
        if let clientToken { archiver.encode(NSData(data: clientToken), forKey: Key.clientToken) }
        archiver.encode(fetchesSpecial, forKey: Key.fetchesSpecial)
        archiver.encode(Int64(scope.rawValue), forKey: Key.scope)
        archiver.encode(Int64(quality.rawValue), forKey: Key.quality)
        if let group { archiver.encode(group, forKey: Key.group) }
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
        records = archive.list(of: CKRecord.self, Key.records)
        recordIDs = archive.list(of: CKRecordID.self, Key.recordIDs)
        zones = archive.list(of: CKRecordZone.self, Key.zones)
        zoneIDs = archive.list(of: CKRecordZoneID.self, Key.zoneIDs)
        subscriptions = archive.list(of: CKSubscription.self, Key.subscriptions)
        subscriptionIDs = archive.strings(Key.subscriptionIDs)
        desiredKeys = archive.strings(Key.desiredKeys)
        query = archive.object(CKQuery.self, Key.query)
        cursor = archive.object(CKQueryCursor.self, Key.cursor)
        token = archive.object(CKServerChangeToken.self, Key.token)
        resultsLimit = integer(Key.resultsLimit) ?? resultsLimit
        fetchesAll = archive.bool(Key.fetchesAll) ?? fetchesAll
        if let zones = archive.list(of: CKRecordZoneID.self, Key.configuredZoneIDs),
            let values = archive.list(of: CKFetchRecordZoneChangesConfiguration.self, Key.configurations)
        {
            configurations = Dictionary(zip(zones, values)) { first, _ in first }
        }
        policy = integer(Key.policy).flatMap { .init(rawValue: $0) } ?? policy
        isAtomic = archive.bool(Key.isAtomic) ?? isAtomic
        clientToken = archive.data(Key.clientToken).map { Data($0) }
        fetchesSpecial = archive.bool(Key.fetchesSpecial) ?? fetchesSpecial
        scope = integer(Key.scope).flatMap { .init(rawValue: $0) } ?? scope
        quality = integer(Key.quality).flatMap { .init(rawValue: $0) } ?? quality
        group = archive.object(CKOperationGroup.self, Key.group)
        if let error = unarchiver.error { throw error }
    }
}
