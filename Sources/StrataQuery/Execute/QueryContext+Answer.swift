import StrataModel

/// A page of a query's matches.
package struct QueryAnswer: Sendable {
    package var matches: [QueryMatch]
    /// Nil if there are no more matches; ``cursor(for:in:of:now:)`` adds the query and database.
    var next: (order: QueryOrder, place: SortPlace)?
    package var plan: QueryPlan

    /// The cursor for the next page; nil at the end of the query.
    package func cursor(
        for query: Query, in database: DatabaseID, of store: Identifier, now: Double
    ) -> QueryCursor? {
        next.map { next in
            QueryCursor(
                store: store, database: database, query: query, order: next.order, place: next.place, now: now)
        }
    }
}

extension QueryContext {
    /// Chooses a plan without executing it.
    ///
    /// - Throws: ``StrataError`` for an invalid query.
    package func plan(_ query: Query, continuing cursor: QueryCursor? = nil, limit: Int) throws -> QueryPlan {
        try prepare(query, cursor, limit)
    }

    /// The first matches, or those after a cursor's place.
    ///
    /// - Throws: ``StrataError`` for an invalid query; ``QueryError/cancelled``.
    package func answer(
        _ query: Query, continuing cursor: QueryCursor? = nil, limit: Int,
        isCancelled: @escaping @Sendable () -> Bool = { false }
    ) throws -> QueryAnswer {
        let plan = try prepare(query, cursor, limit)
        let executor = try QueryExecutor(self, plan, after: cursor?.place, limit: limit, isCancelled: isCancelled)
        let outcome = try executor.run()
        var carriedOut = plan
        carriedOut.actual = outcome.actual
        if carriedOut.hasMetOtherTypes {
            carriedOut.missingIndexes.append(.init(key: SystemField.recordID.storedName, indexes: .queryable))
        }
        return QueryAnswer(
            matches: outcome.matches, next: outcome.next.map { (plan.order, $0) }, plan: carriedOut)
    }

    /// The predicate as bound to this database.
    ///
    /// - Throws: ``StrataError`` for an invalid query.
    package func bound(_ query: Query) throws -> PredicateTree {
        guard query.predicate.depth <= PredicateTree.maximumDepth else {
            throw StrataError(
                .invalidArgument, "The predicate is nested too deeply.",
                .init(expected: "at most \(PredicateTree.maximumDepth) levels", found: "more"))
        }
        let bound = try PredicateBinder(self).bind(query.predicate)
        try check(query.order)
        if rules.asksDeclaredFieldsOnly {
            try DeclaredFieldsCheck(self, typeName: query.recordType).check(bound, query.order)
        }
        return bound
    }

    private func prepare(_ query: Query, _ cursor: QueryCursor?, _ limit: Int) throws -> QueryPlan {
        let bound = try bound(query)
        let order = cursor?.order ?? (query.order.isEmpty ? nil : QueryOrder(keys: query.order))
        let planner = try QueryPlanner(self, wanted: order, limit: limit, isContinued: cursor != nil)
        var plan = try planner.plan(bound)
        plan.zones = planner.zones
        plan.notes += try notes(query.predicate)
        plan.writer = PlanWriter(scene: self, recordType: query.recordType, limit: limit)
        return plan
    }

    /// Notes on parts of the predicate that are evaluated here, but that the service rejects.
    private func notes(_ predicate: PredicateTree) throws -> [String] {
        var notes: [String] = []
        for comparison in predicate.comparisons where comparison.relation == .contains {
            guard case .keyPath(let key) = comparison.left, case .field(let field)? = try subject(of: key),
                field.kind == .string
            else { continue }
            let note = "CloudKit rejects CONTAINS on the string field '\(key)'; use self CONTAINS to find words"
            if !notes.contains(note) { notes.append(note) }
        }
        return notes
    }

    /// - Throws: ``StrataError`` for an encrypted key, and for one that the service would reject.
    private func check(_ order: [SortKey]) throws {
        for key in order {
            let subject = try subject(of: key.name)
            if subject?.isEncrypted == true {
                throw StrataError(
                    .invalidArgument, "Records cannot be sorted by encrypted fields.", .init(found: "“\(key.name)”"))
            }
            guard rules.dialect == .cloudKit else { continue }
            guard let subject else {
                throw StrataError(
                    .invalidArgument, "No record of the type ever had the sort key.",
                    .init(found: "“\(key.name)”"))
            }
            let isSortable: Bool =
                switch key {
                case .distance: subject.kind == .location
                case .key: [.string, .int64, .double, .date].contains(subject.kind)
                }
            guard isSortable else {
                throw StrataError(
                    .invalidArgument, "Records cannot be sorted by the values of that key.",
                    .init(expected: "numbers, texts or dates", found: "\(subject.kind) for “\(key.name)”"))
            }
        }
    }
}

extension QueryPlan {
    /// True if most of the examined records have other types, which is the only reason why they did not match.
    fileprivate var hasMetOtherTypes: Bool {
        guard case .zones = source, order.keys.isEmpty, missingIndexes.isEmpty, let actual,
            QueryPlanner.conjuncts(residual).isEmpty
        else { return false }
        return actual.recordsRead > 4 * (actual.matches + 1)
    }
}

extension QuerySubject {
    var isEncrypted: Bool {
        if case .field(let field) = self { field.isEncrypted } else { false }
    }
}
