extension CKDatabase {
    /// Returns the plan by which the store answers a query. Apple's CloudKit has no equivalent.
    ///
    /// ```swift
    /// let query = CKQuery(recordType: "Note", predicate: NSPredicate(format: "text BEGINSWITH 'Buy'"))
    /// let plan = try await database.queryPlan(for: query, carryingOut: true)
    /// print(plan.text, plan.estimatedRows, plan.actual?.rowsRead ?? 0)
    /// ```
    ///
    /// - Parameters:
    ///   - query: The query in its present state.
    ///   - zoneID: The zone to search; nil for all zones.
    ///   - resultsLimit: The size of a page; plans for few results may differ from those for many.
    ///   - carryingOut: True to fetch the first page and count the work that it takes. Like any query, this may have
    ///     the store declare an index that would have helped.
    /// - Throws: The `CKError` that the query would fail with; `permissionFailure` also for a user who may read only
    ///   the records that they created, since a plan counts those of all users.
    public func queryPlan(
        for query: CKQuery, inZoneWith zoneID: CKRecordZone.ID? = nil,
        resultsLimit: Int = CKQueryOperation.maximumResults, carryingOut: Bool = false
    ) async throws -> CloudStore.QueryPlan {
        let request = request(query, in: zoneID, desiredKeys: [], limit: resultsLimit)
        return carryingOut ? try await call.carriedOutPlan(request) : try await call.plan(request)
    }
}
