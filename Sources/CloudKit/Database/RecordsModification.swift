import Foundation
import StrataModel
import StrataStore

/// A client's request to save and delete records.
struct RecordsModification: Sendable {
    let saves: [CKRecord]
    /// The fields of each record to send, as they were when it was passed: later changes are not sent (B201).
    var contents: [RecordFields]
    /// The states of the shares among the records, in the same way.
    private let sharing: [Int: ShareFields]
    let deletes: [CKRecord.ID]
    let policy: CKModifyRecordsOperation.RecordSavePolicy
    let isAtomic: Bool
    let clientToken: Data?
    var assets = ImportedAssets()

    init(
        saves: [CKRecord] = [], deletes: [CKRecord.ID] = [],
        policy: CKModifyRecordsOperation.RecordSavePolicy = .ifServerRecordUnchanged, isAtomic: Bool = true,
        clientToken: Data? = nil
    ) {
        self.saves = saves
        contents = saves.map { record in record.withFields { $0.sent(policy) } }
        var sharing: [Int: ShareFields] = [:]
        for (index, record) in saves.enumerated() where record is CKShare { sharing[index] = record.sentSharing }
        self.sharing = sharing
        self.deletes = deletes
        self.policy = policy
        self.isAtomic = isAtomic
        self.clientToken = clientToken
    }

    /// Updates the caller's object of a save that succeeded (B319).
    func didSave(_ saved: CKRecord, at place: Int) {
        saves[place].didSave(as: saved, sent: contents[place], sharing: sharing[place])
    }

    /// Returns a record as it was sent, with the change tag and the dates of the version that its save made.
    ///
    /// - Parameter record: The record as of that version; nil if it was erased since.
    func sent(_ index: Int, as record: Record?, _ version: Version, for client: Client) -> CKRecord {
        var fields = contents[index]
        fields.isPartial = true
        var archived = ArchivedRecord(systemFieldsOf: saves[index])
        archived.changeTag = version.tag
        fields.markSaved(fields, as: record.map { .stored($0, me: client.actor.user) } ?? .archived(archived))
        let id = client.canonical(saves[index].recordID)
        guard let share = sharing[index] else { return CKRecord(saves[index].recordType, id, fields) }
        return CKShare(id, fields, share.copied)
    }

    /// Returns the part of the request for a record.
    ///
    /// - Throws: ``CKError`` `invalidArguments` if something cannot be saved.
    func save(_ index: Int, names: inout RequestNames, _ call: DatabaseCall) throws -> ModifyRecordsRequest.Save {
        var save = try saves[index].save(contents[index], names: &names, policy: policy.engine, call)
        save.sharing = try sharing[index]?.change()
        return save
    }
}

struct RecordsOutcome: ModifyOutcome {
    var saves: [(id: CKRecord.ID, result: Result<CKRecord, CKError>)] = []
    var deletes: [(id: CKRecord.ID, error: CKError?)] = []
    /// True if an item of an existing atomic zone failed and the store's options require an error to be thrown (B87).
    var isThrown = false

    static var failureMessage: String { "Failed to modify some records" }

    var partialFailure: CKError? {
        let errors = errorsByID
        guard !errors.isEmpty else { return nil }
        let saved = saves.compactMap { try? $0.result.get() }
        let deleted = deletes.compactMap { $0.error == nil ? $0.id : nil }
        return CKError(partialErrors: errors, message: Self.failureMessage, done: saved, deleted)
    }

    func byIDOrThrown() throws -> (
        saveResults: [CKRecord.ID: Result<CKRecord, Error>], deleteResults: [CKRecord.ID: Result<Void, Error>]
    ) {
        if isThrown, let partialFailure { throw partialFailure }
        return byID()
    }
}

extension CKError {
    private static let savedRecordsKey = "StrataSavedRecords"
    private static let deletedRecordIDsKey = "StrataDeletedRecordIDs"

    /// The records that were saved although other items of the request failed; present in a `partialFailure` of this
    /// store.
    public var savedRecords: [CKRecord]? { userInfo[Self.savedRecordsKey] as? [CKRecord] }

    /// The IDs of the records that were deleted although other items of the request failed; present in a
    /// `partialFailure` of this store.
    public var deletedRecordIDs: [CKRecord.ID]? { userInfo[Self.deletedRecordIDsKey] as? [CKRecord.ID] }

    /// - Parameter errors: The errors by item; clients cast the dictionary to several types (B258).
    init(
        partialErrors errors: [AnyHashable: any Error], message: String, done saved: [CKRecord],
        _ deleted: [CKRecord.ID]
    ) {
        var userInfo: [String: Any] = [:]
        if !saved.isEmpty { userInfo[Self.savedRecordsKey] = saved }
        if !deleted.isEmpty { userInfo[Self.deletedRecordIDsKey] = deleted }
        self.init(partialErrors: errors, message: message, userInfo: userInfo)
    }
}
