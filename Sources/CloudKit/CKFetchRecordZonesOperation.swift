import Foundation

/// Fetches zones by their ids, or all of a database.
///
/// ```swift
/// let operation = CKFetchRecordZonesOperation.fetchAllRecordZonesOperation()
/// operation.perRecordZoneResultBlock = { id, result in print(id.zoneName, result) }
/// database.add(operation)
/// ```
// @unchecked: as its superclass.
public final class CKFetchRecordZonesOperation: CKDatabaseOperation, @unchecked Sendable {
    /// The zones to fetch.
    public var recordZoneIDs: [CKRecordZone.ID]?

    /// Called once for each zone.
    public var perRecordZoneResultBlock:
        ((_ recordZoneID: CKRecordZone.ID, _ recordZoneResult: Result<CKRecordZone, Error>) -> Void)?
    /// Called once, last. Errors of single zones are no failure of the whole.
    public var fetchRecordZonesResultBlock: ((_ operationResult: Result<Void, Error>) -> Void)?

    private var completion: (([CKRecordZone.ID: CKRecordZone]?, Error?) -> Void)?
    private var fetchesAll = false

    /// Called once, last, unless `fetchRecordZonesResultBlock` is set; with `partialFailure` if a zone failed.
    @available(*, deprecated, message: "Use fetchRecordZonesResultBlock.")
    public var fetchRecordZonesCompletionBlock: (([CKRecordZone.ID: CKRecordZone]?, Error?) -> Void)? {
        get { completion }
        set { completion = newValue }
    }

    /// An operation that does nothing until it gets ids.
    public required override init() { super.init() }

    init(_ id: ID, _ archive: OperationArchive) {
        super.init(operationID: id)
        recordZoneIDs = archive.zoneIDs
        fetchesAll = archive.fetchesSpecial
    }

    override var archive: (kind: LongLivedOperation.Kind, properties: OperationArchive)? {
        var archive = OperationArchive()
        archive.zoneIDs = recordZoneIDs
        archive.fetchesSpecial = fetchesAll
        return (.fetchZones, archive)
    }

    /// An operation that fetches zones.
    public convenience init(recordZoneIDs: [CKRecordZone.ID]) {
        self.init()
        self.recordZoneIDs = recordZoneIDs
    }

    /// An operation that fetches all zones of its database.
    public class func fetchAllRecordZonesOperation() -> Self {
        let operation = self.init()
        operation.fetchesAll = true
        return operation
    }

    override func makeRun() -> (any OperationRun)? {
        Run(
            call: call, ids: fetchesAll ? nil : recordZoneIDs ?? [], zone: perRecordZoneResultBlock,
            result: fetchRecordZonesResultBlock, completion: completion)
    }

    // @unchecked: the blocks are called on the operation's own queue alone.
    private struct Run: OperationRun, @unchecked Sendable {
        typealias Outcome = [(id: CKRecordZone.ID, result: Result<CKRecordZone, CKError>)]

        let call: DatabaseCall
        /// Nil for all zones.
        let ids: [CKRecordZone.ID]?
        let zone: ((CKRecordZone.ID, Result<CKRecordZone, Error>) -> Void)?
        let result: ((Result<Void, Error>) -> Void)?
        let completion: (([CKRecordZone.ID: CKRecordZone]?, Error?) -> Void)?

        var settings: CallSettings { call.settings }
        var timeoutCode: CKError.Code { .networkFailure }

        func perform(_: OperationPieces) async throws -> Outcome {
            guard let ids else { return try call.allZones().map { ($0.zoneID, .success($0)) } }
            return try call.zones(ids)
        }

        func deliver(_ outcome: Result<Outcome, CKError>, isCancelled: () -> Bool) {
            switch outcome {
            case .success(let outcome): deliver(outcome, isCancelled)
            case .failure(let error) where error.code == .operationCancelled:
                deliver(DatabaseCall.unique(ids ?? []).map { ($0, .failure(error)) }, isCancelled)
            case .failure(let error): finish(nil, error, error)
            }
        }

        private func deliver(_ outcome: Outcome, _ isCancelled: () -> Bool) {
            var fetched: [CKRecordZone.ID: CKRecordZone] = [:]
            var errors: [CKRecordZone.ID: CKError] = [:]
            for (id, found) in outcome {
                let result = isCancelled() ? .failure(.cancelled) : found
                switch result {
                case .success(let found): fetched[id] = found
                case .failure(let error): errors[id] = error
                }
                zone?(id, result.mapError { $0 })
            }
            if isCancelled() { return finish(fetched, .cancelled, .cancelled) }
            finish(fetched, nil, errors.isEmpty ? nil : CKError(partial: errors, "Failed to fetch some record zones"))
        }

        private func finish(_ fetched: [CKRecordZone.ID: CKRecordZone]?, _ error: CKError?, _ oldError: CKError?) {
            if let result { return result(error.map { .failure($0) } ?? .success(())) }
            completion?(fetched, oldError)
        }
    }
}
