import CloudKit

/// The methods with completion handlers as clients declare them in protocols, without `@Sendable`, to pass stand-ins
/// for databases.
protocol PlainDatabase {
    func fetch(withRecordID recordID: CKRecord.ID, completionHandler: @escaping (CKRecord?, Error?) -> Void)
    func save(_ record: CKRecord, completionHandler: @escaping (CKRecord?, Error?) -> Void)
    func delete(
        withRecordID recordID: CKRecord.ID, completionHandler: @escaping (CKRecord.ID?, Error?) -> Void
    )
    func fetch(
        withRecordIDs recordIDs: [CKRecord.ID], desiredKeys: [CKRecord.FieldKey]?,
        completionHandler: @escaping (Result<[CKRecord.ID: Result<CKRecord, Error>], Error>) -> Void
    )
    func modifyRecords(
        saving recordsToSave: [CKRecord], deleting recordIDsToDelete: [CKRecord.ID],
        savePolicy: CKModifyRecordsOperation.RecordSavePolicy, atomically: Bool,
        completionHandler:
            @escaping (
                Result<
                    (
                        saveResults: [CKRecord.ID: Result<CKRecord, Error>],
                        deleteResults: [CKRecord.ID: Result<Void, Error>]
                    ), Error
                >
            ) -> Void
    )
    func fetch(
        withRecordZoneID zoneID: CKRecordZone.ID,
        completionHandler: @escaping (CKRecordZone?, Error?) -> Void
    )
    func save(_ zone: CKRecordZone, completionHandler: @escaping (CKRecordZone?, Error?) -> Void)
    func delete(
        withRecordZoneID zoneID: CKRecordZone.ID,
        completionHandler: @escaping (CKRecordZone.ID?, Error?) -> Void
    )
    func fetchAllRecordZones(completionHandler: @escaping ([CKRecordZone]?, Error?) -> Void)
    func fetch(
        withRecordZoneIDs zoneIDs: [CKRecordZone.ID],
        completionHandler: @escaping (Result<[CKRecordZone.ID: Result<CKRecordZone, Error>], Error>) -> Void
    )
    func modifyRecordZones(
        saving recordZonesToSave: [CKRecordZone], deleting recordZoneIDsToDelete: [CKRecordZone.ID],
        completionHandler:
            @escaping (
                Result<
                    (
                        saveResults: [CKRecordZone.ID: Result<CKRecordZone, Error>],
                        deleteResults: [CKRecordZone.ID: Result<Void, Error>]
                    ), Error
                >
            ) -> Void
    )
    func fetch(
        withQuery query: CKQuery, inZoneWith zoneID: CKRecordZone.ID?, desiredKeys: [CKRecord.FieldKey]?,
        resultsLimit: Int,
        completionHandler:
            @escaping (
                Result<
                    (matchResults: [(CKRecord.ID, Result<CKRecord, Error>)], queryCursor: CKQueryOperation.Cursor?),
                    Error
                >
            ) -> Void
    )
    func fetch(
        withCursor queryCursor: CKQueryOperation.Cursor, desiredKeys: [CKRecord.FieldKey]?, resultsLimit: Int,
        completionHandler:
            @escaping (
                Result<
                    (matchResults: [(CKRecord.ID, Result<CKRecord, Error>)], queryCursor: CKQueryOperation.Cursor?),
                    Error
                >
            ) -> Void
    )
    func fetchDatabaseChanges(
        since changeToken: CKServerChangeToken?, resultsLimit: Int?,
        completionHandler:
            @escaping (
                Result<
                    (
                        modifications: [CKDatabase.DatabaseChange.Modification],
                        deletions: [CKDatabase.DatabaseChange.Deletion],
                        changeToken: CKServerChangeToken, moreComing: Bool
                    ), Error
                >
            ) -> Void
    )
    func fetchRecordZoneChanges(
        inZoneWith zoneID: CKRecordZone.ID, since changeToken: CKServerChangeToken?, desiredKeys: [CKRecord.FieldKey]?,
        resultsLimit: Int?,
        completionHandler:
            @escaping (
                Result<
                    (
                        modificationResultsByID: [CKRecord.ID: Result<CKDatabase.RecordZoneChange.Modification, Error>],
                        deletions: [CKDatabase.RecordZoneChange.Deletion], changeToken: CKServerChangeToken,
                        moreComing: Bool
                    ), Error
                >
            ) -> Void
    )
    func fetch(
        withSubscriptionID subscriptionID: CKSubscription.ID,
        completionHandler: @escaping (CKSubscription?, Error?) -> Void
    )
    func fetchAllSubscriptions(completionHandler: @escaping ([CKSubscription]?, Error?) -> Void)
    func fetch(
        withSubscriptionIDs subscriptionIDs: [CKSubscription.ID],
        completionHandler:
            @escaping (
                Result<[CKSubscription.ID: Result<CKSubscription, Error>], Error>
            ) -> Void
    )
    func save(_ subscription: CKSubscription, completionHandler: @escaping (CKSubscription?, Error?) -> Void)
    func delete(
        withSubscriptionID subscriptionID: CKSubscription.ID,
        completionHandler: @escaping (String?, Error?) -> Void
    )
    func modifySubscriptions(
        saving subscriptionsToSave: [CKSubscription], deleting subscriptionIDsToDelete: [CKSubscription.ID],
        completionHandler:
            @escaping (
                Result<
                    (
                        saveResults: [CKSubscription.ID: Result<CKSubscription, Error>],
                        deleteResults: [CKSubscription.ID: Result<Void, Error>]
                    ), Error
                >
            ) -> Void
    )
    func record(for recordID: CKRecord.ID) async throws -> CKRecord
}

/// The same for containers.
protocol PlainContainer {
    func accountStatus(completionHandler: @escaping (CKAccountStatus, Error?) -> Void)
    func fetchUserRecordID(completionHandler: @escaping (CKRecord.ID?, Error?) -> Void)
    func fetchAllLongLivedOperationIDs(completionHandler: @escaping ([CKOperation.ID]?, Error?) -> Void)
    func fetchLongLivedOperation(
        withID operationID: CKOperation.ID, completionHandler: @escaping (CKOperation?, Error?) -> Void
    )
    func fetchShareMetadata(with url: URL, completionHandler: @escaping (CKShare.Metadata?, Error?) -> Void)
    func fetchShareMetadatas(
        for urls: [URL],
        completionHandler: @escaping (Result<[URL: Result<CKShare.Metadata, Error>], Error>) -> Void
    )
    func accept(_ metadata: CKShare.Metadata, completionHandler: @escaping (CKShare?, Error?) -> Void)
    func accept(
        _ metadatas: [CKShare.Metadata],
        completionHandler: @escaping (Result<[CKShare.Metadata: Result<CKShare, Error>], Error>) -> Void
    )
    func fetchShareParticipant(
        withEmailAddress email: String, completionHandler: @escaping (CKShare.Participant?, Error?) -> Void
    )
    func fetchShareParticipant(
        withPhoneNumber phoneNumber: String,
        completionHandler: @escaping (CKShare.Participant?, Error?) -> Void
    )
    func fetchShareParticipant(
        withUserRecordID userRecordID: CKRecord.ID,
        completionHandler: @escaping (CKShare.Participant?, Error?) -> Void
    )
    func fetchShareParticipants(
        forEmailAddresses emails: [String],
        completionHandler: @escaping (Result<[String: Result<CKShare.Participant, Error>], Error>) -> Void
    )
    func fetchShareParticipants(
        forPhoneNumbers phoneNumbers: [String],
        completionHandler: @escaping (Result<[String: Result<CKShare.Participant, Error>], Error>) -> Void
    )
    func fetchShareParticipants(
        forUserRecordIDs userRecordIDs: [CKRecord.ID],
        completionHandler:
            @escaping (Result<[CKRecord.ID: Result<CKShare.Participant, Error>], Error>) -> Void
    )
}

/// The same of a client that declares the handlers as Apple does.
protocol SendableDatabase {
    func save(_ record: CKRecord, completionHandler: @escaping @Sendable (CKRecord?, Error?) -> Void)
}

extension CKDatabase: PlainDatabase, SendableDatabase {}
extension CKContainer: PlainContainer {}

/// The conformance to protocols of clients.
struct PlainHandlerSurface: Section {
    private let container: CKContainer

    init() throws { container = try CloudStore.inMemory().container(user: "anna") }

    func check() async throws {
        let _: any SendableHandlers = container
        let plain: any PlainDatabase = container.privateCloudDatabase
        let saved = try await withCheckedThrowingContinuation { (continuation: Continuation) in
            plain.save(CKRecord(recordType: "Note", recordID: CKRecord.ID(recordName: "a"))) { record, error in
                if let record { continuation.resume(returning: record) }
                if let error { continuation.resume(throwing: error) }
            }
        }
        try expect(saved.recordChangeTag != nil)
    }

    private typealias Continuation = CheckedContinuation<CKRecord, any Error>
}
