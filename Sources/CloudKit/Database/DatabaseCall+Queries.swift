import StrataModel
import StrataQuery
import StrataStore
import StrataSystem

/// The matching records, and the cursor of the next ones.
struct QueryPage: Sendable {
    var matches: [(id: CKRecord.ID, result: Result<CKRecord, CKError>)]
    var cursor: CKQueryCursor?
}

extension DatabaseCall {
    /// The request for one page of a query.
    struct PageRequest: Sendable {
        /// Takes precedence over the query.
        var cursor: CKQueryCursor?
        var query: CKQuery?
        /// Nil for all zones.
        var zoneID: CKRecordZone.ID?
        var desiredKeys: [CKRecord.FieldKey]?
        var limit: Int
        /// Returns true if the query is to stop, in addition to cancellation of the task.
        var isCancelled: @Sendable () -> Bool = { false }
    }

    /// Fetches the next matching records.
    nonisolated(nonsending) func page(_ request: PageRequest) async throws -> QueryPage {
        // The threads of a query belong to no task.
        let isCancelled = Lock(false)
        return try await withTaskCancellationHandler {
            try await page(request) { request.isCancelled() || isCancelled.withLock { $0 } }
        } onCancel: {
            isCancelled.withLock { $0 = true }
        }
    }

    nonisolated(nonsending) private func page(
        _ request: PageRequest, _ isCancelled: @escaping @Sendable () -> Bool
    ) async throws -> QueryPage {
        try await asking(.query) { opened in
            let question = try question(request, opened)
            let page: StrataStore.QueryPage
            do {
                page = try await opened.store.query(
                    question, in: database, desiredKeys: request.desiredKeys, limit: request.limit, as: client.actor,
                    isCancelled: isCancelled)
            } catch QueryError.cancelled {
                throw CKError.cancelled
            }
            var matches = page.matches.map { record in
                let id = CKRecord.ID(record.id)
                return (id: id, result: result(of: record, id, request.desiredKeys))
            }
            for (index, error) in itemErrors(matches.count, .query, opened) {
                matches[index].result = .failure(error.of(.fetch, matches[index].id))
            }
            let cursor = try page.cursor.map { CKQueryCursor(bytes: try opened.store.bytes(of: $0)) }
            return QueryPage(matches: matches, cursor: cursor)
        }
    }

    /// Returns the plan for fetching the next records.
    func plan(_ request: PageRequest) async throws -> CloudStore.QueryPlan {
        try await asking(.query) { opened in
            let query = try query(request, opened.options)
            return try Self.shown(
                try opened.store.plan(query, in: database, limit: request.limit, as: client.actor))
        }
    }

    /// Fetches the next records and returns the plan with its counts.
    func carriedOutPlan(_ request: PageRequest) async throws -> CloudStore.QueryPlan {
        try await asking(.query) { opened in
            let page = try await opened.store.query(
                try question(request, opened), in: database, desiredKeys: request.desiredKeys,
                limit: request.limit, as: client.actor)
            return try Self.shown(page.plan)
        }
    }

    /// - Throws: ``CKError`` `permissionFailure` if the plan's figures would tell how many records of others match.
    private static func shown(_ plan: StrataQuery.QueryPlan) throws -> CloudStore.QueryPlan {
        guard !plan.countsHiddenRecords else {
            throw CKError(
                .permissionFailure,
                message: "A plan counts all records in an index, and you may read only some of them.")
        }
        return CloudStore.QueryPlan(plan)
    }

    private func question(
        _ request: PageRequest, _ opened: CloudStore
    ) throws -> StrataStore.Question {
        guard request.limit >= 0 else {
            throw CKError(
                .invalidArguments, message: "resultsLimit is \(request.limit); use 0 to let the store choose.")
        }
        if let cursor = request.cursor { return .continued(try opened.store.cursor(from: cursor.bytes)) }
        return .new(try query(request, opened.options))
    }

    private func query(_ request: PageRequest, _ options: CloudStore.Options) throws -> Query {
        guard let query = request.query else {
            throw CKError(.invalidArguments, message: "The operation has neither a query nor a cursor.")
        }
        if let mistake = query.mistake { throw mistake }
        if scope == .shared, request.zoneID == nil {
            throw CKError(
                .invalidArguments, message: "SharedDB does not support Zone Wide queries: name the zone.")
        }
        do {
            let predicate = try query.question.content.get()
            try PredicateCheck(options.predicates).check(predicate)
            return Query(
                query.recordType, where: predicate, order: try query.sortKeys(),
                zone: request.zoneID?.model(for: client.userRecordName))
        } catch let error as StrataError {
            throw CKError(predicate: error)
        }
    }
}

extension CKQuery {
    fileprivate func sortKeys() throws -> [SortKey] {
        try (sortDescriptors ?? []).map { descriptor in
            switch descriptor {
            case let descriptor as KeySortDescriptor:
                return .key(descriptor.sortKey, isAscending: descriptor.ascending)
            case let descriptor as CKLocationSortDescriptor:
                let place = descriptor.relativeLocation.coordinate
                return .distance(key: descriptor.sortKey, latitude: place.latitude, longitude: place.longitude)
            default:
                throw CKError(
                    .invalidArguments, message: "A sort descriptor names no key: use NSSortDescriptor(key:ascending:).")
            }
        }
    }
}
