import Foundation
import StrataModel
import StrataStore

/// Records to save and to delete, as a client asks for it.
struct RecordsModification: Sendable {
    let saves: [CKRecord]
    /// Of each save, what it was when it was passed: what becomes of the record afterwards is not sent (B201).
    let contents: [RecordFields]
    let deletes: [CKRecord.ID]
    let policy: CKModifyRecordsOperation.RecordSavePolicy
    let isAtomic: Bool
    let clientToken: Data?

    init(
        saves: [CKRecord] = [], deletes: [CKRecord.ID] = [],
        policy: CKModifyRecordsOperation.RecordSavePolicy = .ifServerRecordUnchanged, isAtomic: Bool = true,
        clientToken: Data? = nil
    ) {
        self.saves = saves
        contents = saves.map { record in record.state.withLock { $0 } }
        self.deletes = deletes
        self.policy = policy
        self.isAtomic = isAtomic
        self.clientToken = clientToken
    }
}

/// What became of them, in the order of the request.
struct RecordsOutcome: Sendable {
    var saves: [(id: CKRecord.ID, result: Result<CKRecord, CKError>)] = []
    var deletes: [(id: CKRecord.ID, error: CKError?)] = []
    /// Whether one failed where the zone fails as a whole, and the store's options want that to be thrown (B87).
    var isThrown = false

    /// What the deprecated blocks and `partialFailure` tell: the errors by item; nil if there are none.
    var partialFailure: CKError? {
        var errors: [CKRecord.ID: CKError] = [:]
        for case (let id, .failure(let error)) in saves { errors[id] = error }
        for case (let id, let error?) in deletes { errors[id] = error }
        guard !errors.isEmpty else { return nil }
        let saved = saves.compactMap { try? $0.result.get() }
        let deleted = deletes.compactMap { $0.error == nil ? $0.id : nil }
        return CKError(partial: errors, "Failed to modify some records", done: saved, deleted)
    }

    /// The result of the one save that was asked for.
    func onlySave() throws -> CKRecord {
        guard let save = saves.first else { throw CKError(.internalError, message: "The store gave no result.") }
        return try save.result.get()
    }

    func byID() throws -> (
        saveResults: [CKRecord.ID: Result<CKRecord, Error>], deleteResults: [CKRecord.ID: Result<Void, Error>]
    ) {
        if isThrown, let partialFailure { throw partialFailure }
        var saveResults: [CKRecord.ID: Result<CKRecord, Error>] = [:]
        saveResults.reserveCapacity(saves.count)
        for save in saves { saveResults[save.id] = save.result.mapError { $0 } }
        var deleteResults: [CKRecord.ID: Result<Void, Error>] = [:]
        deleteResults.reserveCapacity(deletes.count)
        for delete in deletes { deleteResults[delete.id] = delete.error.map { .failure($0) } ?? .success(()) }
        return (saveResults, deleteResults)
    }
}

extension CKError {
    private static let savedRecordsKey = "StrataSavedRecords"
    private static let deletedRecordIDsKey = "StrataDeletedRecordIDs"

    /// What was saved although other items of the request failed; of a `partialFailure` of this store.
    public var savedRecords: [CKRecord]? { userInfo[Self.savedRecordsKey] as? [CKRecord] }

    /// What was deleted although other items of the request failed; of a `partialFailure` of this store.
    public var deletedRecordIDs: [CKRecord.ID]? { userInfo[Self.deletedRecordIDsKey] as? [CKRecord.ID] }

    /// - Parameter errors: By item; clients cast the dictionary to several types (B258).
    init<ItemID: NSObject>(
        partial errors: [ItemID: CKError], _ message: String, done saved: [CKRecord] = [],
        _ deleted: [CKRecord.ID] = []
    ) {
        var userInfo: [String: Any] = [:]
        if !saved.isEmpty { userInfo[Self.savedRecordsKey] = saved }
        if !deleted.isEmpty { userInfo[Self.deletedRecordIDsKey] = deleted }
        self.init(partialErrors: errors, message: message, userInfo: userInfo)
    }
}
