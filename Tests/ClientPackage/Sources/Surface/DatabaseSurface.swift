import CloudKit

/// The surface of databases.
struct DatabaseSurface: Section {
    private let database: CKDatabase

    init() throws { database = try CloudStore.inMemory().container(user: "anna").privateCloudDatabase }

    private typealias Records = Results<CKRecord.ID, CKRecord>
    private typealias RecordResults = (
        saveResults: [CKRecord.ID: Result<CKRecord, Error>], deleteResults: [CKRecord.ID: Result<Void, Error>]
    )
    private typealias Zones = Results<CKRecordZone.ID, CKRecordZone>
    private typealias ZoneResults = (
        saveResults: [CKRecordZone.ID: Result<CKRecordZone, Error>],
        deleteResults: [CKRecordZone.ID: Result<Void, Error>]
    )
    private typealias Subscriptions = Results<CKSubscription.ID, CKSubscription>
    private typealias SubscriptionResults = (
        saveResults: [CKSubscription.ID: Result<CKSubscription, Error>],
        deleteResults: [CKSubscription.ID: Result<Void, Error>]
    )
    private typealias Matches = (
        matchResults: [(CKRecord.ID, Result<CKRecord, Error>)], queryCursor: CKQueryOperation.Cursor?
    )
    private typealias DatabaseChanges = (
        modifications: [CKDatabase.DatabaseChange.Modification], deletions: [CKDatabase.DatabaseChange.Deletion],
        changeToken: CKServerChangeToken, moreComing: Bool
    )
    private typealias ZoneChanges = (
        modificationResultsByID: [CKRecord.ID: Result<CKDatabase.RecordZoneChange.Modification, Error>],
        deletions: [CKDatabase.RecordZoneChange.Deletion], changeToken: CKServerChangeToken, moreComing: Bool
    )

    @available(*, deprecated)
    func check() async throws {
        try itself()
        try record()
        try records()
        try queries()
        try deprecatedQueries()
        try zones()
        try subscriptions()
        try changes()
        try change()
        try deprecatedChange()
        try await defaults()
        try await additions()
    }

    // The database itself.
    func itself() throws {
        gives(database, \.databaseScope, CKDatabase.Scope.self)
        let _: (CKDatabaseOperation) -> Void = database.add
        let _: [CKDatabase.Scope] = [.public, .private, .shared]
        try expect(CKDatabase.Scope(rawValue: 3) == .shared)
    }

    // One record.
    func record() throws {
        let _: (CKRecord.ID, @escaping Handler<CKRecord>) -> Void =
            database.fetch(withRecordID:completionHandler:)
        let _: (CKRecord.ID) async throws -> CKRecord = database.record(for:)
        let _: (CKRecord, @escaping Handler<CKRecord>) -> Void = database.save(_:completionHandler:)
        let _: (CKRecord) async throws -> CKRecord = database.save
        let _: (CKRecord.ID, @escaping Handler<CKRecord.ID>) -> Void =
            database.delete(withRecordID:completionHandler:)
        let _: (CKRecord.ID) async throws -> CKRecord.ID = database.deleteRecord(withID:)
    }

    // Many records.
    func records() throws {
        let _: ([CKRecord.ID], [CKRecord.FieldKey]?, @escaping ResultHandler<Records>) -> Void =
            database.fetch(withRecordIDs:desiredKeys:completionHandler:)
        let _: ([CKRecord.ID], [CKRecord.FieldKey]?) async throws -> Records = database.records(for:desiredKeys:)
        typealias Policy = CKModifyRecordsOperation.RecordSavePolicy
        let _: ([CKRecord], [CKRecord.ID], Policy, Bool, @escaping ResultHandler<RecordResults>) -> Void =
            database.modifyRecords(saving:deleting:savePolicy:atomically:completionHandler:)
        let _: ([CKRecord], [CKRecord.ID], Policy, Bool) async throws -> RecordResults =
            database.modifyRecords(saving:deleting:savePolicy:atomically:)
    }

    // Queries.
    func queries() throws {
        typealias Keys = [CKRecord.FieldKey]?
        typealias Cursor = CKQueryOperation.Cursor
        let _: (CKQuery, CKRecordZone.ID?, Keys, Int, @escaping ResultHandler<Matches>) -> Void =
            database.fetch(withQuery:inZoneWith:desiredKeys:resultsLimit:completionHandler:)
        let _: (Cursor, Keys, Int, @escaping ResultHandler<Matches>) -> Void =
            database.fetch(withCursor:desiredKeys:resultsLimit:completionHandler:)
        let _: (CKQuery, CKRecordZone.ID?, Keys, Int) async throws -> Matches =
            database.records(matching:inZoneWith:desiredKeys:resultsLimit:)
        let _: (Cursor, Keys, Int) async throws -> Matches =
            database.records(continuingMatchFrom:desiredKeys:resultsLimit:)
    }

    // Queries, deprecated.
    @available(*, deprecated)
    func deprecatedQueries() throws {
        let _: (CKQuery, CKRecordZone.ID?, @escaping Handler<[CKRecord]>) -> Void =
            database.perform(_:inZoneWith:completionHandler:)
        let _: (CKQuery, CKRecordZone.ID?) async throws -> [CKRecord] = database.perform(_:inZoneWith:)
        let _: (CKQuery, CKRecordZone.ID?) async throws -> [CKRecord] = database.records(matching:inZoneWith:)
    }

    // Zones.
    func zones() throws {
        let _: (@escaping Handler<[CKRecordZone]>) -> Void = database.fetchAllRecordZones(completionHandler:)
        let _: () async throws -> [CKRecordZone] = database.allRecordZones
        let _: (CKRecordZone.ID, @escaping Handler<CKRecordZone>) -> Void =
            database.fetch(withRecordZoneID:completionHandler:)
        let _: (CKRecordZone.ID) async throws -> CKRecordZone = database.recordZone(for:)
        let _: ([CKRecordZone.ID], @escaping ResultHandler<Zones>) -> Void =
            database.fetch(withRecordZoneIDs:completionHandler:)
        let _: ([CKRecordZone.ID]) async throws -> Zones = database.recordZones(for:)
        let _: (CKRecordZone, @escaping Handler<CKRecordZone>) -> Void = database.save(_:completionHandler:)
        let _: (CKRecordZone) async throws -> CKRecordZone = database.save
        let _: (CKRecordZone.ID, @escaping Handler<CKRecordZone.ID>) -> Void =
            database.delete(withRecordZoneID:completionHandler:)
        let _: (CKRecordZone.ID) async throws -> CKRecordZone.ID = database.deleteRecordZone(withID:)
        let _: ([CKRecordZone], [CKRecordZone.ID], @escaping ResultHandler<ZoneResults>) -> Void =
            database.modifyRecordZones(saving:deleting:completionHandler:)
        let _: ([CKRecordZone], [CKRecordZone.ID]) async throws -> ZoneResults =
            database.modifyRecordZones(saving:deleting:)
    }

    // Subscriptions.
    func subscriptions() throws {
        let _: (@escaping Handler<[CKSubscription]>) -> Void = database.fetchAllSubscriptions(completionHandler:)
        let _: () async throws -> [CKSubscription] = database.allSubscriptions
        let _: (CKSubscription.ID, @escaping Handler<CKSubscription>) -> Void =
            database.fetch(withSubscriptionID:completionHandler:)
        let _: (CKSubscription.ID) async throws -> CKSubscription = database.subscription(for:)
        let _: ([CKSubscription.ID], @escaping ResultHandler<Subscriptions>) -> Void =
            database.fetch(withSubscriptionIDs:completionHandler:)
        let _: ([CKSubscription.ID]) async throws -> Subscriptions = database.subscriptions(for:)
        let _: (CKSubscription, @escaping Handler<CKSubscription>) -> Void = database.save(_:completionHandler:)
        let _: (CKSubscription) async throws -> CKSubscription = database.save
        let _: (CKSubscription.ID, @escaping Handler<String>) -> Void =
            database.delete(withSubscriptionID:completionHandler:)
        let _: (CKSubscription.ID) async throws -> CKSubscription.ID = database.deleteSubscription(withID:)
        let _: ([CKSubscription], [CKSubscription.ID], @escaping ResultHandler<SubscriptionResults>) -> Void =
            database.modifySubscriptions(saving:deleting:completionHandler:)
        let _: ([CKSubscription], [CKSubscription.ID]) async throws -> SubscriptionResults =
            database.modifySubscriptions(saving:deleting:)
    }

    // Changes.
    func changes() throws {
        typealias Token = CKServerChangeToken
        let _: (Token?, Int?, @escaping ResultHandler<DatabaseChanges>) -> Void =
            database.fetchDatabaseChanges(since:resultsLimit:completionHandler:)
        let _: (Token?, Int?) async throws -> DatabaseChanges = database.databaseChanges(since:resultsLimit:)
        let _: (CKRecordZone.ID, Token?, [CKRecord.FieldKey]?, Int?, @escaping ResultHandler<ZoneChanges>) -> Void =
            database.fetchRecordZoneChanges(inZoneWith:since:desiredKeys:resultsLimit:completionHandler:)
        let _: (CKRecordZone.ID, Token?, [CKRecord.FieldKey]?, Int?) async throws -> ZoneChanges =
            database.recordZoneChanges(inZoneWith:since:desiredKeys:resultsLimit:)
    }

    // What a change tells.
    func change() throws {
        let _: KeyPath<CKDatabase.DatabaseChange.Modification, CKRecordZone.ID> = \.zoneID
        let _: KeyPath<CKDatabase.DatabaseChange.Deletion, CKRecordZone.ID> = \.zoneID
        let _: KeyPath<CKDatabase.DatabaseChange.Deletion, CKDatabase.DatabaseChange.Deletion.Reason> = \.reason
        let _: [CKDatabase.DatabaseChange.Deletion.Reason] = [.deleted, .purged, .encryptedDataReset]
        let _: KeyPath<CKDatabase.RecordZoneChange.Modification, CKRecord> = \.record
        let _: KeyPath<CKDatabase.RecordZoneChange.Deletion, CKRecord.ID> = \.recordID
        let _: KeyPath<CKDatabase.RecordZoneChange.Deletion, CKRecord.RecordType> = \.recordType
    }

    // What a change tells, deprecated.
    @available(*, deprecated)
    func deprecatedChange() throws { let _: KeyPath<CKDatabase.DatabaseChange.Deletion, Bool> = \.purged }

    // What has defaults can be left out, and results can be dropped.
    func defaults() async throws {
        let zone = CKRecordZone(zoneName: "Notes")
        let id = CKRecord.ID(recordName: "a", zoneID: zone.zoneID)
        try await database.save(zone)
        try await database.recordZone(for: zone.zoneID)
        try await database.save(CKRecord(recordType: "Note", recordID: id))
        try await database.record(for: id)
        _ = try await database.records(for: [id])
        _ = try await database.modifyRecords(saving: [], deleting: [id])
        try await database.deleteRecord(withID: id)
        try await database.deleteRecordZone(withID: zone.zoneID)
        database.fetch(withRecordIDs: [id]) { _ in }
        database.modifyRecords(saving: [], deleting: []) { _ in }
        let query = CKQuery(recordType: "Note", predicate: NSPredicate(value: true))
        _ = try? await database.records(matching: query)
        _ = try? await database.databaseChanges(since: nil)
        _ = try? await database.recordZoneChanges(inZoneWith: zone.zoneID, since: nil)
        do {
            try await database.subscription(for: "none")
            try await database.deleteSubscription(withID: "none")
            throw Unexpected("there is no such subscription")
        } catch {}
    }

    // What Strata adds.
    func additions() async throws {
        let query = CKQuery(recordType: "Note", predicate: NSPredicate(value: true))
        let zone = CKRecordZone.default().zoneID
        let _: CloudStore.QueryPlan? = try? await database.queryPlan(
            for: query, inZoneWith: zone, resultsLimit: 1, carryingOut: false)
        try await database.save(CKRecordZone(zoneName: "Followed"))
        let changes: CKDatabase.Changes = database.changes(after: nil)
        var iterator: CKDatabase.Changes.Iterator = changes.makeAsyncIterator()
        let first: CKDatabase.Changes.Element? = await iterator.next()
        let page: CKDatabase.ChangePage? = try first?.get()
        try expect(page?.modifications.count == 1 && page?.deletions.isEmpty == true)
        let _: CKServerChangeToken? = page?.changeToken
        let _: CKDatabase.Changes.Failure.Type = Never.self
        let _: (inout CKDatabase.Changes.Iterator, isolated (any Actor)?) async -> CKDatabase.Changes.Element? = {
            await $0.next(isolation: $1)
        }
    }
}
