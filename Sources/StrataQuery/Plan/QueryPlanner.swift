import StrataModel
import StrataTree
import StrataViews

/// Chooses the cheapest plan for a query (docs/queries.md §3).
struct QueryPlanner {
    /// Costs in microseconds, as measured with a million records.
    enum Cost {
        static let row = 0.15
        /// A row in the order of several zones.
        static let mergedRow = 0.6
        static let search = 1.0
        static let record = 1.2
        static let scannedRecord = 0.35
        static let sortedRecord = 0.6
        static let sortedKey = 0.4
        /// The cost below which no better plan is sought.
        static let small = 400.0
    }

    /// The assumed share of records that a comparison keeps, if nothing more is known.
    static let unknownSelectivity = 0.3
    static let maximumCells = 48

    let scene: QueryContext
    /// The requested order; nil for any order.
    let wanted: QueryOrder?
    /// The number of matches that are needed.
    let limit: Int
    /// True if results continue after a place; orders that cannot begin there then cost more.
    let isContinued: Bool
    private let ready: Set<IndexID>
    let zones: SearchedZones
    /// The approximate number of records that the actor sees; nil if the actor sees all of them.
    private let visibleCount: Double?
    /// The share of the zone's records that the actor sees.
    private let visibleShare: Double
    private let matcher: IndexMatcher

    init(_ scene: QueryContext, wanted: QueryOrder?, limit: Int, isContinued: Bool) throws {
        self.scene = scene
        self.wanted = wanted
        self.limit = limit
        self.isContinued = isContinued
        ready = try Set(IndexCatalog(scene.trees, of: scene.type).ready)
        zones = try scene.searchedZones()
        matcher = IndexMatcher(scene: scene)
        visibleCount = try scene.visible?.count(in: scene.trees)
        let recordCount = max(1, zones.recordCount)
        visibleShare = visibleCount.map { min(1, $0 / recordCount) } ?? 1
    }

    /// - Parameter predicate: a tree from ``PredicateBinder``.
    func plan(_ predicate: PredicateTree) throws -> QueryPlan {
        let conjuncts = Self.conjuncts(predicate)
        var missing: [QueryPlan.MissingIndex] = []
        if conjuncts.contains(.constant(false)) { return plan(.nothing, residual: [], rows: 0) }
        let accesses = try accesses(conjuncts, &missing)
        var candidates: [Candidate] = []
        for access in accesses { candidates.append(try candidate(access, conjuncts, accesses)) }
        if let both = try intersection(accesses, conjuncts) { candidates.append(both) }
        let best = candidates.min { $0.cost < $1.cost }
        if best == nil || best.map({ $0.cost > Cost.small }) == true {
            let total = zones.recordCount
            candidates += try orderedScans(conjuncts, accesses, of: total, missing: &missing)
            candidates.append(zoneScan(conjuncts, accesses, total))
            if let all = try membership(conjuncts, accesses, total) { candidates.append(all) }
        }
        if let few = try visibleScan(conjuncts, accesses, cheaperThan: candidates.map(\.cost).min()) {
            candidates.append(few)
        }
        guard let chosen = candidates.min(by: { $0.cost < $1.cost }) else {
            return plan(.nothing, residual: [], rows: 0)
        }
        var plan = chosen.plan
        plan.missingIndexes = missing
        return plan
    }

    // MARK: Parts of the predicate

    /// The conjuncts of a predicate, which must all hold. NOT is pushed inwards through OR and NOT.
    static func conjuncts(_ tree: PredicateTree) -> [PredicateTree] {
        switch tree {
        case .and(let parts): return parts.flatMap(conjuncts)
        case .constant(true): return []
        case .not(.not(let part)): return conjuncts(part)
        case .not(.or(let parts)): return parts.flatMap { conjuncts(.not($0)) }
        case .not(.constant(let isTrue)): return isTrue ? [.constant(false)] : []
        case .or(let parts):
            if parts.contains(.constant(true)) { return [] }
            let rest = parts.filter { $0 != .constant(false) }
            return rest.count == 1 ? conjuncts(rest[0]) : rest.isEmpty ? [.constant(false)] : [.or(rest)]
        default: return [tree]
        }
    }

    /// The rows that correspond to some of the conjuncts.
    struct Access {
        var source: QueryPlan.Source
        /// The indices of conjuncts that need not be evaluated again.
        var exact: Set<Int>
        /// The indices of conjuncts that the rows are derived from.
        var covered: Set<Int>
        var rows: Double
    }

    private struct Candidate {
        var plan: QueryPlan
        var cost: Double
    }

    private func accesses(
        _ conjuncts: [PredicateTree], _ missing: inout [QueryPlan.MissingIndex]
    ) throws -> [Access] {
        var accesses: [Access] = []
        /// Comparisons of a field with a single value, whose ranges are intersected.
        var byIndex: [IndexID: (match: IndexMatch, exact: Set<Int>, covered: Set<Int>)] = [:]
        for (place, conjunct) in conjuncts.enumerated() {
            if case .comparison(let comparison) = conjunct, let match = try matcher.match(comparison),
                ready.contains(match.id), try !isList(match.id)
            {
                if let known = byIndex[match.id] {
                    byIndex[match.id]?.match.ranges = IndexRange.intersection(known.match.ranges, match.ranges)
                } else {
                    byIndex[match.id] = (match, [], [])
                }
                if match.isExact { byIndex[match.id]?.exact.insert(place) }
                byIndex[match.id]?.covered.insert(place)
            } else if let (source, isExact) = try source(conjunct, &missing) {
                accesses.append(
                    Access(
                        source: source, exact: isExact ? [place] : [], covered: [place], rows: try estimate(source)))
            }
        }
        for (_, known) in byIndex.sorted(by: { $0.key < $1.key }) {
            let source = QueryPlan.Source.index(known.match)
            accesses.append(
                Access(source: source, exact: known.exact, covered: known.covered, rows: try estimate(source)))
        }
        return accesses
    }

    private func isList(_ id: IndexID) throws -> Bool {
        guard let field = id.subject.field else { return false }
        return scene.fields[field]?.kind.isList ?? false
    }

    /// The source of records that satisfy a part of the predicate; nil if no index provides it.
    private func source(
        _ part: PredicateTree, _ missing: inout [QueryPlan.MissingIndex]
    ) throws -> (source: QueryPlan.Source, isExact: Bool)? {
        switch part {
        case .comparison(let comparison): return try source(comparison, &missing)
        case .or(let parts):
            var sources: [QueryPlan.Source] = []
            var lacking: [QueryPlan.MissingIndex] = []
            for part in parts {
                var needed: [QueryPlan.MissingIndex] = []
                if let found = try bestSource(ofAll: Self.conjuncts(part), &needed) {
                    sources.append(found)
                } else if needed.isEmpty {
                    // No index covers this part, so indexes for the other parts would not help either.
                    return nil
                }
                lacking += needed
            }
            for index in lacking { Self.add(index, to: &missing) }
            guard sources.count == parts.count else { return nil }
            // The whole part is evaluated again, because each source may return more records than were requested.
            return (.union(sources), false)
        default: return nil
        }
    }

    private func bestSource(
        ofAll parts: [PredicateTree], _ missing: inout [QueryPlan.MissingIndex]
    ) throws -> QueryPlan.Source? {
        if parts.contains(.constant(false)) { return .nothing }
        var best: (source: QueryPlan.Source, rows: Double)?
        for part in parts {
            guard let (source, _) = try source(part, &missing) else { continue }
            let rows = try estimate(source)
            if best.map({ rows < $0.rows }) ?? true { best = (source, rows) }
        }
        return best?.source
    }

    private func source(
        _ comparison: PredicateComparison, _ missing: inout [QueryPlan.MissingIndex]
    ) throws -> (source: QueryPlan.Source, isExact: Bool)? {
        if let keys = try recordKeys(comparison) { return (.records(keys), false) }
        if let matches = try matcher.wordMatches(comparison) {
            let absent = matches.filter { !ready.contains($0.id) }
            guard absent.isEmpty else {
                for match in absent { try note(match.id, .searchable, &missing) }
                return nil
            }
            let sources = matches.map { QueryPlan.Source.index($0) }
            return (sources.count == 1 ? sources[0] : .union(sources), matches.allSatisfy(\.isExact))
        }
        if let (key, circle) = comparison.circle, case .field(let field)? = try scene.subject(of: key),
            field.kind == .location
        {
            let id = IndexID(type: scene.type, .field(field.field), .cells)
            guard ready.contains(id) else {
                try note(id, .queryable, &missing)
                return nil
            }
            return (.index(IndexMatch(id: id, ranges: Self.ranges(of: circle), isExact: false)), false)
        }
        guard let match = try matcher.match(comparison) else { return nil }
        guard ready.contains(match.id) else {
            try note(match.id, .queryable, &missing)
            return nil
        }
        return (.index(match), match.isExact)
    }

    private static func ranges(of circle: GeoCircle) -> [IndexRange] {
        let kind = IndexKey.Kind.place.rawValue
        return IndexRange.merged(
            circle.ranges(atMost: maximumCells).map { cells in
                func bytes(_ cell: UInt64) -> [UInt8] {
                    var key = KeyWriter()
                    key.append(byte: kind)
                    key.append(cell: cell)
                    return key.bytes
                }
                return IndexRange(from: bytes(cells.lowerBound), to: IndexRange.successor(bytes(cells.upperBound)))
            })
    }

    /// The records of `recordID = …` and `recordID IN …`.
    private func recordKeys(_ comparison: PredicateComparison) throws -> [[UInt8]]? {
        guard comparison.quantifier == nil, let (key, relation, value) = comparison.keyAndConstant,
            SystemField(key) == .recordID
        else { return nil }
        let values: [PredicateValue]
        switch relation {
        case .equal: values = [value]
        case .isIn: values = value.elements ?? []
        default: return nil
        }
        var keys: Set<[UInt8]> = []
        for case .reference(let target) in values {
            guard let zone = try scene.names.zoneOrdinal(target.zoneName, owner: target.ownerName) else { continue }
            var writer = KeyWriter()
            writer.append(number: zone)
            writer.append(lastRecordName: target.recordName)
            keys.insert(writer.bytes)
        }
        return keys.sorted { $0.lexicographicallyPrecedes($1) }
    }

    private func note(
        _ id: IndexID, _ indexes: SchemaField.Indexes, _ missing: inout [QueryPlan.MissingIndex]
    ) throws {
        guard let key = try scene.keyName(of: id) else { return }
        // An index that cannot be declared would prevent the others from being declared with it.
        let indexes = indexes.intersection(try possibleIndexes(of: id, key))
        if indexes.isEmpty { return }
        Self.add(QueryPlan.MissingIndex(key: key, indexes: indexes), to: &missing)
    }

    private static func add(_ index: QueryPlan.MissingIndex, to missing: inout [QueryPlan.MissingIndex]) {
        if let place = missing.firstIndex(where: { $0.key == index.key }) {
            missing[place].indexes.formUnion(index.indexes)
        } else {
            missing.append(index)
        }
    }

    private func possibleIndexes(of id: IndexID, _ key: String) throws -> SchemaField.Indexes {
        guard let field = id.subject.field else {
            return SchemaName.systemKind(of: key)?.possibleIndexes(isEncrypted: false) ?? []
        }
        guard let field = scene.fields[field], field.kind.isDeclarable else { return [] }
        return field.kind.possibleIndexes(isEncrypted: field.isEncrypted)
    }
}

extension QueryPlanner {
    // MARK: Costs

    /// The approximate number of rows of a source.
    private func estimate(_ source: QueryPlan.Source) throws -> Double {
        switch source {
        case .nothing: return 0
        case .records(let keys): return Double(keys.count)
        case .index(let match, _): return try estimate(match)
        case .union(let sources): return try sources.reduce(0) { try $0 + estimate($1) }
        case .intersection(let first, _): return try estimate(first)
        case .nearest(let id, _): return try estimate(.index(IndexMatch(id: id, ranges: [.all])))
        case .zones: return zones.recordCount
        }
    }

    private func estimate(_ match: IndexMatch) throws -> Double {
        try zones.estimate(rangeCount: match.ranges.count) { zone in
            let start = IndexKey.start(scene.database, match.id, zone: zone).bytes
            return try match.ranges.reduce(0) { sum, range in
                try sum
                    + (start + range.lower).withUnsafeBytes { lower in
                        try (start + range.upper).withUnsafeBytes { upper in
                            try scene.trees.estimatedCount(ViewTree.index, from: lower, to: upper)
                        }
                    }
            }
        }
    }

    /// The cost of finding the rows of a source, before any is read: each range is sought in each zone.
    private func searchCost(_ source: QueryPlan.Source) -> Double {
        switch source {
        case .nothing, .records, .zones: 0
        case .index(let match, _): Double(match.ranges.count * zones.all.count) * Cost.search
        case .union(let sources): sources.reduce(0) { $0 + searchCost($1) }
        case .intersection(let small, let large): searchCost(small) + searchCost(large)
        case .nearest:
            Double(zones.all.count) * Cost.search
                + min(Double(zones.all.count * NearestSearch.fewRows), zones.recordCount) * Cost.row
        }
    }

    /// The estimated share of the type's records that satisfy the given conjuncts.
    private func selectivity(_ places: [Int], _ accesses: [Access], _ total: Double) -> Double {
        var selectivity = 1.0
        var known: Set<Int> = []
        for access in accesses where !access.covered.isDisjoint(with: places) && total > 0 {
            selectivity *= min(1, max(access.rows, 0.5) / total)
            known.formUnion(access.covered)
        }
        for place in places where !known.contains(place) { selectivity *= Self.unknownSelectivity }
        return max(selectivity * visibleShare, 1e-9)
    }

    private func plan(_ source: QueryPlan.Source, residual: [PredicateTree], rows: Double) -> QueryPlan {
        var plan = QueryPlan(
            source: source, sorting: .none, order: wanted ?? QueryOrder(keys: []),
            residual: residual.count == 1 ? residual[0] : residual.isEmpty ? .constant(true) : .and(residual))
        plan.estimatedRows = rows
        if case .nothing = source { return plan }
        arrange(&plan)
        return plan
    }

    /// Sets the way in which a plan's source is put in order.
    private func arrange(_ plan: inout QueryPlan) {
        switch plan.source {
        case .index(let match, _):
            if let wanted {
                if let sorting = sorting(of: match, for: wanted) {
                    plan.sorting = sorting
                    if let first = wanted.keys.first, !first.isAscending {
                        plan.source = .index(match, isReversed: true)
                    }
                } else {
                    plan.sorting = wanted.keys.isEmpty ? .keys : .all
                }
            } else if match.mayRepeat || match.id.form != .ordered || match.ranges.count > 1 && match.id.form == .words
            {
                plan.sorting = .keys
            } else if match.isPoint || match.id.subject == .membership {
                plan.order = QueryOrder(keys: [])
            } else if let key = try? scene.keyName(of: match.id) {
                plan.order = QueryOrder(keys: [.key(key, isAscending: true)])
                plan.sorting = sorting(of: match, for: plan.order) ?? .keys
                if plan.sorting == .keys { plan.order = QueryOrder(keys: []) }
            }
        case .zones(let zones):
            if let wanted {
                let isInOrder = wanted.keys.isEmpty && (wanted.ties == .byPlace || zones.count == 1)
                plan.sorting = isInOrder ? .none : wanted.keys.isEmpty ? .keys : .all
            } else {
                plan.order = QueryOrder(keys: [], ties: .byPlace)
            }
        case .nearest: plan.sorting = .none
        case .nothing: break
        case .records, .union, .intersection:
            plan.sorting = plan.order.keys.isEmpty ? .keys : .all
        }
    }

    /// The way in which rows of an index are put in order; nil if all of them must be read for it.
    private func sorting(of match: IndexMatch, for order: QueryOrder) -> QueryPlan.Sorting? {
        guard match.id.form == .ordered, !match.mayRepeat, order.ties == .byName, (try? isList(match.id)) == false
        else { return nil }
        guard let first = order.keys.first else {
            return match.isPoint || match.id.subject == .membership ? QueryPlan.Sorting.none : nil
        }
        guard case .key(let name, _) = first, let subject = try? scene.subject(of: name),
            subject.index == match.id.subject
        else {
            return nil
        }
        switch subject {
        case .system(.creationDate), .system(.modificationDate): break
        case .field(let field) where [.int64, .double, .date, .string].contains(field.kind): break
        default: return nil
        }
        return order.keys.count == 1 ? QueryPlan.Sorting.none : .groups
    }

    private func cost(_ plan: QueryPlan, rows: Double, residualSelectivity: Double) -> Double {
        searchCost(plan.source) + readingCost(plan, rows: rows, residualSelectivity: residualSelectivity)
    }

    private func readingCost(_ plan: QueryPlan, rows: Double, residualSelectivity: Double) -> Double {
        switch plan.sorting {
        case .none, .groups:
            // Ends once the page is full; a continuation does not read the records that it skips.
            let row = zones.all.count > 1 ? Cost.mergedRow : Cost.row
            return min(rows, Double(limit + 1) / residualSelectivity) * (row + Cost.record)
        case .keys:
            let needed = min(rows, Double(limit + 1) / residualSelectivity)
            return rows * (Cost.row + Cost.sortedKey) + needed * Cost.record
        case .all:
            return rows * (Cost.row + Cost.record + residualSelectivity * Cost.sortedRecord)
        }
    }

    private func candidate(_ access: Access, _ conjuncts: [PredicateTree], _ accesses: [Access]) throws -> Candidate {
        let residual = conjuncts.indices.filter { !access.exact.contains($0) }
        let asked = residual.filter { !access.covered.contains($0) }
        let plan = plan(access.source, residual: residual.map { conjuncts[$0] }, rows: access.rows)
        let selectivity = selectivity(asked, accesses, max(1, zones.recordCount))
        return Candidate(plan: plan, cost: cost(plan, rows: access.rows, residualSelectivity: selectivity))
    }

    /// The intersection of two indexes that each return many records, but few in common.
    private func intersection(_ accesses: [Access], _ conjuncts: [PredicateTree]) throws -> Candidate? {
        let two = accesses.filter { access in
            if case .index(let match, _) = access.source { return match.id.form != .cells }
            return false
        }.sorted { $0.rows < $1.rows }.prefix(2)
        guard two.count == 2, two[0].rows * Cost.record > Cost.small else { return nil }
        let both = two[0].rows * min(1, two[1].rows / max(1, zones.recordCount))
        let exact = two[0].exact.union(two[1].exact)
        let residual = conjuncts.indices.filter { !exact.contains($0) }.map { conjuncts[$0] }
        let plan = plan(.intersection(two[0].source, two[1].source), residual: residual, rows: both)
        let rowCost = (two[0].rows * 2 + two[1].rows) * Cost.row + searchCost(plan.source)
        let needed = plan.sorting == .keys ? min(both, Double(limit + 1)) : both
        return Candidate(plan: plan, cost: rowCost + needed * Cost.record + both * Cost.sortedKey)
    }

    /// Reads the index of the first sort key until the page is full.
    private func orderedScans(
        _ conjuncts: [PredicateTree], _ accesses: [Access], of total: Double,
        missing: inout [QueryPlan.MissingIndex]
    ) throws -> [Candidate] {
        guard let wanted, let first = wanted.keys.first, let subject = try scene.subject(of: first.name) else {
            return []
        }
        let selectivity = selectivity(Array(conjuncts.indices), accesses, total)
        if case .distance(_, let latitude, let longitude) = first {
            guard wanted.keys.count == 1, wanted.ties == .byName, case .field(let field) = subject,
                field.kind == .location
            else { return [] }
            let id = IndexID(type: scene.type, .field(field.field), .cells)
            guard ready.contains(id) else {
                try note(id, .queryable, &missing)
                return []
            }
            var circle = GeoCircle(latitude: latitude, longitude: longitude, radiusMetres: .infinity)
            for case .comparison(let comparison) in conjuncts {
                guard let (key, other) = comparison.circle, key == first.name, other.latitude == latitude,
                    other.longitude == longitude
                else { continue }
                circle.radiusMetres = min(circle.radiusMetres, other.radiusMetres)
            }
            var plan = plan(.nearest(id, circle), residual: conjuncts, rows: total)
            plan.estimatedRows = min(total, Double(limit + 1) / selectivity)
            let cost = searchCost(plan.source) + plan.estimatedRows * (Cost.row * 4 + Cost.record)
            return [Candidate(plan: plan, cost: cost)]
        }
        guard let index = subject.index else { return [] }
        let match = IndexMatch(id: IndexID(type: scene.type, index), ranges: [.all])
        guard sorting(of: match, for: wanted) != nil else { return [] }
        guard ready.contains(match.id) else {
            try note(match.id, .sortable, &missing)
            return []
        }
        // Ranges of this field are already candidates.
        if accesses.contains(where: { if case .index(let other, _) = $0.source { other.id == match.id } else { false } }
        ) {
            return []
        }
        let rows = try estimate(.index(match))
        let plan = plan(.index(match), residual: conjuncts, rows: rows)
        return [Candidate(plan: plan, cost: cost(plan, rows: rows, residualSelectivity: selectivity))]
    }

    private func zoneScan(_ conjuncts: [PredicateTree], _ accesses: [Access], _ total: Double) -> Candidate {
        var plan = plan(.zones(zones.ordinals), residual: conjuncts, rows: total)
        let selectivity = selectivity(Array(conjuncts.indices), accesses, total)
        var records = total
        if plan.sorting == .none { records = min(total, Double(limit + 1) / selectivity) }
        plan.estimatedRecords = records
        let sorted = plan.sorting == .none ? 0 : total * selectivity * Cost.sortedRecord
        let seeking = Double(zones.all.count) * Cost.record
        return Candidate(plan: plan, cost: seeking + records * Cost.scannedRecord + sorted)
    }

    /// Reads the visible records one by one; nil if that costs more than the best other plan.
    private func visibleScan(
        _ conjuncts: [PredicateTree], _ accesses: [Access], cheaperThan best: Double?
    ) throws -> Candidate? {
        guard let visible = scene.visible, let count = visibleCount else { return nil }
        let cost = count * (Cost.row + Cost.record + Cost.sortedKey)
        if let best, best <= cost { return nil }
        let keys = try visible.keys(ofType: scene.type, in: scene.trees)
        return Candidate(plan: plan(.records(keys), residual: conjuncts, rows: Double(keys.count)), cost: cost)
    }

    /// Reads all records of the type by its index, if most records of the zones have other types.
    private func membership(
        _ conjuncts: [PredicateTree], _ accesses: [Access], _ total: Double
    ) throws -> Candidate? {
        let match = IndexMatch(id: IndexID(type: scene.type, .membership), ranges: [.all])
        guard ready.contains(match.id) else { return nil }
        let rows = try estimate(.index(match))
        let plan = plan(.index(match), residual: conjuncts, rows: rows)
        let selectivity = selectivity(Array(conjuncts.indices), accesses, total)
        return Candidate(plan: plan, cost: cost(plan, rows: rows, residualSelectivity: selectivity))
    }
}
