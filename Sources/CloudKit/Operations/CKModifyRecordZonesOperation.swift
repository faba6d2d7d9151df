import Foundation

/// Creates and deletes zones of the private database independently.
///
/// ```swift
/// let operation = CKModifyRecordZonesOperation(recordZonesToSave: [CKRecordZone(zoneName: "Notes")])
/// operation.modifyRecordZonesResultBlock = { result in print("done", result) }
/// database.add(operation)
/// ```
// @unchecked: like its superclass.
public final class CKModifyRecordZonesOperation: CKDatabaseOperation, @unchecked Sendable {
    /// The zones to create.
    public var recordZonesToSave: [CKRecordZone]?
    /// The zones to delete, with all their records.
    public var recordZoneIDsToDelete: [CKRecordZone.ID]?

    /// Called once for each zone to save.
    public var perRecordZoneSaveBlock:
        ((_ recordZoneID: CKRecordZone.ID, _ saveResult: Result<CKRecordZone, Error>) -> Void)?
    /// Called once for each zone to delete.
    public var perRecordZoneDeleteBlock:
        ((_ recordZoneID: CKRecordZone.ID, _ deleteResult: Result<Void, Error>) -> Void)?
    /// Called once, at the end. Errors of single zones do not fail the operation.
    public var modifyRecordZonesResultBlock: ((_ operationResult: Result<Void, Error>) -> Void)?

    private var completion: (([CKRecordZone]?, [CKRecordZone.ID]?, Error?) -> Void)?

    /// Called once, at the end, unless `modifyRecordZonesResultBlock` is set; with `partialFailure` if a zone failed.
    @available(*, deprecated, message: "Use modifyRecordZonesResultBlock.")
    public var modifyRecordZonesCompletionBlock: (([CKRecordZone]?, [CKRecordZone.ID]?, Error?) -> Void)? {
        get { completion }
        set { completion = newValue }
    }

    /// Creates an operation that does nothing until it has zones.
    public override init() { super.init() }

    init(_ id: ID, _ archive: OperationArchive) {
        super.init(operationID: id)
        recordZonesToSave = archive.zones
        recordZoneIDsToDelete = archive.zoneIDs
    }

    override var archive: (kind: LongLivedOperation.Kind, properties: OperationArchive)? {
        var archive = OperationArchive()
        archive.zones = recordZonesToSave
        archive.zoneIDs = recordZoneIDsToDelete
        return (.modifyZones, archive)
    }

    /// Creates an operation that creates and deletes zones.
    public convenience init(
        recordZonesToSave: [CKRecordZone]? = nil, recordZoneIDsToDelete: [CKRecordZone.ID]? = nil
    ) {
        self.init()
        self.recordZonesToSave = recordZonesToSave
        self.recordZoneIDsToDelete = recordZoneIDsToDelete
    }

    override func makeRun() -> (any OperationRun)? {
        let call = call
        let modification = ZonesModification(saves: recordZonesToSave ?? [], deletes: recordZoneIDsToDelete ?? [])
        return ModifyRun(
            settings: call.settings, saveIDs: modification.saves.map(\.zoneID), deleteIDs: modification.deletes,
            modify: { _ in try await call.modify(modification) }, save: perRecordZoneSaveBlock,
            delete: perRecordZoneDeleteBlock, result: modifyRecordZonesResultBlock, completion: completion)
    }
}
