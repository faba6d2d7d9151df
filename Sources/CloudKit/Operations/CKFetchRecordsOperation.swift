import Foundation

/// Fetches records by their IDs.
///
/// ```swift
/// let operation = CKFetchRecordsOperation(recordIDs: ids)
/// operation.desiredKeys = ["title"]
/// operation.perRecordResultBlock = { id, result in print(id.recordName, result) }
/// operation.fetchRecordsResultBlock = { result in print("done", result) }
/// database.add(operation)
/// ```
// @unchecked: like its superclass.
public final class CKFetchRecordsOperation: CKDatabaseOperation, @unchecked Sendable {
    /// The records to fetch, from any zones of the database.
    public var recordIDs: [CKRecord.ID]?
    /// The fields to fetch; nil for all, an empty array for the records' metadata only.
    public var desiredKeys: [CKRecord.FieldKey]?

    /// Called with each record's progress: increasing fractions below 1 while asset files are read that this process
    /// has not checked yet, then 1 once the record is fetched.
    public var perRecordProgressBlock: ((CKRecord.ID, Double) -> Void)?
    /// Called once for each record.
    public var perRecordResultBlock: ((_ recordID: CKRecord.ID, _ recordResult: Result<CKRecord, Error>) -> Void)?
    /// Called once, at the end. Errors of single records do not fail the operation.
    public var fetchRecordsResultBlock: ((_ operationResult: Result<Void, Error>) -> Void)?

    private var oldItem: ((CKRecord?, CKRecord.ID?, Error?) -> Void)?
    private var completion: (([CKRecord.ID: CKRecord]?, Error?) -> Void)?
    private var fetchesCurrentUser = false

    /// Called once for each record, unless `perRecordResultBlock` is set.
    @available(*, deprecated, message: "Use perRecordResultBlock.")
    public var perRecordCompletionBlock: ((CKRecord?, CKRecord.ID?, Error?) -> Void)? {
        get { oldItem }
        set { oldItem = newValue }
    }

    /// Called once, at the end, unless `fetchRecordsResultBlock` is set; with `partialFailure` if a record failed.
    @available(*, deprecated, message: "Use fetchRecordsResultBlock.")
    public var fetchRecordsCompletionBlock: (([CKRecord.ID: CKRecord]?, Error?) -> Void)? {
        get { completion }
        set { completion = newValue }
    }

    /// Creates an operation that does nothing until it has IDs.
    public required override init() { super.init() }

    init(_ id: ID, _ archive: OperationArchive) {
        super.init(operationID: id)
        recordIDs = archive.recordIDs
        desiredKeys = archive.desiredKeys
        fetchesCurrentUser = archive.fetchesSpecial
    }

    override var archive: (kind: LongLivedOperation.Kind, properties: OperationArchive)? {
        var archive = OperationArchive()
        archive.recordIDs = recordIDs
        archive.desiredKeys = desiredKeys
        archive.fetchesSpecial = fetchesCurrentUser
        return (.fetchRecords, archive)
    }

    /// Creates an operation that fetches records.
    public convenience init(recordIDs: [CKRecord.ID]) {
        self.init()
        self.recordIDs = recordIDs
    }

    /// Returns an operation that fetches the current user's record, which exists without being saved.
    public class func fetchCurrentUserRecordOperation() -> Self {
        let operation = self.init()
        operation.fetchesCurrentUser = true
        return operation
    }

    override func makeRun() -> (any OperationRun)? {
        let (call, desiredKeys) = (call, desiredKeys)
        let progress = perRecordProgressBlock
        let old = perRecordResultBlock == nil ? oldItem : nil
        return FetchRun(
            settings: call.settings, ids: fetchesCurrentUser ? nil : recordIDs ?? [],
            failureMessage: "Failed to fetch some records",
            fetch: { ids, progress in
                guard let ids else { return [try await call.currentUserRecord(desiredKeys)] }
                return try await call.records(ids, desiredKeys, progress: progress)
            },
            progress: progress,
            before: { id, result in
                switch result {
                case .success(let record):
                    progress?(id, 1)
                    old?(record, id, nil)
                case .failure(let error): old?(nil, id, error)
                }
            }, item: perRecordResultBlock, result: fetchRecordsResultBlock, completion: completion)
    }
}

extension DatabaseCall {
    /// Returns the current user's record, empty if it was never saved (B116).
    fileprivate func currentUserRecord(
        _ desiredKeys: [CKRecord.FieldKey]?
    ) async throws -> (id: CKRecord.ID, result: Result<CKRecord, CKError>) {
        try client.requireAccount()
        guard database.scope != .shared else {
            throw CKError(.badDatabase, message: "The shared database has no user records.")
        }
        let id = CKRecord.ID(recordName: client.userRecordName)
        guard let fetched = try await records([id], desiredKeys).first else { throw CKError.noResult }
        if case .failure(let error) = fetched.result, error.code == .unknownItem {
            return (id, .success(CKRecord(recordType: CKRecord.SystemType.userRecord, recordID: id)))
        }
        return fetched
    }
}
