extension CKDatabase {
    /// The matches of a page, and where the next page begins.
    private typealias Page = (
        matchResults: [(CKRecord.ID, Result<CKRecord, Error>)], queryCursor: CKQueryOperation.Cursor?
    )

    private static func page(_ call: DatabaseCall, _ request: DatabaseCall.PageRequest) async throws -> Page {
        results(of: try await call.page(request))
    }

    private static func results(of page: QueryPage) -> Page {
        (page.matches.map { ($0.id, $0.result.mapError { $0 }) }, page.cursor)
    }

    private static func records(
        _ call: DatabaseCall, _ request: DatabaseCall.PageRequest
    ) async throws -> [CKRecord] {
        try await call.page(request).matches.map { try $0.result.get() }
    }

    /// A request for the first page of a query, as the query is now.
    private func request(
        _ query: CKQuery, _ zoneID: CKRecordZone.ID?, _ desiredKeys: [CKRecord.FieldKey]? = nil,
        _ limit: Int = CKQueryOperation.maximumResults
    ) -> DatabaseCall.PageRequest {
        DatabaseCall.PageRequest(
            query: query.copy() as? CKQuery, zoneID: zoneID, desiredKeys: desiredKeys, limit: limit)
    }

    // MARK: Queries

    /// The first records that match, in the query's order, and where the next ones begin.
    ///
    /// ```swift
    /// let query = CKQuery(recordType: "Note", predicate: NSPredicate(format: "text BEGINSWITH 'Buy'"))
    /// let (matches, cursor) = try await database.records(matching: query, resultsLimit: 20)
    /// ```
    ///
    /// A record that cannot be fetched is that record's failure (B145).
    public func records(
        matching query: CKQuery, inZoneWith zoneID: CKRecordZone.ID? = nil, desiredKeys: [CKRecord.FieldKey]? = nil,
        resultsLimit: Int = CKQueryOperation.maximumResults
    ) async throws -> (
        matchResults: [(CKRecord.ID, Result<CKRecord, Error>)], queryCursor: CKQueryOperation.Cursor?
    ) {
        try await Self.page(call, request(query, zoneID, desiredKeys, resultsLimit))
    }

    /// The records after those that came with a cursor.
    public func records(
        continuingMatchFrom queryCursor: CKQueryOperation.Cursor, desiredKeys: [CKRecord.FieldKey]? = nil,
        resultsLimit: Int = CKQueryOperation.maximumResults
    ) async throws -> (
        matchResults: [(CKRecord.ID, Result<CKRecord, Error>)], queryCursor: CKQueryOperation.Cursor?
    ) {
        try await Self.page(
            call, DatabaseCall.PageRequest(cursor: queryCursor, desiredKeys: desiredKeys, limit: resultsLimit))
    }

    /// As ``records(matching:inZoneWith:desiredKeys:resultsLimit:)``.
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
        let (call, request) = (call, request(query, zoneID, desiredKeys, resultsLimit))
        client.answer({ try await Self.page(call, request) }, with: completionHandler)
    }

    /// As ``records(continuingMatchFrom:desiredKeys:resultsLimit:)``.
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
        let call = call
        let request = DatabaseCall.PageRequest(cursor: queryCursor, desiredKeys: desiredKeys, limit: resultsLimit)
        client.answer({ try await Self.page(call, request) }, with: completionHandler)
    }

    // MARK: Queries, first page only (B264)

    /// The first records that match.
    @available(*, deprecated, message: "Use records(matching:inZoneWith:desiredKeys:resultsLimit:).")
    @preconcurrency
    public func perform(
        _ query: CKQuery, inZoneWith zoneID: CKRecordZone.ID?,
        completionHandler: @escaping @Sendable ([CKRecord]?, Error?) -> Void
    ) {
        let (call, request) = (call, request(query, zoneID))
        client.answer({ try await Self.records(call, request) }, with: completionHandler)
    }

    /// The first records that match.
    @available(*, deprecated, message: "Use records(matching:inZoneWith:desiredKeys:resultsLimit:).")
    public func perform(_ query: CKQuery, inZoneWith zoneID: CKRecordZone.ID?) async throws -> [CKRecord] {
        try await Self.records(call, request(query, zoneID))
    }

    /// The first records that match.
    @available(*, deprecated, message: "Use records(matching:inZoneWith:desiredKeys:resultsLimit:).")
    @_disfavoredOverload
    public func records(matching query: CKQuery, inZoneWith zoneID: CKRecordZone.ID?) async throws -> [CKRecord] {
        try await Self.records(call, request(query, zoneID))
    }
}
