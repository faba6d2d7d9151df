extension CKDatabase {
    /// How the store answers a query. Apple's CloudKit has nothing like it.
    ///
    /// ```swift
    /// let query = CKQuery(recordType: "Note", predicate: NSPredicate(format: "text BEGINSWITH 'Buy'"))
    /// let plan = try await database.queryPlan(for: query, carryingOut: true)
    /// print(plan.text, plan.estimatedRows, plan.actual?.rowsRead ?? 0)
    /// ```
    ///
    /// - Parameters:
    ///   - query: what would be asked, as it is now.
    ///   - zoneID: nil for all zones.
    ///   - resultsLimit: of a page; plans for few results may differ from those for many.
    ///   - carryingOut: whether the first page is looked up, to count what that takes. As any query it may have an
    ///     index declared that would have helped.
    /// - Throws: the `CKError` that the query would end with.
    public func queryPlan(
        for query: CKQuery, inZoneWith zoneID: CKRecordZone.ID? = nil,
        resultsLimit: Int = CKQueryOperation.maximumResults, carryingOut: Bool = false
    ) async throws -> CloudStore.QueryPlan {
        let request = DatabaseCall.PageRequest(
            query: query.copy() as? CKQuery, zoneID: zoneID, desiredKeys: [], limit: resultsLimit)
        return carryingOut ? try await call.carriedOutPlan(request) : try await call.plan(request)
    }
}
