import StrataModel
import StrataTree
import StrataViews

/// Executes a plan: finds the first matches after a place, in order.
final class QueryExecutor {
    let scene: QueryContext
    let plan: QueryPlan
    /// The place after which matches are returned.
    private let after: SortPlace?
    private let afterBytes: [UInt8]
    private let limit: Int
    private let encoder: SortEncoder
    private let judge: RecordJudge
    private let source: KeySource
    // Unchecked: one thread reads, none of whose calls comes back while one of these changes.
    @exclusivity(unchecked) private var recordsRead = 0
    @exclusivity(unchecked) private var matches: [QueryMatch] = []
    @exclusivity(unchecked) private var batches = StateBatches()
    private let budget: ExpressionBudget
    private let isCancelled: @Sendable () -> Bool
    /// True if some records are found by name instead of by index rows.
    private let hasNamedRecords: Bool
    /// True if the actor sees only some of a zone's records.
    private let hidesRecords: Bool

    /// The result of a query.
    struct Outcome {
        var matches: [QueryMatch]
        /// The place after which the next page begins; nil if there are no more matches.
        var next: SortPlace?
        var actual: QueryPlan.Actual
    }

    init(
        _ scene: QueryContext, _ plan: QueryPlan, after: SortPlace?, limit: Int,
        isCancelled: @escaping @Sendable () -> Bool
    ) throws {
        self.scene = scene
        self.plan = plan
        self.after = try after?.packed(plan.order.ties)
        afterBytes = self.after?.bytes(plan.order) ?? []
        self.limit = limit
        self.isCancelled = isCancelled
        budget = ExpressionBudget(isCancelled: isCancelled)
        encoder = try SortEncoder(plan.order, scene)
        hasNamedRecords = Self.hasNamedRecords(plan.source)
        hidesRecords = scene.visible.map { !$0.isWholeZone } ?? false
        judge = try RecordJudge(plan.residual, scene, budget, onlyVisible: true)
        source = KeySource(scene, plan.zones, isCancelled: isCancelled)
    }

    func run() throws -> Outcome {
        switch (plan.source, plan.sorting) {
        case (.nothing, _): break
        case (.zones(let zones), _): try runZones(zones)
        case (.nearest(let id, let circle), _): try runNearest(id, circle)
        case (.index(let match, let isReversed), .none), (.index(let match, let isReversed), .groups):
            if isReversed { try runBackwards(match) } else { try runForwards(match) }
        case (let source, .keys): try runKeys(source)
        case (let source, _): try runSorted(source)
        }
        let actual = QueryPlan.Actual(
            rowsRead: source.rowsRead, recordsRead: recordsRead, matches: min(limit, matches.count))
        guard matches.count > limit else { return Outcome(matches: matches, next: nil, actual: actual) }
        matches.removeLast(matches.count - limit)
        let next = try matches.last.map { last in
            try last.record.withName { key in
                try last.record.withState { try encoder.place(key, RecordStateView($0, in: 0..<$0.count)) }
            }
        }
        return Outcome(matches: matches, next: next, actual: actual)
    }

    private var isFull: Bool { matches.count > limit }

    // MARK: Records

    /// The keys of records that will be read together.
    @exclusivity(unchecked) private var waiting = KeyList()

    /// The maximum number of waiting records, so that no more are read than may be needed. Where most are hidden, few
    /// are read anyway.
    private var room: Int {
        if hidesRecords, !hasNamedRecords { return Snapshot.keysTogether }
        return min(Snapshot.keysTogether, max(1, limit + 1 - matches.count))
    }

    /// Reads the waiting records, and appends those that match, in order; returns false once there are enough.
    ///
    /// - Parameter onlyBehind: true if records up to the place after which matches are wanted may be among them.
    private func appendWaiting(onlyBehind: Bool = false) throws -> Bool {
        try readWaiting(needsPlace: onlyBehind) { place, key, state in
            if onlyBehind, !isBehind(place) { return true }
            return append(try QueryMatch(place: place, key, state, in: &batches))
        }
    }

    /// Reads the waiting records, and calls `body` with place, key and state of those that match, in order; returns
    /// false once `body` has.
    private func readWaiting(
        needsPlace: Bool, _ body: ([UInt8], UnsafeRawBufferPointer, UnsafeRawBufferPointer) throws -> Bool
    ) throws -> Bool {
        var keys = KeyList()
        swap(&keys, &waiting)
        // What the actor does not see is not even read.
        if hidesRecords, let visible = scene.visible { keys = try visible.visible(of: keys, in: scene.trees) }
        let goesOn = try scene.trees.getEach(ViewTree.records, keys, in: keys.indices) { index, state in
            try keys.withKey(index) { key in
                guard let state = try matching(key, state) else { return true }
                let place = needsPlace ? try encoder.bytes(key, RecordStateView(state, in: 0..<state.count)) : []
                return try body(place, key, state)
            }
        }
        keys.removeAll()
        swap(&keys, &waiting)
        if isCancelled() { throw QueryError.cancelled }
        return goesOn
    }

    /// Returns the state of a record if it matches.
    private func matching(
        _ key: UnsafeRawBufferPointer, _ state: UnsafeRawBufferPointer?
    ) throws -> UnsafeRawBufferPointer? {
        recordsRead += 1
        guard let state else {
            // A record that is looked up by name may be missing; an index row always belongs to a record.
            if hasNamedRecords { return nil }
            throw StrataError(.malformed, "An index has a row of a record that does not exist.")
        }
        let view = try RecordStateView(state, in: 0..<state.count)
        // The rows of an index already belong to its type.
        if hasNamedRecords, try view.type() != scene.type { return nil }
        return try judge.holds(key, view, state) ? state : nil
    }

    private func isBehind(_ place: [UInt8]) -> Bool {
        after == nil || afterBytes.lexicographicallyPrecedes(place)
    }

    /// Appends the next match. Returns false when there are enough.
    private func append(_ match: QueryMatch) -> Bool {
        if !isFull { matches.append(match) }
        return !isFull
    }

    private func append(_ top: TopMatches) -> Bool {
        for match in top.sorted() where !append(match) { return false }
        return true
    }

    /// Reads the records of the first places, which are known to match, now that the places are final.
    private func append(_ top: inout TopPlaces) throws {
        let records = try top.sorted(plan.order.ties)
        try scene.trees.getEach(ViewTree.records, records, in: records.indices) { index, state in
            guard let state else { throw StrataError(.malformed, "A record that was read before does not exist.") }
            return append(
                try records.withKey(index) { try QueryMatch(place: [], $0, state, in: &batches) })
        }
    }

    // MARK: Indexes in order

    private func runForwards(_ match: IndexMatch) throws {
        let first = try after.map { place in
            // The rows of one value, or of no value, are in the order of names.
            if plan.order.keys.isEmpty {
                let value = match.isPoint ? match.ranges[0].lower : [IndexKey.Kind.none.rawValue]
                return try RowPlace(value: value, afterTie: place.tie)
            }
            return try Self.rowStart(place, plan.order)
        }
        for range in match.ranges {
            var lower = RowPlace(value: range.lower)
            if let first {
                if !first.precedes(range.upper) { continue }
                if !first.precedes(range.lower) { lower = first }
            }
            if !(try runRows(of: match.id, in: source.zones, from: lower, to: range.upper)) { return }
        }
    }

    /// Reads rows in order; the records of one value are sorted if the rows do not determine their order.
    private func runRows(
        of id: IndexID, in zones: [UInt64], from lower: RowPlace, to upper: [UInt8]
    ) throws -> Bool {
        var group: (value: [UInt8], top: TopMatches)?
        func readGroup() throws -> Bool {
            guard group != nil else { return try appendWaiting() }
            return try readWaiting(needsPlace: true) { place, key, state in
                if isBehind(place), group?.top.accepts(place) == true {
                    // Later records may take its place, so it shares no memory with others.
                    group?.top.add(try QueryMatch(place: place, key, state))
                }
                return true
            }
        }
        func close() throws -> Bool {
            guard try readGroup() else { return false }
            defer { group = nil }
            return group.map { append($0.top) } ?? true
        }
        let goesOn = try source.forEachRow(of: id, in: zones, from: lower, to: upper) { row in
            let isSorted = plan.sorting == .groups || row.isCut
            if let known = group, !isSorted || !row.valueBytes.elementsEqual(known.value), !(try close()) {
                return false
            }
            if isSorted, group == nil {
                guard try readGroup() else { return false }
                group = ([UInt8](row.valueBytes), TopMatches(limit + 1 - matches.count))
            }
            waiting.append { row.appendRecordKey(to: &$0) }
            if waiting.count < (group == nil ? room : Snapshot.keysTogether) { return true }
            return try readGroup()
        }
        return try goesOn && close()
    }

    /// The place of the first row that comes after a place in the order.
    private static func rowStart(_ place: SortPlace, _ order: QueryOrder) throws -> RowPlace {
        guard let first = place.values.first else { return RowPlace(value: []) }
        let value = try IndexRow.cut(value: first)
        // If more than the value determines the order, the whole group is read again.
        guard order.keys.count == 1, !IndexRow.isCut(value) else { return RowPlace(value: value) }
        return try RowPlace(value: value, afterTie: place.tie)
    }

    /// Reads rows from the highest value down, but the records of one value in the order of their names.
    private func runBackwards(_ match: IndexMatch) throws {
        // After the place's own group, which is read again.
        let last = try after.map { place in
            try place.values.first.map { IndexRange.successor(try IndexRow.cut(value: $0)) } ?? []
        }
        for range in match.ranges.reversed() {
            var upper = range.upper
            if let last {
                if !range.lower.lexicographicallyPrecedes(last) { continue }
                if last.lexicographicallyPrecedes(upper) { upper = last }
            }
            let rows = try MergedRows(source, match.id, in: source.zones, before: upper, downTo: range.lower)
            if !(try runBackwards(match.id, rows)) { return }
        }
    }

    private func runBackwards(_ id: IndexID, _ rows: MergedRows) throws -> Bool {
        /// The last row that was read; other rows of its value may follow.
        var pending: (value: [UInt8], record: [UInt8], zone: UInt64)?
        while true {
            let row = try rows.withRow { (value: [UInt8]($0.valueBytes), record: $0.recordKey, zone: $0.zone) }
            if let known = pending, row?.value == known.value {
                // Several records share the value: their group is read from its first row.
                let zones = Set(rows.zones(withValue: known.value)).union([known.zone]).sorted()
                guard try readSingles(), try runGroup(known.value, of: id, in: zones) else { return false }
                pending = nil
                try rows.stepBack(beforeValue: known.value)
                continue
            }
            if let known = pending, !(try emitSingle(known.record)) { return false }
            guard let row else { return try readSingles() }
            pending = row
            try rows.step()
        }
    }

    private func emitSingle(_ record: [UInt8]) throws -> Bool {
        waiting.append(record)
        return waiting.count < room ? true : try readSingles()
    }

    /// Reads the waiting records, each of which is the only one of its value.
    private func readSingles() throws -> Bool {
        try appendWaiting(onlyBehind: after != nil)
    }

    /// Reads all rows of one value.
    private func runGroup(_ value: [UInt8], of id: IndexID, in zones: [UInt64]) throws -> Bool {
        var lower = RowPlace(value: value)
        // Skips the rows of the place's own value up to the place.
        if plan.sorting != .groups, let after, after.values.first == value, !IndexRow.isCut(value) {
            lower = try RowPlace(value: value, afterTie: after.tie)
        }
        return try runRows(of: id, in: zones, from: lower, to: IndexRange.successor(value))
    }

    // MARK: Everything else

    /// Sorts the keys of all candidates, and reads records until there are enough matches.
    private func runKeys(_ keys: QueryPlan.Source) throws {
        var ties: [[UInt8]] = []
        let order = plan.order.ties
        try source.forEachKey(keys) { key in
            let tie = try key.withUnsafeBytes { try SortEncoder.tie($0, order) }
            if isBehind(tie) { ties.append(tie) }
            return true
        }
        ties.sort { $0.lexicographicallyPrecedes($1) }
        var last: [UInt8]?
        for tie in ties where tie != last {
            last = tie
            waiting.append(try tie.withUnsafeBytes { try SortEncoder.record(ofTie: $0, order) })
            if waiting.count >= room, !(try appendWaiting()) { return }
        }
        _ = try appendWaiting()
    }

    private func runSorted(_ keys: QueryPlan.Source) throws {
        var top = TopPlaces(limit + 1)
        var seen: Set<[UInt8]> = []
        let mayRepeat = Self.mayRepeat(keys)
        var gathered = KeyList()
        func read() throws {
            defer { gathered.removeAll() }
            let part = try sweep(isInOrder: false).read(gathered)
            recordsRead += part.recordsRead
            top.add(part.top)
        }
        try source.forEachKey(keys) { key in
            if mayRepeat, !seen.insert(key).inserted { return true }
            gathered.append(key)
            if gathered.count == RecordSweep.keysGathered { try read() }
            return true
        }
        try read()
        try append(&top)
    }

    private func sweep(isInOrder: Bool) -> RecordSweep {
        RecordSweep(
            task: RecordWorker.Task(
                scene: scene, residual: plan.residual, order: plan.order, after: afterBytes,
                count: limit + 1 - matches.count, isInOrder: isInOrder, hasNamedRecords: hasNamedRecords,
                budget: budget, isCancelled: isCancelled))
    }

    private static func hasNamedRecords(_ source: QueryPlan.Source) -> Bool {
        switch source {
        case .records: true
        case .union(let sources): sources.contains(where: hasNamedRecords)
        case .intersection(let small, let large): hasNamedRecords(small) && hasNamedRecords(large)
        case .nothing, .index, .nearest, .zones: false
        }
    }

    private static func mayRepeat(_ source: QueryPlan.Source) -> Bool {
        switch source {
        case .nothing, .records, .zones, .nearest: false
        case .index(let match, _): match.mayRepeat
        case .union: true
        case .intersection(_, let large): mayRepeat(large)
        }
    }

    private func runZones(_ zones: [UInt64]) throws {
        let isInOrder = plan.sorting == .none
        var ranges: [(lower: [UInt8], upper: [UInt8])] = []
        for zone in zones.sorted() {
            var start = KeyWriter()
            start.append(number: zone)
            let upper = IndexRange.successor(start.bytes)
            var lower = start.bytes
            if isInOrder, let after {
                let key = try after.tie.withUnsafeBytes { try SortEncoder.record(ofTie: $0, plan.order.ties) }
                if lower.lexicographicallyPrecedes(key) { lower = key + [0] }
            }
            if lower.lexicographicallyPrecedes(upper) { ranges.append((lower, upper)) }
        }
        var part = try sweep(isInOrder: isInOrder).scan(ranges, about: plan.estimatedRecords)
        recordsRead += part.recordsRead
        if isInOrder {
            for match in part.matches where !append(match) { return }
        } else {
            try append(&part.top)
        }
    }

    private func runNearest(_ id: IndexID, _ circle: GeoCircle) throws {
        var search = try NearestSearch(scene, in: source.zones, id, circle, after: after)
        while let found = try search.next(source) {
            waiting.append(found)
            if waiting.count >= room, !(try appendWaiting(onlyBehind: true)) { return }
        }
        _ = try appendWaiting(onlyBehind: true)
    }
}
