import Foundation
import StrataSystem

/// Saves and deletes records in one commit.
///
/// ```swift
/// let operation = CKModifyRecordsOperation(recordsToSave: notes, recordIDsToDelete: [old])
/// operation.savePolicy = .changedKeys
/// operation.perRecordSaveBlock = { id, result in
///     if case .failure(let error) = result { print(id.recordName, error) }
/// }
/// operation.modifyRecordsResultBlock = { result in print("done", result) }
/// database.add(operation)
/// ```
///
/// Errors of single records are passed to the records' blocks; the operation itself succeeds then. A record that is
/// saved gets its new change tag, dates and users before its block is called, but keeps its fields (B319).
// @unchecked: like its superclass.
public final class CKModifyRecordsOperation: CKDatabaseOperation, @unchecked Sendable {
    /// The handling of changes that others have saved since the record was fetched.
    public enum RecordSavePolicy: Int, Sendable, BitwiseCopyable {
        /// The save fails with `serverRecordChanged`.
        case ifServerRecordUnchanged = 0
        /// The save writes the keys that were changed, regardless of their stored values.
        case changedKeys = 1
        /// The save writes all keys of the record.
        case allKeys = 2
    }

    /// The records to save.
    public var recordsToSave: [CKRecord]?
    /// The records to delete.
    public var recordIDsToDelete: [CKRecord.ID]?
    /// The handling of changes saved by others; `.ifServerRecordUnchanged` by default.
    public var savePolicy = RecordSavePolicy.ifServerRecordUnchanged
    /// Data that this device receives with the next fetch of a changed zone's changes.
    public var clientChangeTokenData: Data?
    /// True if the items of a zone fail together, in zones that support this, as by default.
    public var isAtomic = true

    /// Called with each save's progress: increasing fractions below 1 while asset files are copied, then 1 once the
    /// record is saved. A record that fails never reports 1; it reports 0 if it reported nothing before.
    public var perRecordProgressBlock: ((CKRecord, Double) -> Void)?
    /// Called once for each record to save.
    public var perRecordSaveBlock: ((_ recordID: CKRecord.ID, _ saveResult: Result<CKRecord, Error>) -> Void)?
    /// Called once for each record to delete.
    public var perRecordDeleteBlock: ((_ recordID: CKRecord.ID, _ deleteResult: Result<Void, Error>) -> Void)?
    /// Called once, at the end. Errors of single records do not fail the operation.
    public var modifyRecordsResultBlock: ((_ operationResult: Result<Void, Error>) -> Void)?

    private var oldItem: ((CKRecord, Error?) -> Void)?
    private var completion: (([CKRecord]?, [CKRecord.ID]?, Error?) -> Void)?

    /// Called once for each record to save, unless `perRecordSaveBlock` is set.
    @available(*, deprecated, message: "Use perRecordSaveBlock.")
    public var perRecordCompletionBlock: ((CKRecord, Error?) -> Void)? {
        get { oldItem }
        set { oldItem = newValue }
    }

    /// Called once, at the end, unless `modifyRecordsResultBlock` is set; with `partialFailure` if an item failed.
    @available(*, deprecated, message: "Use modifyRecordsResultBlock.")
    public var modifyRecordsCompletionBlock: (([CKRecord]?, [CKRecord.ID]?, Error?) -> Void)? {
        get { completion }
        set { completion = newValue }
    }

    /// Creates an operation that does nothing until it has records.
    public override init() { super.init() }

    init(_ id: ID, _ archive: OperationArchive) {
        super.init(operationID: id)
        recordsToSave = archive.records
        recordIDsToDelete = archive.recordIDs
        savePolicy = archive.policy
        isAtomic = archive.isAtomic
        clientChangeTokenData = archive.clientToken
    }

    override var archive: (kind: LongLivedOperation.Kind, properties: OperationArchive)? {
        var archive = OperationArchive()
        // Copied, so that encoding a record and checking it for encrypted values use the same state (B201).
        let savePolicy = savePolicy
        archive.records = recordsToSave?.map {
            CKRecord($0.recordType, $0.recordID, $0.withFields { $0.sent(savePolicy) })
        }
        archive.recordIDs = recordIDsToDelete
        archive.policy = savePolicy
        archive.isAtomic = isAtomic
        archive.clientToken = clientChangeTokenData
        return (.modifyRecords, archive)
    }

    /// Creates an operation that saves and deletes records.
    public convenience init(recordsToSave: [CKRecord]? = nil, recordIDsToDelete: [CKRecord.ID]? = nil) {
        self.init()
        self.recordsToSave = recordsToSave
        self.recordIDsToDelete = recordIDsToDelete
    }

    override func makeRun() -> (any OperationRun)? {
        let call = call
        let modification = RecordsModification(
            saves: recordsToSave ?? [], deletes: recordIDsToDelete ?? [], policy: savePolicy, isAtomic: isAtomic,
            clientToken: clientChangeTokenData)
        let progress = perRecordProgressBlock
        let begun = Lock<Set<Int>>([])
        let old = perRecordSaveBlock == nil ? oldItem : nil
        return ModifyRun(
            settings: call.settings, saveIDs: modification.saves.map(\.recordID), deleteIDs: modification.deletes,
            modify: { try await call.modify(modification, progress: $0) },
            progress: progress.map { progress in
                { place, fraction in
                    begun.withLock { _ = $0.insert(place) }
                    progress(modification.saves[place], fraction)
                }
            },
            before: { index, result in
                switch result {
                case .success(let record):
                    modification.didSave(record, at: index)
                    progress?(record, 1)
                    old?(record, nil)
                case .failure(let error):
                    if !begun.withLock({ $0.contains(index) }) { progress?(modification.saves[index], 0) }
                    old?(modification.saves[index], error)
                }
            }, save: perRecordSaveBlock, delete: perRecordDeleteBlock, result: modifyRecordsResultBlock,
            completion: completion)
    }
}
