import CloudKit
import Testing

@Suite("The surface of databases")
struct DatabaseSurface {
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

    @Test("The database itself")
    func itself() {
        gives(database, \.databaseScope, CKDatabase.Scope.self)
        let _: (CKDatabaseOperation) -> Void = database.add
        let _: [CKDatabase.Scope] = [.public, .private, .shared]
        #expect(CKDatabase.Scope(rawValue: 3) == .shared)
    }

    @Test("One record")
    func record() {
        let _: (CKRecord.ID, @escaping Handler<CKRecord>) -> Void =
            database.fetch(withRecordID:completionHandler:)
        let _: (CKRecord.ID) async throws -> CKRecord = database.record(for:)
        let _: (CKRecord, @escaping Handler<CKRecord>) -> Void = database.save(_:completionHandler:)
        let _: (CKRecord) async throws -> CKRecord = database.save
        let _: (CKRecord.ID, @escaping Handler<CKRecord.ID>) -> Void =
            database.delete(withRecordID:completionHandler:)
        let _: (CKRecord.ID) async throws -> CKRecord.ID = database.deleteRecord(withID:)
    }

    @Test("Many records")
    func records() {
        let _: ([CKRecord.ID], [CKRecord.FieldKey]?, @escaping ResultHandler<Records>) -> Void =
            database.fetch(withRecordIDs:desiredKeys:completionHandler:)
        let _: ([CKRecord.ID], [CKRecord.FieldKey]?) async throws -> Records = database.records(for:desiredKeys:)
        typealias Policy = CKModifyRecordsOperation.RecordSavePolicy
        let _: ([CKRecord], [CKRecord.ID], Policy, Bool, @escaping ResultHandler<RecordResults>) -> Void =
            database.modifyRecords(saving:deleting:savePolicy:atomically:completionHandler:)
        let _: ([CKRecord], [CKRecord.ID], Policy, Bool) async throws -> RecordResults =
            database.modifyRecords(saving:deleting:savePolicy:atomically:)
    }

    @Test("Queries")
    func queries() {
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

    @Test("Queries, deprecated")
    @available(*, deprecated)
    func deprecatedQueries() {
        let _: (CKQuery, CKRecordZone.ID?, @escaping Handler<[CKRecord]>) -> Void =
            database.perform(_:inZoneWith:completionHandler:)
        let _: (CKQuery, CKRecordZone.ID?) async throws -> [CKRecord] = database.perform(_:inZoneWith:)
        let _: (CKQuery, CKRecordZone.ID?) async throws -> [CKRecord] = database.records(matching:inZoneWith:)
    }

    @Test("Zones")
    func zones() {
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

    @Test("Subscriptions")
    func subscriptions() {
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

    @Test("Changes")
    func changes() {
        typealias Token = CKServerChangeToken
        let _: (Token?, Int?, @escaping ResultHandler<DatabaseChanges>) -> Void =
            database.fetchDatabaseChanges(since:resultsLimit:completionHandler:)
        let _: (Token?, Int?) async throws -> DatabaseChanges = database.databaseChanges(since:resultsLimit:)
        let _: (CKRecordZone.ID, Token?, [CKRecord.FieldKey]?, Int?, @escaping ResultHandler<ZoneChanges>) -> Void =
            database.fetchRecordZoneChanges(inZoneWith:since:desiredKeys:resultsLimit:completionHandler:)
        let _: (CKRecordZone.ID, Token?, [CKRecord.FieldKey]?, Int?) async throws -> ZoneChanges =
            database.recordZoneChanges(inZoneWith:since:desiredKeys:resultsLimit:)
    }

    @Test("What a change tells")
    func change() {
        let _: KeyPath<CKDatabase.DatabaseChange.Modification, CKRecordZone.ID> = \.zoneID
        let _: KeyPath<CKDatabase.DatabaseChange.Deletion, CKRecordZone.ID> = \.zoneID
        let _: KeyPath<CKDatabase.DatabaseChange.Deletion, CKDatabase.DatabaseChange.Deletion.Reason> = \.reason
        let _: [CKDatabase.DatabaseChange.Deletion.Reason] = [.deleted, .purged, .encryptedDataReset]
        let _: KeyPath<CKDatabase.RecordZoneChange.Modification, CKRecord> = \.record
        let _: KeyPath<CKDatabase.RecordZoneChange.Deletion, CKRecord.ID> = \.recordID
        let _: KeyPath<CKDatabase.RecordZoneChange.Deletion, CKRecord.RecordType> = \.recordType
    }

    @Test("What a change tells, deprecated")
    @available(*, deprecated)
    func deprecatedChange() { let _: KeyPath<CKDatabase.DatabaseChange.Deletion, Bool> = \.purged }

    @Test("What has defaults can be left out, and results can be dropped")
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
            Issue.record("there is no such subscription")
        } catch {}
    }
}
