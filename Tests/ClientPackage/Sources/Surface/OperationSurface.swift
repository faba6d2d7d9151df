import CloudKit

/// The surface of operations.
struct OperationSurface: Section {
    private typealias Done = ((Result<Void, Error>) -> Void)?
    private typealias Each<ID, Value> = ((ID, Result<Value, Error>) -> Void)?

    @available(*, deprecated)
    func check() async throws {
        try operation()
        try running()
        try await longLived()
        try deprecatedOperation()
        try configuration()
        try modifyRecords()
        try modifyOthers()
        try fetches()
        try databaseChanges()
        try zoneChanges()
        try deprecatedBlocks()
    }

    // CKOperation, CKDatabaseOperation.
    func operation() throws {
        let operation = CKDatabaseOperation()
        _ = CKOperation()
        let _: Operation = operation
        keeps(operation, \.configuration, CKOperation.Configuration?.self)
        keeps(operation, \.group, CKOperationGroup?.self)
        gives(operation, \.operationID, CKOperation.ID.self)
        keeps(operation, \.longLivedOperationWasPersistedBlock, (() -> Void)?.self)
        keeps(operation, \.database, CKDatabase?.self)
        keeps(operation, \.qualityOfService, QualityOfService.self)
        operation.configuration.isLongLived = true
        operation.configuration = nil
        try expect(operation.configuration.isLongLived == false)
    }

    // A long-lived operation fails if Foundation is linked statically, since it archives nothing then.
    func longLived() async throws {
        let database = try CloudStore.inMemory().container(user: "anna").privateCloudDatabase
        let operation = CKModifyRecordsOperation(recordsToSave: [CKRecord(recordType: "Note")])
        operation.configuration.isLongLived = true
        let result = await withCheckedContinuation { continuation in
            operation.modifyRecordsResultBlock = { continuation.resume(returning: $0) }
            database.add(operation)
        }
        let archive = try NSKeyedArchiver.archivedData(withRootObject: NSString("a"), requiringSecureCoding: true)
        switch result {
        case .success: try expect(!archive.isEmpty)
        case .failure(let error): try expect(archive.isEmpty && (error as? CKError)?.code == .internalError)
        }
    }

    // CKOperation, deprecated.
    @available(*, deprecated)
    func deprecatedOperation() throws {
        let operation = CKOperation()
        keeps(operation, \.container, CKContainer?.self)
        keeps(operation, \.allowsCellularAccess, Bool.self)
        keeps(operation, \.isLongLived, Bool.self)
        keeps(operation, \.timeoutIntervalForRequest, TimeInterval.self)
        keeps(operation, \.timeoutIntervalForResource, TimeInterval.self)
    }

    // CKOperation.Configuration, CKOperationGroup.
    func configuration() throws {
        let configuration = CKOperation.Configuration()
        keeps(configuration, \.container, CKContainer?.self)
        keeps(configuration, \.qualityOfService, QualityOfService.self)
        keeps(configuration, \.allowsCellularAccess, Bool.self)
        keeps(configuration, \.isLongLived, Bool.self)
        keeps(configuration, \.timeoutIntervalForRequest, TimeInterval.self)
        keeps(configuration, \.timeoutIntervalForResource, TimeInterval.self)
        let group = CKOperationGroup()
        let _: (NSCoder) -> CKOperationGroup? = CKOperationGroup.init(coder:)
        gives(group, \.operationGroupID, String.self)
        keeps(group, \.defaultConfiguration, CKOperation.Configuration?.self)
        keeps(group, \.name, String?.self)
        keeps(group, \.quantity, Int.self)
        keeps(group, \.expectedSendSize, CKOperationGroup.TransferSize.self)
        keeps(group, \.expectedReceiveSize, CKOperationGroup.TransferSize.self)
        let sizes: [CKOperationGroup.TransferSize] = [
            .unknown, .kilobytes, .megabytes, .tensOfMegabytes, .hundredsOfMegabytes, .gigabytes, .tensOfGigabytes,
            .hundredsOfGigabytes,
        ]
        try expect(sizes.map(\.rawValue) == Array(0...7))
    }

    // CKModifyRecordsOperation.
    func modifyRecords() throws {
        _ = CKModifyRecordsOperation()
        _ = CKModifyRecordsOperation(recordsToSave: [])
        _ = CKModifyRecordsOperation(recordIDsToDelete: [])
        let operation = CKModifyRecordsOperation(recordsToSave: nil, recordIDsToDelete: nil)
        keeps(operation, \.recordsToSave, [CKRecord]?.self)
        keeps(operation, \.recordIDsToDelete, [CKRecord.ID]?.self)
        keeps(operation, \.savePolicy, CKModifyRecordsOperation.RecordSavePolicy.self)
        keeps(operation, \.clientChangeTokenData, Data?.self)
        keeps(operation, \.isAtomic, Bool.self)
        keeps(operation, \.perRecordProgressBlock, ((CKRecord, Double) -> Void)?.self)
        keeps(operation, \.perRecordSaveBlock, Each<CKRecord.ID, CKRecord>.self)
        keeps(operation, \.perRecordDeleteBlock, Each<CKRecord.ID, Void>.self)
        keeps(operation, \.modifyRecordsResultBlock, Done.self)
        let policies: [CKModifyRecordsOperation.RecordSavePolicy] = [.ifServerRecordUnchanged, .changedKeys, .allKeys]
        try expect(policies.map(\.rawValue) == [0, 1, 2])
    }

    // CKModifyRecordZonesOperation, CKModifySubscriptionsOperation.
    func modifyOthers() throws {
        _ = CKModifyRecordZonesOperation()
        _ = CKModifyRecordZonesOperation(recordZoneIDsToDelete: [])
        let zones = CKModifyRecordZonesOperation(recordZonesToSave: [], recordZoneIDsToDelete: nil)
        keeps(zones, \.recordZonesToSave, [CKRecordZone]?.self)
        keeps(zones, \.recordZoneIDsToDelete, [CKRecordZone.ID]?.self)
        keeps(zones, \.perRecordZoneSaveBlock, Each<CKRecordZone.ID, CKRecordZone>.self)
        keeps(zones, \.perRecordZoneDeleteBlock, Each<CKRecordZone.ID, Void>.self)
        keeps(zones, \.modifyRecordZonesResultBlock, Done.self)
        _ = CKModifySubscriptionsOperation()
        _ = CKModifySubscriptionsOperation(subscriptionIDsToDelete: [])
        let subscriptions = CKModifySubscriptionsOperation(subscriptionsToSave: [], subscriptionIDsToDelete: nil)
        keeps(subscriptions, \.subscriptionsToSave, [CKSubscription]?.self)
        keeps(subscriptions, \.subscriptionIDsToDelete, [CKSubscription.ID]?.self)
        keeps(subscriptions, \.perSubscriptionSaveBlock, Each<CKSubscription.ID, CKSubscription>.self)
        keeps(subscriptions, \.perSubscriptionDeleteBlock, Each<CKSubscription.ID, Void>.self)
        keeps(subscriptions, \.modifySubscriptionsResultBlock, Done.self)
    }

    // CKFetchRecordsOperation, CKFetchRecordZonesOperation, CKFetchSubscriptionsOperation.
    func fetches() throws {
        _ = CKFetchRecordsOperation()
        let _: CKFetchRecordsOperation = .fetchCurrentUserRecordOperation()
        let records = CKFetchRecordsOperation(recordIDs: [])
        keeps(records, \.recordIDs, [CKRecord.ID]?.self)
        keeps(records, \.desiredKeys, [CKRecord.FieldKey]?.self)
        keeps(records, \.perRecordProgressBlock, ((CKRecord.ID, Double) -> Void)?.self)
        keeps(records, \.perRecordResultBlock, Each<CKRecord.ID, CKRecord>.self)
        keeps(records, \.fetchRecordsResultBlock, Done.self)
        _ = CKFetchRecordZonesOperation()
        let _: CKFetchRecordZonesOperation = .fetchAllRecordZonesOperation()
        let zones = CKFetchRecordZonesOperation(recordZoneIDs: [])
        keeps(zones, \.recordZoneIDs, [CKRecordZone.ID]?.self)
        keeps(zones, \.perRecordZoneResultBlock, Each<CKRecordZone.ID, CKRecordZone>.self)
        keeps(zones, \.fetchRecordZonesResultBlock, Done.self)
        _ = CKFetchSubscriptionsOperation()
        let _: CKFetchSubscriptionsOperation = .fetchAllSubscriptionsOperation()
        let subscriptions = CKFetchSubscriptionsOperation(subscriptionIDs: [])
        keeps(subscriptions, \.subscriptionIDs, [CKSubscription.ID]?.self)
        keeps(subscriptions, \.perSubscriptionResultBlock, Each<CKSubscription.ID, CKSubscription>.self)
        keeps(subscriptions, \.fetchSubscriptionsResultBlock, Done.self)
    }

    // CKFetchDatabaseChangesOperation.
    func databaseChanges() throws {
        _ = CKFetchDatabaseChangesOperation()
        let operation = CKFetchDatabaseChangesOperation(previousServerChangeToken: nil)
        keeps(operation, \.previousServerChangeToken, CKServerChangeToken?.self)
        keeps(operation, \.resultsLimit, Int.self)
        keeps(operation, \.fetchAllChanges, Bool.self)
        keeps(operation, \.recordZoneWithIDChangedBlock, ((CKRecordZone.ID) -> Void)?.self)
        keeps(operation, \.recordZoneWithIDWasDeletedBlock, ((CKRecordZone.ID) -> Void)?.self)
        keeps(operation, \.recordZoneWithIDWasPurgedBlock, ((CKRecordZone.ID) -> Void)?.self)
        keeps(
            operation, \.recordZoneWithIDWasDeletedDueToUserEncryptedDataResetBlock,
            ((CKRecordZone.ID) -> Void)?.self)
        keeps(operation, \.changeTokenUpdatedBlock, ((CKServerChangeToken) -> Void)?.self)
        keeps(
            operation, \.fetchDatabaseChangesResultBlock,
            ((Result<(serverChangeToken: CKServerChangeToken, moreComing: Bool), Error>) -> Void)?.self)
    }

    // CKFetchRecordZoneChangesOperation.
    func zoneChanges() throws {
        typealias Configuration = CKFetchRecordZoneChangesOperation.ZoneConfiguration
        _ = CKFetchRecordZoneChangesOperation()
        _ = CKFetchRecordZoneChangesOperation(recordZoneIDs: [.default])
        _ = CKFetchRecordZoneChangesOperation(configurationsByRecordZoneID: [.default: Configuration()])
        let operation = CKFetchRecordZoneChangesOperation(recordZoneIDs: nil, configurationsByRecordZoneID: nil)
        keeps(operation, \.recordZoneIDs, [CKRecordZone.ID]?.self)
        keeps(operation, \.configurationsByRecordZoneID, [CKRecordZone.ID: Configuration]?.self)
        keeps(operation, \.fetchAllChanges, Bool.self)
        keeps(operation, \.recordWasChangedBlock, Each<CKRecord.ID, CKRecord>.self)
        keeps(operation, \.recordWithIDWasDeletedBlock, ((CKRecord.ID, CKRecord.RecordType) -> Void)?.self)
        keeps(
            operation, \.recordZoneChangeTokensUpdatedBlock,
            ((CKRecordZone.ID, CKServerChangeToken?, Data?) -> Void)?.self)
        typealias Ended = (serverChangeToken: CKServerChangeToken, clientChangeTokenData: Data?, moreComing: Bool)
        keeps(operation, \.recordZoneFetchResultBlock, Each<CKRecordZone.ID, Ended>.self)
        keeps(operation, \.fetchRecordZoneChangesResultBlock, Done.self)
        _ = Configuration(previousServerChangeToken: nil)
        _ = Configuration(resultsLimit: 3)
        let configuration = Configuration(previousServerChangeToken: nil, resultsLimit: nil, desiredKeys: [])
        keeps(configuration, \.previousServerChangeToken, CKServerChangeToken?.self)
        keeps(configuration, \.resultsLimit, Int.self)
        keeps(configuration, \.desiredKeys, [CKRecord.FieldKey]?.self)
    }

    // Blocks of the first generation, deprecated.
    @available(*, deprecated)
    func deprecatedBlocks() throws {
        typealias Token = CKServerChangeToken
        let modify = CKModifyRecordsOperation()
        keeps(modify, \.perRecordCompletionBlock, ((CKRecord, Error?) -> Void)?.self)
        keeps(modify, \.modifyRecordsCompletionBlock, (([CKRecord]?, [CKRecord.ID]?, Error?) -> Void)?.self)
        keeps(
            CKModifyRecordZonesOperation(), \.modifyRecordZonesCompletionBlock,
            (([CKRecordZone]?, [CKRecordZone.ID]?, Error?) -> Void)?.self)
        keeps(
            CKModifySubscriptionsOperation(), \.modifySubscriptionsCompletionBlock,
            (([CKSubscription]?, [CKSubscription.ID]?, Error?) -> Void)?.self)
        let fetch = CKFetchRecordsOperation()
        keeps(fetch, \.perRecordCompletionBlock, ((CKRecord?, CKRecord.ID?, Error?) -> Void)?.self)
        keeps(fetch, \.fetchRecordsCompletionBlock, (([CKRecord.ID: CKRecord]?, Error?) -> Void)?.self)
        keeps(
            CKFetchRecordZonesOperation(), \.fetchRecordZonesCompletionBlock,
            (([CKRecordZone.ID: CKRecordZone]?, Error?) -> Void)?.self)
        keeps(
            CKFetchSubscriptionsOperation(), \.fetchSubscriptionCompletionBlock,
            (([CKSubscription.ID: CKSubscription]?, Error?) -> Void)?.self)
        keeps(
            CKFetchDatabaseChangesOperation(), \.fetchDatabaseChangesCompletionBlock,
            ((Token?, Bool, Error?) -> Void)?.self)
        let changes = CKFetchRecordZoneChangesOperation(recordZoneIDs: [], optionsByRecordZoneID: [:])
        let options = CKFetchRecordZoneChangesOperation.ZoneOptions()
        keeps(options, \.previousServerChangeToken, Token?.self)
        keeps(options, \.resultsLimit, Int.self)
        keeps(options, \.desiredKeys, [CKRecord.FieldKey]?.self)
        changes.optionsByRecordZoneID = [.default: options]
        keeps(changes, \.recordChangedBlock, ((CKRecord) -> Void)?.self)
        keeps(
            changes, \.recordZoneFetchCompletionBlock,
            ((CKRecordZone.ID, Token?, Data?, Bool, Error?) -> Void)?.self)
        keeps(changes, \.fetchRecordZoneChangesCompletionBlock, ((Error?) -> Void)?.self)
        let single = CKFetchRecordChangesOperation(recordZoneID: .default, previousServerChangeToken: nil)
        keeps(CKFetchRecordChangesOperation(), \.recordZoneID, CKRecordZone.ID?.self)
        keeps(single, \.previousServerChangeToken, Token?.self)
        keeps(single, \.resultsLimit, Int.self)
        keeps(single, \.desiredKeys, [CKRecord.FieldKey]?.self)
        keeps(single, \.recordChangedBlock, ((CKRecord) -> Void)?.self)
        keeps(single, \.recordWithIDWasDeletedBlock, ((CKRecord.ID) -> Void)?.self)
        gives(single, \.moreComing, Bool.self)
        keeps(single, \.fetchRecordChangesCompletionBlock, ((Token?, Data?, Error?) -> Void)?.self)
        let _: CKDatabaseOperation = single
        let query = CKQueryOperation()
        keeps(query, \.recordFetchedBlock, ((CKRecord) -> Void)?.self)
        keeps(query, \.queryCompletionBlock, ((CKQueryOperation.Cursor?, Error?) -> Void)?.self)
    }

    // What Foundation's queue asks an operation for.
    func running() throws {
        let operation = CKModifyRecordsOperation()
        let base: CKOperation = operation
        gives(base, \.isAsynchronous, Bool.self)
        gives(base, \.isExecuting, Bool.self)
        gives(base, \.isFinished, Bool.self)
        let _: () -> Void = base.start
        (operation as CKDatabaseOperation).cancel()
        try expect(base.isCancelled)
    }
}
