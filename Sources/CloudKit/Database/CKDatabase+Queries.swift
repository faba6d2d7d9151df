extension CKDatabase {
    /// The matches of a page, and the cursor of the next page.
    fileprivate typealias Page = (
        matchResults: [(CKRecord.ID, Result<CKRecord, Error>)], queryCursor: CKQueryOperation.Cursor?
    )

    fileprivate static func page(_ call: DatabaseCall, _ request: DatabaseCall.PageRequest) async throws -> Page {
        let page = try await call.page(request)
        return (page.matches.map { ($0.id, $0.result.mapError { $0 }) }, page.cursor)
    }

    private static func records(
        _ call: DatabaseCall, _ request: DatabaseCall.PageRequest
    ) async throws -> [CKRecord] {
        try await call.page(request).matches.map { try $0.result.get() }
    }

    /// Returns a request for the first page of a query in its present state.
    func request(
        _ query: CKQuery, in zoneID: CKRecordZone.ID?, desiredKeys: [CKRecord.FieldKey]? = nil,
        limit: Int = CKQueryOperation.maximumResults
    ) -> DatabaseCall.PageRequest {
        DatabaseCall.PageRequest(
            query: query.copy() as? CKQuery, zoneID: zoneID, desiredKeys: desiredKeys, limit: limit)
    }

    // MARK: Queries

    /// Returns the first matching records in the query's order, and a cursor for the next ones.
    ///
    /// ```swift
    /// let query = CKQuery(recordType: "Note", predicate: NSPredicate(format: "text BEGINSWITH 'Buy'"))
    /// let (matches, cursor) = try await database.records(matching: query, resultsLimit: 20)
    /// ```
    ///
    /// If a record cannot be fetched, only its own result is a failure (B145).
    public func records(
        matching query: CKQuery, inZoneWith zoneID: CKRecordZone.ID? = nil, desiredKeys: [CKRecord.FieldKey]? = nil,
        resultsLimit: Int = CKQueryOperation.maximumResults
    ) async throws -> (
        matchResults: [(CKRecord.ID, Result<CKRecord, Error>)], queryCursor: CKQueryOperation.Cursor?
    ) {
        try await Self.page(call, request(query, in: zoneID, desiredKeys: desiredKeys, limit: resultsLimit))
    }

    /// Returns the next records after a cursor.
    public func records(
        continuingMatchFrom queryCursor: CKQueryOperation.Cursor, desiredKeys: [CKRecord.FieldKey]? = nil,
        resultsLimit: Int = CKQueryOperation.maximumResults
    ) async throws -> (
        matchResults: [(CKRecord.ID, Result<CKRecord, Error>)], queryCursor: CKQueryOperation.Cursor?
    ) {
        try await Self.page(
            call, DatabaseCall.PageRequest(cursor: queryCursor, desiredKeys: desiredKeys, limit: resultsLimit))
    }

    // MARK: Queries, first page only (B264)

    /// Returns the first matching records.
    @available(*, deprecated, message: "Use records(matching:inZoneWith:desiredKeys:resultsLimit:).")
    @preconcurrency
    public func perform(
        _ query: CKQuery, inZoneWith zoneID: CKRecordZone.ID?,
        completionHandler: @escaping @Sendable ([CKRecord]?, Error?) -> Void
    ) {
        let request = request(query, in: zoneID)
        call.answer(completionHandler) { try await Self.records($0, request) }
    }

    /// Returns the first matching records.
    @available(*, deprecated, message: "Use records(matching:inZoneWith:desiredKeys:resultsLimit:).")
    public func perform(_ query: CKQuery, inZoneWith zoneID: CKRecordZone.ID?) async throws -> [CKRecord] {
        try await Self.records(call, request(query, in: zoneID))
    }

    /// Returns the first matching records.
    @available(*, deprecated, message: "Use records(matching:inZoneWith:desiredKeys:resultsLimit:).")
    @_disfavoredOverload
    public func records(matching query: CKQuery, inZoneWith zoneID: CKRecordZone.ID?) async throws -> [CKRecord] {
        try await Self.records(call, request(query, in: zoneID))
    }
}

extension SendableHandlers where Self: CKDatabase {
    /// The same as ``CKDatabase/records(matching:inZoneWith:desiredKeys:resultsLimit:)``, with a completion handler.
    @preconcurrency
    public func fetch(
        withQuery query: CKQuery, inZoneWith zoneID: CKRecordZone.ID? = nil, desiredKeys: [CKRecord.FieldKey]? = nil,
        resultsLimit: Int = CKQueryOperation.maximumResults,
        completionHandler:
            @escaping @Sendable (
                Result<
                    (matchResults: [(CKRecord.ID, Result<CKRecord, Error>)], queryCursor: CKQueryOperation.Cursor?),
                    Error
                >
            ) -> Void
    ) {
        let request = request(query, in: zoneID, desiredKeys: desiredKeys, limit: resultsLimit)
        call.answer(completionHandler) { try await Self.page($0, request) }
    }

    /// The same as ``CKDatabase/records(continuingMatchFrom:desiredKeys:resultsLimit:)``, with a completion handler.
    @preconcurrency
    public func fetch(
        withCursor queryCursor: CKQueryOperation.Cursor, desiredKeys: [CKRecord.FieldKey]? = nil,
        resultsLimit: Int = CKQueryOperation.maximumResults,
        completionHandler:
            @escaping @Sendable (
                Result<
                    (matchResults: [(CKRecord.ID, Result<CKRecord, Error>)], queryCursor: CKQueryOperation.Cursor?),
                    Error
                >
            ) -> Void
    ) {
        let request = DatabaseCall.PageRequest(cursor: queryCursor, desiredKeys: desiredKeys, limit: resultsLimit)
        call.answer(completionHandler) { try await Self.page($0, request) }
    }
}
