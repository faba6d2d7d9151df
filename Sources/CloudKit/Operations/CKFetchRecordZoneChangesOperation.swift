import Foundation

/// Fetches the changes in zones since their tokens.
///
/// ```swift
/// let since = CKFetchRecordZoneChangesOperation.ZoneConfiguration(previousServerChangeToken: token)
/// let operation = CKFetchRecordZoneChangesOperation(
///     recordZoneIDs: [notes], configurationsByRecordZoneID: [notes: since])
/// operation.recordWasChangedBlock = { id, result in … }
/// operation.recordZoneFetchResultBlock = { zone, result in token = try? result.get().serverChangeToken }
/// database.add(operation)
/// ```
// @unchecked: like its superclass.
public final class CKFetchRecordZoneChangesOperation: CKDatabaseOperation, @unchecked Sendable {
    /// The zones to fetch, one after another.
    public var recordZoneIDs: [CKRecordZone.ID]?
    /// The options for each zone; a zone without options is fetched completely.
    public var configurationsByRecordZoneID: [CKRecordZone.ID: ZoneConfiguration]?
    /// True if the operation continues until there are no more changes, as by default.
    public var fetchAllChanges = true

    /// Called once for each record that is new or was changed.
    public var recordWasChangedBlock: ((_ recordID: CKRecord.ID, _ recordResult: Result<CKRecord, Error>) -> Void)?
    /// Called once for each record that was deleted.
    public var recordWithIDWasDeletedBlock: ((_ recordID: CKRecord.ID, _ recordType: CKRecord.RecordType) -> Void)?
    /// Called after each page of a zone except the last.
    public var recordZoneChangeTokensUpdatedBlock: ((CKRecordZone.ID, CKServerChangeToken?, Data?) -> Void)?
    /// Called once for each zone.
    public var recordZoneFetchResultBlock:
        (
            (
                _ recordZoneID: CKRecordZone.ID,
                _ fetchChangesResult: Result<
                    (serverChangeToken: CKServerChangeToken, clientChangeTokenData: Data?, moreComing: Bool), Error
                >
            ) -> Void
        )?
    /// Called once, at the end. Errors of single zones do not fail the operation.
    public var fetchRecordZoneChangesResultBlock: ((_ operationResult: Result<Void, Error>) -> Void)?

    struct OldBlocks {
        var record: ((CKRecord) -> Void)?
        var zone: ((CKRecordZone.ID, CKServerChangeToken?, Data?, Bool, Error?) -> Void)?
        var completion: ((Error?) -> Void)?
    }

    var oldBlocks = OldBlocks()

    /// Called once for each record that is new or was changed, unless `recordWasChangedBlock` is set.
    @available(*, deprecated, message: "Use recordWasChangedBlock.")
    public var recordChangedBlock: ((CKRecord) -> Void)? {
        get { oldBlocks.record }
        set { oldBlocks.record = newValue }
    }

    /// Called once for each zone, unless `recordZoneFetchResultBlock` is set.
    @available(*, deprecated, message: "Use recordZoneFetchResultBlock.")
    public var recordZoneFetchCompletionBlock: ((CKRecordZone.ID, CKServerChangeToken?, Data?, Bool, Error?) -> Void)?
    {
        get { oldBlocks.zone }
        set { oldBlocks.zone = newValue }
    }

    /// Called once, at the end, unless `fetchRecordZoneChangesResultBlock` is set.
    @available(*, deprecated, message: "Use fetchRecordZoneChangesResultBlock.")
    public var fetchRecordZoneChangesCompletionBlock: ((Error?) -> Void)? {
        get { oldBlocks.completion }
        set { oldBlocks.completion = newValue }
    }

    /// Creates an operation that does nothing until it has zones.
    public override init() { super.init() }

    init(_ id: ID, _ archive: OperationArchive) {
        super.init(operationID: id)
        recordZoneIDs = archive.zoneIDs
        configurationsByRecordZoneID = archive.configurations
        fetchAllChanges = archive.fetchesAll
    }

    override var archive: (kind: LongLivedOperation.Kind, properties: OperationArchive)? {
        var archive = OperationArchive()
        archive.zoneIDs = recordZoneIDs
        archive.configurations = configurationsByRecordZoneID
        archive.fetchesAll = fetchAllChanges
        return (.fetchZoneChanges, archive)
    }

    /// Creates an operation that fetches the changes of zones.
    public convenience init(
        recordZoneIDs: [CKRecordZone.ID]? = nil,
        configurationsByRecordZoneID: [CKRecordZone.ID: ZoneConfiguration]? = nil
    ) {
        self.init()
        self.recordZoneIDs = recordZoneIDs
        self.configurationsByRecordZoneID = configurationsByRecordZoneID
    }

    override func makeRun() -> (any OperationRun)? {
        let configurations = configurationsByRecordZoneID ?? [:]
        let zones = recordZoneIDs ?? configurations.keys.sorted { $0.zoneName < $1.zoneName }
        return ZoneChangesRun(
            call: call,
            zones: DatabaseCall.unique(zones).map { .init($0, configurations[$0]) }, fetchesAll: fetchAllChanges,
            changed: recordWasChangedBlock, deleted: recordWithIDWasDeletedBlock,
            tokensUpdated: recordZoneChangeTokensUpdatedBlock, zoneResult: recordZoneFetchResultBlock,
            result: fetchRecordZoneChangesResultBlock, oldBlocks: oldBlocks)
    }
}

extension CKFetchRecordZoneChangesOperation {
    /// The options for each zone.
    @available(*, deprecated, message: "Use configurationsByRecordZoneID.")
    public var optionsByRecordZoneID: [CKRecordZone.ID: ZoneOptions]? {
        get { configurationsByRecordZoneID?.mapValues { ZoneOptions(of: $0) } }
        set { configurationsByRecordZoneID = newValue?.mapValues(\.configuration) }
    }

    /// Creates an operation that fetches the changes of zones.
    @available(*, deprecated, message: "Use init(recordZoneIDs:configurationsByRecordZoneID:).")
    public convenience init(
        // No default value: the replacement initializer accepts zones alone.
        recordZoneIDs: [CKRecordZone.ID], optionsByRecordZoneID: [CKRecordZone.ID: ZoneOptions]?
    ) {
        self.init(
            recordZoneIDs: recordZoneIDs,
            configurationsByRecordZoneID: optionsByRecordZoneID?.mapValues(\.configuration))
    }
}
