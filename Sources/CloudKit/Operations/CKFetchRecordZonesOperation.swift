import Foundation

/// Fetches zones by their IDs, or all zones of a database.
///
/// ```swift
/// let operation = CKFetchRecordZonesOperation.fetchAllRecordZonesOperation()
/// operation.perRecordZoneResultBlock = { id, result in print(id.zoneName, result) }
/// database.add(operation)
/// ```
// @unchecked: like its superclass.
public final class CKFetchRecordZonesOperation: CKDatabaseOperation, @unchecked Sendable {
    /// The zones to fetch.
    public var recordZoneIDs: [CKRecordZone.ID]?

    /// Called once for each zone.
    public var perRecordZoneResultBlock:
        ((_ recordZoneID: CKRecordZone.ID, _ recordZoneResult: Result<CKRecordZone, Error>) -> Void)?
    /// Called once, at the end. Errors of single zones do not fail the operation.
    public var fetchRecordZonesResultBlock: ((_ operationResult: Result<Void, Error>) -> Void)?

    private var completion: (([CKRecordZone.ID: CKRecordZone]?, Error?) -> Void)?
    private var fetchesAll = false

    /// Called once, at the end, unless `fetchRecordZonesResultBlock` is set; with `partialFailure` if a zone failed.
    @available(*, deprecated, message: "Use fetchRecordZonesResultBlock.")
    public var fetchRecordZonesCompletionBlock: (([CKRecordZone.ID: CKRecordZone]?, Error?) -> Void)? {
        get { completion }
        set { completion = newValue }
    }

    /// Creates an operation that does nothing until it has IDs.
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

    /// Creates an operation that fetches zones.
    public convenience init(recordZoneIDs: [CKRecordZone.ID]) {
        self.init()
        self.recordZoneIDs = recordZoneIDs
    }

    /// Returns an operation that fetches all zones of its database.
    public class func fetchAllRecordZonesOperation() -> Self {
        let operation = self.init()
        operation.fetchesAll = true
        return operation
    }

    override func makeRun() -> (any OperationRun)? {
        let call = call
        return FetchRun(
            settings: call.settings, ids: fetchesAll ? nil : recordZoneIDs ?? [],
            failureMessage: "Failed to fetch some record zones",
            fetch: { ids, _ in
                guard let ids else { return try await call.allZones().map { ($0.zoneID, .success($0)) } }
                return try await call.zones(ids)
            }, item: perRecordZoneResultBlock, result: fetchRecordZonesResultBlock, completion: completion)
    }
}
