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

    /// An operation that goes on where another ended.
    public convenience init(previousServerChangeToken: CKServerChangeToken?) {
        self.init()
        self.previousServerChangeToken = previousServerChangeToken
    }

    override func makeRun() -> (any OperationRun)? {
        Run(
            call: call, previousToken: previousServerChangeToken, changed: recordZoneWithIDChangedBlock,
            result: fetchDatabaseChangesResultBlock, completion: completion)
    }

    // @unchecked: the blocks are called on the operation's own queue alone.
    private struct Run: OperationRun, @unchecked Sendable {
        let call: DatabaseCall
        let previousToken: CKServerChangeToken?
        let changed: ((CKRecordZone.ID) -> Void)?
        let result: ((Result<(serverChangeToken: CKServerChangeToken, moreComing: Bool), Error>) -> Void)?
        let completion: ((CKServerChangeToken?, Bool, Error?) -> Void)?

        var settings: CallSettings { call.settings }
        var timeoutCode: CKError.Code { .networkFailure }

        func perform() async throws -> DatabaseChangesPage { try call.databaseChanges(since: previousToken) }

        func deliver(_ outcome: Result<DatabaseChangesPage, CKError>, isCancelled: () -> Bool) {
            do throws(CKError) {
                let page = try outcome.get()
                for modification in page.modifications where !isCancelled() { changed?(modification.zoneID) }
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
