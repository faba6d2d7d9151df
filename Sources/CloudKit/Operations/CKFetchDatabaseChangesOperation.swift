import Foundation

/// Fetches the zones of a private or shared database that have changed since a token.
///
/// ```swift
/// let operation = CKFetchDatabaseChangesOperation(previousServerChangeToken: token)
/// operation.recordZoneWithIDChangedBlock = { changed.append($0) }
/// operation.fetchDatabaseChangesResultBlock = { result in token = try? result.get().serverChangeToken }
/// database.add(operation)
/// ```
// @unchecked: like its superclass.
public final class CKFetchDatabaseChangesOperation: CKDatabaseOperation, @unchecked Sendable {
    /// The token at which the last fetch ended; nil for all zones.
    public var previousServerChangeToken: CKServerChangeToken?
    /// The maximum number of zones in a page; 0 lets the store choose.
    public var resultsLimit = 0
    /// True if the operation continues until there are no more changes, as by default.
    public var fetchAllChanges = true

    /// Called for each zone that is new or has changes.
    public var recordZoneWithIDChangedBlock: ((CKRecordZone.ID) -> Void)?
    /// Called for each zone that was deleted.
    public var recordZoneWithIDWasDeletedBlock: ((CKRecordZone.ID) -> Void)?
    /// Called instead for a zone that the user deleted in Settings.
    public var recordZoneWithIDWasPurgedBlock: ((CKRecordZone.ID) -> Void)?
    /// Called instead for a zone that was deleted when the user's encrypted data was reset.
    public var recordZoneWithIDWasDeletedDueToUserEncryptedDataResetBlock: ((CKRecordZone.ID) -> Void)?
    /// Called after each page except the last.
    public var changeTokenUpdatedBlock: ((CKServerChangeToken) -> Void)?
    /// Called once, at the end.
    public var fetchDatabaseChangesResultBlock:
        ((_ operationResult: Result<(serverChangeToken: CKServerChangeToken, moreComing: Bool), Error>) -> Void)?

    private var completion: ((CKServerChangeToken?, Bool, Error?) -> Void)?

    /// Called once, at the end, unless `fetchDatabaseChangesResultBlock` is set.
    @available(*, deprecated, message: "Use fetchDatabaseChangesResultBlock.")
    public var fetchDatabaseChangesCompletionBlock: ((CKServerChangeToken?, Bool, Error?) -> Void)? {
        get { completion }
        set { completion = newValue }
    }

    /// Creates an operation that fetches all zones.
    public override init() { super.init() }

    init(_ id: ID, _ archive: OperationArchive) {
        super.init(operationID: id)
        previousServerChangeToken = archive.token
        resultsLimit = archive.resultsLimit
        fetchAllChanges = archive.fetchesAll
    }

    override var archive: (kind: LongLivedOperation.Kind, properties: OperationArchive)? {
        var archive = OperationArchive()
        archive.token = previousServerChangeToken
        archive.resultsLimit = resultsLimit
        archive.fetchesAll = fetchAllChanges
        return (.fetchDatabaseChanges, archive)
    }

    /// Creates an operation that continues where another ended.
    public convenience init(previousServerChangeToken: CKServerChangeToken?) {
        self.init()
        self.previousServerChangeToken = previousServerChangeToken
    }

    override func makeRun() -> (any OperationRun)? {
        Run(
            call: call, since: previousServerChangeToken, limit: resultsLimit, fetchesAll: fetchAllChanges,
            changed: recordZoneWithIDChangedBlock, deleted: recordZoneWithIDWasDeletedBlock,
            purged: recordZoneWithIDWasPurgedBlock,
            reset: recordZoneWithIDWasDeletedDueToUserEncryptedDataResetBlock, tokenUpdated: changeTokenUpdatedBlock,
            result: fetchDatabaseChangesResultBlock, completion: completion)
    }

    // @unchecked: the blocks are called only on the operation's own queue.
    private struct Run: OperationRun, @unchecked Sendable {
        let call: DatabaseCall
        let since: CKServerChangeToken?
        let limit: Int
        let fetchesAll: Bool
        let changed: ((CKRecordZone.ID) -> Void)?
        let deleted: ((CKRecordZone.ID) -> Void)?
        let purged: ((CKRecordZone.ID) -> Void)?
        let reset: ((CKRecordZone.ID) -> Void)?
        let tokenUpdated: ((CKServerChangeToken) -> Void)?
        let result: ((Result<(serverChangeToken: CKServerChangeToken, moreComing: Bool), Error>) -> Void)?
        let completion: ((CKServerChangeToken?, Bool, Error?) -> Void)?

        var settings: CallSettings { call.settings }
        var timeoutCode: CKError.Code { .networkFailure }

        /// Returns the last page; earlier pages have already been delivered.
        func perform(_ pieces: OperationPieces) async throws -> DatabaseChangesPage {
            var token = since
            while true {
                let page = try await call.databaseChanges(since: token, limit: limit)
                guard fetchesAll, page.moreComing else { return page }
                token = page.token
                let goesOn = await pieces.emit { isCancelled in
                    report(page, isCancelled)
                    if !isCancelled() { tokenUpdated?(page.token) }
                }
                guard goesOn else { throw CKError.cancelled }
            }
        }

        private func report(_ page: DatabaseChangesPage, _ isCancelled: () -> Bool) {
            for modification in page.modifications where !isCancelled() { changed?(modification.zoneID) }
            for deletion in page.deletions where !isCancelled() {
                // A block for a specific reason replaces the general one (B155).
                let block: ((CKRecordZone.ID) -> Void)? =
                    switch deletion.reason {
                    case .deleted: deleted
                    case .purged: purged ?? deleted
                    case .encryptedDataReset: reset ?? deleted
                    }
                block?(deletion.zoneID)
            }
        }

        func deliver(_ outcome: Result<DatabaseChangesPage, CKError>, isCancelled: () -> Bool) {
            do throws(CKError) {
                let page = try outcome.get()
                report(page, isCancelled)
                if isCancelled() { throw .cancelled }
                if let result { return result(.success((page.token, page.moreComing))) }
                completion?(page.token, page.moreComing, nil)
            } catch {
                if let result { return result(.failure(error)) }
                completion?(nil, false, error)
            }
        }
    }
}
