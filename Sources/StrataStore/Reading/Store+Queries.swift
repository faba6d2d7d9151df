import StrataModel
import StrataQuery
import StrataRules
import StrataTree
import StrataViews

/// The query for which a page of matches is requested, new or continued.
public enum Question: Sendable {
    case new(Query)
    case continued(QueryCursor)

    var query: Query {
        switch self {
        case .new(let query): query
        case .continued(let cursor): cursor.query
        }
    }

    var cursor: QueryCursor? {
        if case .continued(let cursor) = self { cursor } else { nil }
    }
}

/// A page of the records that match a query.
public struct QueryPage: Sendable {
    /// The matches in the order of the query.
    public var matches: [Record]
    /// Where the next page begins; nil if there is none.
    public var cursor: QueryCursor?
    package var plan: QueryPlan
}

extension Store {
    /// The number of records that a query may read before it gets an index, if it returns few of them and an index
    /// would have helped.
    static let tolerableRecordsRead = 1_000

    /// Returns the first records that match in the newest state, or those after a cursor (docs/queries.md).
    ///
    /// ```swift
    /// let urgent = try PredicateParser.parse("priority > 3")
    /// let query = Query("Task", where: urgent, order: [.key("title", isAscending: true)])
    /// let page = try store.query(.new(query), in: DatabaseID(.private), limit: 50, as: anna)
    /// print(page.plan.text)
    /// ```
    ///
    /// - Parameters:
    ///   - desiredKeys: nil for all.
    ///   - limit: 0 lets the store choose.
    ///   - isCancelled: called repeatedly; once it returns true, ``QueryError/cancelled`` is thrown.
    /// - Throws: ``Refusal`` for a query that is not allowed.
    public func query(
        _ question: Question, in database: DatabaseID, desiredKeys: [String]? = nil, limit: Int = 0,
        as actor: Actor, isCancelled: @escaping @Sendable () -> Bool = { false }
    ) throws -> QueryPage {
        let page = try page(
            question, in: database, desiredKeys: desiredKeys, limit: limit, as: actor, isCancelled)
        if let wanted = indexesWorthwhile(page) {
            // The page is correct without them. If the store cannot be written to, the next save reports it.
            try? declareIndexes(type: question.query.recordType, fields: wanted)
        }
        return page
    }

    /// Like the other `query`, suspending instead of blocking if an index is declared.
    public func query(
        _ question: Question, in database: DatabaseID, desiredKeys: [String]? = nil, limit: Int = 0,
        as actor: Actor, isCancelled: @escaping @Sendable () -> Bool = { false }
    ) async throws -> QueryPage {
        let page = try page(
            question, in: database, desiredKeys: desiredKeys, limit: limit, as: actor, isCancelled)
        if let wanted = indexesWorthwhile(page) {
            try? await declareIndexes(type: question.query.recordType, fields: wanted)
        }
        return page
    }

    /// Returns the plan of a query without running it.
    package func plan(_ query: Query, in database: DatabaseID, limit: Int = 0, as actor: Actor) throws -> QueryPlan {
        try gate.requireOpen()
        return try snapshot().plan(
            query, in: database, limit: try pageLimit(limit), as: actor, queryRules, now: engine.now)
    }

    /// Checks if a query is allowed now: its zone, its type, its keys and the values that they are compared with.
    ///
    /// - Throws: ``Refusal`` for a query that is not allowed.
    public func check(_ query: Query, in database: DatabaseID, as actor: Actor) throws {
        try newest.check(query, in: database, as: actor, queryRules)
    }

    private var queryRules: QueryRules { options.queryRules }

    func pageLimit(_ limit: Int) throws -> Int {
        guard limit >= 0 else {
            throw Refusal(
                .invalidArguments, "The limit of a page cannot be \(limit); use 0 to let the store choose.",
                rule: .pageLimit)
        }
        return limit == 0 ? options.limits.pageSize : min(limit, options.limits.pageSizeMaximum)
    }

    private func page(
        _ question: Question, in database: DatabaseID, desiredKeys: [String]?, limit: Int, as actor: Actor,
        _ isCancelled: @escaping @Sendable () -> Bool
    ) throws -> QueryPage {
        let limit = try pageLimit(limit)
        let cursor = question.cursor
        guard cursor == nil || cursor?.store == engine.storeID else {
            throw Refusal(.invalidArguments, "The cursor belongs to another store.", rule: .cursors)
        }
        try gate.requireOpen()
        let snapshot = snapshot()
        let page = try snapshot.query(
            question.query, after: cursor, in: database, desiredKeys: desiredKeys, limit: limit, as: actor, queryRules,
            of: engine.storeID, now: cursor == nil ? engine.now : nil, isCancelled)
        noteQuery(question, in: database, keys: desiredKeys, by: actor, at: snapshot.offset, page)
        return page
    }

    private func indexesWorthwhile(_ page: QueryPage) -> [(name: String, indexes: SchemaField.Indexes)]? {
        guard !page.plan.missingIndexes.isEmpty, access == .readWrite, options.schema == .open,
            let actual = page.plan.actual, actual.recordsRead > Self.tolerableRecordsRead,
            actual.recordsRead > 4 * page.matches.count
        else { return nil }
        return page.plan.missingIndexes.map { ($0.key, $0.indexes) }
    }
}

extension StoreSnapshot {
    /// - Parameter now: the time for `now()`; nil for that of the cursor.
    func query(
        _ query: Query, after cursor: QueryCursor?, in database: DatabaseID, desiredKeys: [String]?, limit: Int,
        as actor: Actor, _ rules: QueryRules, of store: Identifier, now: Int64?,
        _ isCancelled: @escaping @Sendable () -> Bool
    ) throws -> QueryPage {
        try reading { trees in
            let place = try names.place(database, actor, in: trees)
            if let cursor, cursor.database != place.database {
                throw Refusal(.invalidArguments, "The cursor belongs to another database.", rule: .cursors)
            }
            let seconds = cursor?.now ?? now.map(EngineDate.seconds) ?? 0
            guard let context = try context(of: query, in: place, as: actor, rules, now: seconds, trees) else {
                return QueryPage(matches: [], cursor: nil, plan: .empty)
            }
            let answer = try Self.judging {
                try context.answer(query, continuing: cursor, limit: limit, isCancelled: isCancelled)
            }
            var plan = answer.plan
            plan.countsHiddenRecords = context.countsHiddenRecords
            var known: (zone: UInt64, origin: RecordOrigin)?
            let unknown = try origin(place, ZoneID(""), desiredKeys: desiredKeys, trees)
            // A query of the shared database has only records of the zone that it names.
            let sharedZone = place.database.scope == .shared ? query.zone : nil
            let matches = try answer.matches.map { match in
                try Self.record(match) { zone in
                    if let known, known.zone == zone { return known.origin }
                    let origin = try unknown.inZone(sharedZone ?? ZoneID(names.text(.zone, zone, in: trees)))
                    known = (zone, origin)
                    return origin
                }
            }
            return QueryPage(
                matches: matches, cursor: answer.cursor(for: query, in: place.database, of: store, now: seconds),
                plan: plan)
        }
    }

    func plan(
        _ query: Query, in database: DatabaseID, limit: Int, as actor: Actor, _ rules: QueryRules, now: Int64
    ) throws -> QueryPlan {
        try reading { trees in
            let place = try names.place(database, actor, in: trees)
            let context = try context(
                of: query, in: place, as: actor, rules, now: EngineDate.seconds(now), trees)
            guard let context else { return .empty }
            var plan = try Self.judging { try context.plan(query, limit: limit) }
            plan.countsHiddenRecords = context.countsHiddenRecords
            return plan
        }
    }

    func check(_ query: Query, in database: DatabaseID, as actor: Actor, _ rules: QueryRules) throws {
        try reading { trees in
            let place = try names.place(database, actor, in: trees)
            let context = try context(of: query, in: place, as: actor, rules, now: 0, trees)
            try Self.judging { _ = try context?.bound(query) }
        }
    }

    /// Returns nil for a record type that was never saved, if that is not an error.
    private func context(
        of query: Query, in place: ResolvedDatabase, as actor: Actor, _ rules: QueryRules, now: Double,
        _ trees: Snapshot
    ) throws -> QueryContext? {
        if query.recordType == UserRecord.type {
            throw Refusal(
                .invalidArguments, "User records cannot be queried; fetch them by their IDs.", rule: .queriesOfUsers)
        }
        if place.database.scope == .shared, query.zone == nil {
            throw Refusal(
                .invalidArguments, "SharedDB does not support Zone Wide queries: name the zone.",
                rule: .queriesOfAllZones)
        }
        var zone: UInt64?
        var access = access(place, actor, trees)
        if let id = query.zone {
            let (ordinal, refusal) = try access.zone(id, in: place, trees, names)
            if let refusal { throw refusal }
            // A default zone that was never written to has no ordinal and no records; the query is still validated.
            zone = ordinal ?? 0
        }
        guard let type = try names.ordinal(of: .recordType(query.recordType), in: trees) else {
            // There may be no share yet.
            let isOfShares = isSameText(query.recordType, ShareState.recordType)
            guard rules.unknownTypesAreErrors, !isOfShares else { return nil }
            throw Refusal(.unknownItem, "Did not find record type: \(query.recordType)", rule: .queriedType)
        }
        let readable = try access.readableRecords(ofType: type)
        try readable.requireAny(of: query.recordType)
        var onlyCreator: UInt64?
        // No user has the largest number as ordinal; a user whom no commit has named has created nothing.
        if case .own(let user) = readable { onlyCreator = user == 0 ? .max : user }
        return try QueryContext(
            trees, StoreQueryNames(names: names, place: place, actor: actor, trees: trees),
            database: access.shared?.zone.database ?? place.ordinal, type: type, zone: zone, rules: rules, now: now,
            onlyCreator: onlyCreator, mayRead: access.checkOfTargets, visible: access.shared?.visible)
    }

    /// Treats a query that is invalid or too expensive as an error of the caller.
    private static func judging<Result>(_ body: () throws -> Result) throws -> Result {
        do { return try body() } catch let error as StrataError where error.code == .invalidArgument {
            throw Refusal(.invalidArguments, "\(error)", rule: .predicate)
        } catch let error as StrataError where error.code == .tooLarge {
            throw Refusal(.limitExceeded, "\(error)", rule: .queryLimits)
        }
    }

    private static func record(
        _ match: QueryMatch, _ origin: (_ zone: UInt64) throws -> RecordOrigin
    ) throws -> Record {
        let (zone, place, isShort) = try match.record.withName { key in
            var reader = KeyReader(key)
            let zone = try reader.readNumber()
            return (zone, reader.position, key.count - reader.position > RecordState.longestKeyName)
        }
        let stored = match.record.droppingFromKey(place)
        return try Record(isShort ? stored.withWholeName() : stored, try origin(zone))
    }
}
