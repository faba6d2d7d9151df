import StrataModel
import StrataQuery

/// Records that match, and where the next ones begin.
struct QueryPage: Sendable {
    var matches: [(id: CKRecord.ID, result: Result<CKRecord, CKError>)]
    var cursor: CKQueryCursor?
}

extension DatabaseCall {
    /// What a page of a query is asked for.
    struct PageRequest: Sendable {
        /// Wins over the query.
        var cursor: CKQueryCursor?
        var query: CKQuery?
        /// nil for all zones.
        var zoneID: CKRecordZone.ID?
        var desiredKeys: [CKRecord.FieldKey]?
        var limit: Int
    }

    /// The next records that match.
    func page(_ request: PageRequest) throws -> QueryPage {
        let options = try client.readable(scope).options
        guard request.limit >= 0 else {
            throw CKError(.invalidArguments, message: "resultsLimit is \(request.limit); 0 lets the store choose.")
        }
        if request.cursor == nil {
            guard let query = request.query else {
                throw CKError(.invalidArguments, message: "The operation has neither a query nor a cursor.")
            }
            try check(query, request.zoneID, PredicateCheck(options.predicates.engine))
        }
        throw Self.notYet("queries")
    }

    private func check(_ query: CKQuery, _ zoneID: CKRecordZone.ID?, _ check: PredicateCheck) throws {
        if let mistake = query.mistake { throw mistake }
        if scope == .shared, zoneID == nil {
            throw CKError(
                .invalidArguments, message: "SharedDB does not support Zone Wide queries: name the zone (B141).")
        }
        do { try check.check(query.question.content.get()) } catch { throw CKError(predicate: error) }
    }
}
