import Foundation

/// Fetches which zones of a private or shared database have changed since a token.
///
/// ```swift
/// let operation = CKFetchDatabaseChangesOperation(previousServerChangeToken: token)
/// operation.recordZoneWithIDChangedBlock = { changed.append($0) }
/// operation.fetchDatabaseChangesResultBlock = { result in token = try? result.get().serverChangeToken }
/// database.add(operation)
/// ```
// @unchecked: as its superclass.
public final class CKFetchDatabaseChangesOperation: CKDatabaseOperation, @unchecked Sendable {
    /// Where the last fetch ended; nil for all zones.
    public var previousServerChangeToken: CKServerChangeToken?
    /// How many zones a page has at most; 0 leaves it to the store.
    public var resultsLimit = 0
    /// Whether the operation goes on until there is no more; true if nothing is said.
    public var fetchAllChanges = true

    /// Called for each zone that is new or has changes.
    public var recordZoneWithIDChangedBlock: ((CKRecordZone.ID) -> Void)?
    /// Called for each zone that was deleted.
    public var recordZoneWithIDWasDeletedBlock: ((CKRecordZone.ID) -> Void)?
    /// Called instead for a zone that its user deleted in Settings.
    public var recordZoneWithIDWasPurgedBlock: ((CKRecordZone.ID) -> Void)?
    /// Called instead for a zone that went with its user's encrypted data.
    public var recordZoneWithIDWasDeletedDueToUserEncryptedDataResetBlock: ((CKRecordZone.ID) -> Void)?
    /// Called after each page but the last.
    public var changeTokenUpdatedBlock: ((CKServerChangeToken) -> Void)?
    /// Called once, last.
    public var fetchDatabaseChangesResultBlock:
        ((_ operationResult: Result<(serverChangeToken: CKServerChangeToken, moreComing: Bool), Error>) -> Void)?

    private var completion: ((CKServerChangeToken?, Bool, Error?) -> Void)?

    /// Called once, last, unless `fetchDatabaseChangesResultBlock` is set.
    @available(*, deprecated, message: "Use fetchDatabaseChangesResultBlock.")
    public var fetchDatabaseChangesCompletionBlock: ((CKServerChangeToken?, Bool, Error?) -> Void)? {
        get { completion }
        set { completion = newValue }
    }

    /// An operation that fetches all zones.
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

    /// An operation that goes on where another ended.
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

    // @unchecked: the blocks are called on the operation's own queue alone.
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

        /// The last page; those before it have been handed over.
        func perform(_ pieces: OperationPieces) async throws -> DatabaseChangesPage {
            var token = since
            while true {
                let page = try await call.databaseChanges(since: token, limit: limit)
                guard fetchesAll, page.moreComing else { return page }
                token = page.token
                let goesOn = await pieces.emit { isCancelled in
                    tell(page, isCancelled)
                    if !isCancelled() { tokenUpdated?(page.token) }
                }
                guard goesOn else { throw CKError.cancelled }
            }
        }

        private func tell(_ page: DatabaseChangesPage, _ isCancelled: () -> Bool) {
            for modification in page.modifications where !isCancelled() { changed?(modification.zoneID) }
            for deletion in page.deletions where !isCancelled() {
                // Blocks for a reason take the place of the one for all (B155).
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
                tell(page, isCancelled)
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
