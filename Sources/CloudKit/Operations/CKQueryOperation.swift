/// Finds the records that match a predicate, page by page.
///
/// ```swift
/// let operation = CKQueryOperation(query: query)
/// operation.zoneID = notes.zoneID
/// operation.recordMatchedBlock = { id, result in print(id.recordName, result) }
/// operation.queryResultBlock = { result in
///     if case .success(let cursor?) = result { database.add(CKQueryOperation(cursor: cursor)) }
/// }
/// database.add(operation)
/// ```
// @unchecked: like its superclass.
public final class CKQueryOperation: CKDatabaseOperation, @unchecked Sendable {
    /// The position at which a query's next page begins.
    public typealias Cursor = CKQueryCursor

    /// Lets the store choose the number of records in a page.
    public static let maximumResults = 0

    /// The query to execute.
    public var query: CKQuery?
    /// The cursor at which an earlier operation ended; takes precedence over ``query``.
    public var cursor: CKQueryOperation.Cursor?
    /// The zone to search; nil for all zones. A cursor remembers its own.
    public var zoneID: CKRecordZone.ID?
    /// The maximum number of records; a page may hold fewer, and only a nil cursor means the end.
    public var resultsLimit = CKQueryOperation.maximumResults
    /// The fields to fetch; nil for all, an empty array for the records' metadata only.
    public var desiredKeys: [CKRecord.FieldKey]?

    /// Called once for each match, in the query's order.
    public var recordMatchedBlock: ((_ recordID: CKRecord.ID, _ recordResult: Result<CKRecord, Error>) -> Void)?
    /// Called once, at the end, with the cursor of the next page.
    public var queryResultBlock: ((_ operationResult: Result<CKQueryOperation.Cursor?, Error>) -> Void)?

    private struct OldBlocks {
        var fetched: ((CKRecord) -> Void)?
        var completion: ((CKQueryOperation.Cursor?, Error?) -> Void)?
    }

    private var oldBlocks = OldBlocks()

    /// Called once for each match that could be fetched, unless `recordMatchedBlock` is set.
    @available(*, deprecated, message: "Use recordMatchedBlock.")
    public var recordFetchedBlock: ((CKRecord) -> Void)? {
        get { oldBlocks.fetched }
        set { oldBlocks.fetched = newValue }
    }

    /// Called once, at the end, unless `queryResultBlock` is set; with `partialFailure` if a match could not be
    /// fetched.
    @available(*, deprecated, message: "Use queryResultBlock.")
    public var queryCompletionBlock: ((CKQueryOperation.Cursor?, Error?) -> Void)? {
        get { oldBlocks.completion }
        set { oldBlocks.completion = newValue }
    }

    /// Creates an operation that needs a query or a cursor before it runs.
    public override init() { super.init() }

    init(_ id: ID, _ archive: OperationArchive) {
        super.init(operationID: id)
        query = archive.query
        cursor = archive.cursor
        zoneID = archive.zoneIDs?.first
        resultsLimit = archive.resultsLimit
        desiredKeys = archive.desiredKeys
    }

    override var archive: (kind: LongLivedOperation.Kind, properties: OperationArchive)? {
        // An invalid query fails at once, and not every error in a query can be archived.
        guard query?.mistake == nil else { return nil }
        var archive = OperationArchive()
        archive.query = query
        archive.cursor = cursor
        archive.zoneIDs = zoneID.map { [$0] }
        archive.resultsLimit = resultsLimit
        archive.desiredKeys = desiredKeys
        return (.query, archive)
    }

    /// Creates an operation that begins a query.
    public convenience init(query: CKQuery) {
        self.init()
        self.query = query
    }

    /// Creates an operation that continues where another ended.
    public convenience init(cursor: CKQueryOperation.Cursor) {
        self.init()
        self.cursor = cursor
    }

    override func makeRun() -> (any OperationRun)? {
        // Copied, since the caller may change and reuse the query while this operation runs.
        let query = query?.copy() as? CKQuery
        let request = DatabaseCall.PageRequest(
            cursor: cursor, query: query, zoneID: zoneID, desiredKeys: desiredKeys, limit: resultsLimit,
            isCancelled: { [weak self] in self?.isCancelled ?? true })
        return Run(
            call: call, request: request, matched: recordMatchedBlock, result: queryResultBlock, oldBlocks: oldBlocks)
    }

    // @unchecked: the blocks are called only on the operation's own queue.
    private struct Run: OperationRun, @unchecked Sendable {
        let call: DatabaseCall
        let request: DatabaseCall.PageRequest
        let matched: ((CKRecord.ID, Result<CKRecord, Error>) -> Void)?
        let result: ((Result<CKQueryOperation.Cursor?, Error>) -> Void)?
        let oldBlocks: OldBlocks

        var settings: CallSettings { call.settings }
        var timeoutCode: CKError.Code { .networkFailure }

        func perform(_: OperationPieces) async throws -> QueryPage { try await call.page(request) }

        func deliver(_ outcome: Result<QueryPage, CKError>, isCancelled: () -> Bool) {
            do { try deliver(outcome.get(), isCancelled) } catch { finish(nil, error, error) }
        }

        private func deliver(_ page: QueryPage, _ isCancelled: () -> Bool) {
            var errors: [AnyHashable: any Error] = [:]
            for (id, found) in page.matches {
                if isCancelled() { return finish(nil, .cancelled, .cancelled) }
                if let matched {
                    matched(id, found.mapError { $0 })
                } else if case .success(let record) = found {
                    oldBlocks.fetched?(record)
                }
                if case .failure(let error) = found { errors[id] = error }
            }
            if isCancelled() { return finish(nil, .cancelled, .cancelled) }
            let partial = CKError(partialErrors: errors, message: "Some matches could not be fetched.")
            finish(page.cursor, nil, errors.isEmpty ? nil : partial)
        }

        /// - Parameter oldError: The error for the block of the first API generation (B85, B209).
        private func finish(_ cursor: CKQueryOperation.Cursor?, _ error: CKError?, _ oldError: CKError?) {
            guard let result else {
                oldBlocks.completion?(cursor, oldError)
                return
            }
            result(error.map(Result.failure) ?? .success(cursor))
        }
    }
}
