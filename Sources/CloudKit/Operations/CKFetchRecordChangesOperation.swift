import Foundation
import StrataSystem

/// Fetches one page of the changes in a zone since a token.
///
/// Its tokens are those of ``CKFetchRecordZoneChangesOperation``, which replaces it.
// @unchecked: like its superclass.
@available(*, deprecated, message: "Use CKFetchRecordZoneChangesOperation.")
public final class CKFetchRecordChangesOperation: CKDatabaseOperation, @unchecked Sendable {
    /// The zone to fetch.
    public var recordZoneID: CKRecordZone.ID?
    /// The token at which the last fetch ended; nil for all records.
    public var previousServerChangeToken: CKServerChangeToken?
    /// The maximum number of changes; 0 lets the store choose.
    public var resultsLimit = 0
    /// The fields to fetch; nil for all, empty for none.
    public var desiredKeys: [CKRecord.FieldKey]?

    /// Called once for each record that is new or was changed.
    public var recordChangedBlock: ((CKRecord) -> Void)?
    /// Called once for each record that was deleted.
    public var recordWithIDWasDeletedBlock: ((CKRecord.ID) -> Void)?
    /// Called once, at the end, with the token for the next fetch and the client token.
    public var fetchRecordChangesCompletionBlock: ((CKServerChangeToken?, Data?, Error?) -> Void)?

    private let hasMore = Lock(false)

    /// True if the zone has changes after those that were fetched. It is set before the last block is called.
    public var moreComing: Bool { hasMore.withLock { $0 } }

    /// Creates an operation that does nothing until it has a zone.
    public override init() { super.init() }

    /// Creates an operation that fetches the changes of a zone.
    public convenience init(recordZoneID: CKRecordZone.ID, previousServerChangeToken: CKServerChangeToken?) {
        self.init()
        self.recordZoneID = recordZoneID
        self.previousServerChangeToken = previousServerChangeToken
    }

    override func makeRun() -> (any OperationRun)? {
        let (changed, deleted) = (recordChangedBlock, recordWithIDWasDeletedBlock)
        let (completion, hasMore) = (fetchRecordChangesCompletionBlock, hasMore)
        guard let recordZoneID else {
            return SingleRun(
                settings: settings,
                make: { throw CKError(.invalidArguments, message: "The operation has no zone. Set recordZoneID.") },
                report: { (outcome: Result<Void, CKError>) in completion?(nil, nil, outcome.oldError) })
        }
        let configuration = CKFetchRecordZoneChangesConfiguration(
            previousServerChangeToken: previousServerChangeToken, resultsLimit: resultsLimit,
            desiredKeys: desiredKeys)
        // The zone's own result, which comes before that of the run.
        var end: (token: CKServerChangeToken?, client: Data?, error: (any Error)?)
        return ZoneChangesRun(
            call: call, zones: [.init(recordZoneID, configuration)], fetchesAll: false, changed: nil,
            deleted: { id, _ in deleted?(id) }, tokensUpdated: nil,
            zoneResult: { _, result in
                switch result {
                case .success(let page):
                    hasMore.withLock { $0 = page.moreComing }
                    end = (page.serverChangeToken, page.clientChangeTokenData, nil)
                case .failure(let error): end.error = error
                }
            },
            result: { result in
                if case .failure(let error) = result { return completion?(nil, nil, error) ?? () }
                completion?(end.token, end.client, end.error)
            },
            oldBlocks: .init(record: changed))
    }
}
