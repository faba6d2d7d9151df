import Foundation

/// Makes and deletes zones of the private database, each for itself.
///
/// ```swift
/// let operation = CKModifyRecordZonesOperation(recordZonesToSave: [CKRecordZone(zoneName: "Notes")])
/// operation.modifyRecordZonesResultBlock = { result in print("done", result) }
/// database.add(operation)
/// ```
// @unchecked: as its superclass.
public final class CKModifyRecordZonesOperation: CKDatabaseOperation, @unchecked Sendable {
    /// The zones to make.
    public var recordZonesToSave: [CKRecordZone]?
    /// The zones to delete, with all their records.
    public var recordZoneIDsToDelete: [CKRecordZone.ID]?

    /// Called once for each zone to save.
    public var perRecordZoneSaveBlock:
        ((_ recordZoneID: CKRecordZone.ID, _ saveResult: Result<CKRecordZone, Error>) -> Void)?
    /// Called once for each zone to delete.
    public var perRecordZoneDeleteBlock:
        ((_ recordZoneID: CKRecordZone.ID, _ deleteResult: Result<Void, Error>) -> Void)?
    /// Called once, last. Errors of single zones are no failure of the whole.
    public var modifyRecordZonesResultBlock: ((_ operationResult: Result<Void, Error>) -> Void)?

    private var completion: (([CKRecordZone]?, [CKRecordZone.ID]?, Error?) -> Void)?

    /// Called once, last, unless `modifyRecordZonesResultBlock` is set; with `partialFailure` if a zone failed.
    @available(*, deprecated, message: "Use modifyRecordZonesResultBlock.")
    public var modifyRecordZonesCompletionBlock: (([CKRecordZone]?, [CKRecordZone.ID]?, Error?) -> Void)? {
        get { completion }
        set { completion = newValue }
    }

    /// An operation that does nothing until it gets zones.
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

    /// An operation that makes and deletes zones.
    public convenience init(
        recordZonesToSave: [CKRecordZone]? = nil, recordZoneIDsToDelete: [CKRecordZone.ID]? = nil
    ) {
        self.init()
        self.recordZonesToSave = recordZonesToSave
        self.recordZoneIDsToDelete = recordZoneIDsToDelete
    }

    override func makeRun() -> (any OperationRun)? {
        Run(
            call: call,
            modification: ZonesModification(saves: recordZonesToSave ?? [], deletes: recordZoneIDsToDelete ?? []),
            save: perRecordZoneSaveBlock, delete: perRecordZoneDeleteBlock, result: modifyRecordZonesResultBlock,
            completion: completion)
    }

    // @unchecked: the blocks are called on the operation's own queue alone.
    private struct Run: OperationRun, @unchecked Sendable {
        let call: DatabaseCall
        let modification: ZonesModification
        let save: ((CKRecordZone.ID, Result<CKRecordZone, Error>) -> Void)?
        let delete: ((CKRecordZone.ID, Result<Void, Error>) -> Void)?
        let result: ((Result<Void, Error>) -> Void)?
        let completion: (([CKRecordZone]?, [CKRecordZone.ID]?, Error?) -> Void)?

        var settings: CallSettings { call.settings }
        var timeoutCode: CKError.Code { .serverResponseLost }

        func perform(_: OperationPieces) async throws -> ZonesOutcome { try await call.modify(modification) }

        func deliver(_ outcome: Result<ZonesOutcome, CKError>, isCancelled: () -> Bool) {
            switch outcome {
            case .success(let outcome):
                deliver(outcome)
                let error = isCancelled() ? CKError.cancelled : nil
                finish(outcome, error, error ?? outcome.partialFailure)
            case .failure(let error) where error.code == .operationCancelled:
                var outcome = ZonesOutcome()
                outcome.saves = modification.saves.map { ($0.zoneID, .failure(error)) }
                outcome.deletes = modification.deletes.map { ($0, error) }
                deliver(outcome)
                finish(nil, error, error)
            case .failure(let error): finish(nil, error, error)
            }
        }

        private func deliver(_ outcome: ZonesOutcome) {
            for (id, result) in outcome.saves { save?(id, result.mapError { $0 }) }
            for (id, error) in outcome.deletes { delete?(id, error.map { .failure($0) } ?? .success(())) }
        }

        private func finish(_ outcome: ZonesOutcome?, _ error: CKError?, _ oldError: CKError?) {
            if let result { return result(error.map { .failure($0) } ?? .success(())) }
            completion?(
                outcome?.saves.compactMap { try? $0.result.get() },
                outcome?.deletes.compactMap { $0.error == nil ? $0.id : nil }, oldError)
        }
    }
}
