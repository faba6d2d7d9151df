import StrataModel
import StrataRules
import StrataStore
import StrataSystem

/// The differences between two states of a store, record by record.
///
/// ```swift
/// let difference = StateDifference(of: store, from: 1_207, to: store.offset)
/// try difference.forEachRecord { change in
///     print(change.kind, change.id.name, try change.fields.map(\.key))
///     return true
/// }
/// ```
/// The cost is that of the commits since the checkpoint before the states. If few records were touched between them,
/// only these are looked at; otherwise both states are folded, side by side, and then compared.
public struct StateDifference {
    private let store: Store
    /// The offset of the state that counts as the one before; it may be the later one.
    public let from: UInt64
    public let to: UInt64
    private let scope: DifferenceScope
    /// Smaller in tests.
    var limits = DifferenceLimits()

    public init(of store: Store, from: UInt64, to: UInt64, in scope: DifferenceScope = DifferenceScope()) {
        (self.store, self.from, self.to, self.scope) = (store, from, to, scope)
    }

    /// Calls `body` with each record that differs between the states, zone by zone, until it returns false.
    ///
    /// - Throws: ``StrataError`` `outOfRange` for an offset after the end, or in compacted history.
    public func forEachRecord(_ body: (RecordDifference) throws -> Bool) throws {
        let (first, last) = (min(from, to), max(from, to))
        func give(_ difference: RecordDifference) throws -> Bool {
            guard try scope.contains(difference) else { return true }
            return try body(from <= to ? difference : difference.reversed)
        }
        let newest = store.snapshot()
        let floor = store.log.floor.offset
        // The commits give the differences, unless they changed so much that two states take less memory.
        if floor <= first, last <= newest.offset,
            try newest.forEachDifference(from: first, to: last, within: limits, give)
        {
            return
        }
        let isToEnd = last == newest.offset
        let parts = try isToEnd ? halves(of: newest).map { Part(first, $0) } : [Part(first), Part(last)]
        let folded = try fold(parts)
        defer { for state in folded { try? state.close() } }
        let newer = isToEnd ? newest : folded[1].snapshot()
        for (state, part) in zip(folded, parts).prefix(isToEnd ? parts.count : 1) {
            let older = state.snapshot()
            guard try newer.forEachDifference(sinceApart: older, ofZones: part.zones, give) else { return }
        }
    }

    // MARK: Folded states

    /// A state, of which the records of some zones are needed.
    private struct Part: Sendable {
        var offset: UInt64
        var zones: ClosedRange<UInt64>

        init(_ offset: UInt64, _ zones: ClosedRange<UInt64> = 0...UInt64.max) {
            (self.offset, self.zones) = (offset, zones)
        }
    }

    /// Folds states at the same time.
    private func fold(_ parts: [Part]) throws -> [Store] {
        let results = Lock([Result<Store, any Error>?](repeating: nil, count: parts.count))
        Processors.perform(parts.count) { [store] index in
            let part = parts[index]
            let result = Result {
                try store.asOf(part.offset, aloneIn: Rerun.memoryPages, zones: part.zones)
            }
            results.withLock { $0[index] = result }
        }
        let all = results.withLock { $0.compactMap(\.self) }
        do { return try all.map { try $0.get() } } catch {
            for state in all { try? state.get().close() }
            throw error
        }
    }

    /// Returns the zones of a state in two parts with about as many records each, or in one if there is one zone.
    private func halves(of state: StoreSnapshot) throws -> [ClosedRange<UInt64>] {
        let zoneCount = try state.trees.nameCount(.zone)
        guard zoneCount > 1, Processors.count > 1 else { return [0...UInt64.max] }
        var sums: [UInt64] = []
        for ordinal in 1...zoneCount {
            let database = try state.trees.databaseOrdinal(ofZone: ordinal)
            let row = try database.flatMap { try state.trees.zoneRow($0, ordinal) }
            // Counts come from a file, which may have any.
            sums.append((sums.last ?? 0) &+ (row?.recordCount ?? 0))
        }
        let half = (sums.last ?? 0) / 2
        func distance(_ sum: UInt64) -> UInt64 { max(sum, half) - min(sum, half) }
        let middle = sums.indices.dropLast().min { distance(sums[$0]) < distance(sums[$1]) } ?? 0
        return [0...UInt64(middle + 1), UInt64(middle + 2)...UInt64.max]
    }
}

/// The records that a comparison of two states covers; all by default.
public struct DifferenceScope: Sendable {
    public var database: DatabaseID?
    /// In any database, unless one is given.
    public var zone: ZoneID?
    public var type: String?

    public init(database: DatabaseID? = nil, zone: ZoneID? = nil, type: String? = nil) {
        (self.database, self.zone, self.type) = (database, zone, type)
    }

    func contains(_ difference: RecordDifference) throws -> Bool {
        if let database, difference.database != database { return false }
        if let zone, difference.id.zone != zone { return false }
        guard let type else { return true }
        return isSameText(try difference.type, type)
    }
}

/// The differences between the current states of two stores, record by record, by names and values.
///
/// ```swift
/// try StoreDifference(from: original, to: copy).forEachRecord { change in
///     print(change.kind, change.id.name)
///     return true
/// }
/// ```
public struct StoreDifference {
    private let from: Store
    private let to: Store
    private let scope: DifferenceScope

    public init(from: Store, to: Store, in scope: DifferenceScope = DifferenceScope()) {
        (self.from, self.to, self.scope) = (from, to, scope)
    }

    /// Calls `body` with each record that differs between the stores, zone by zone, until it returns false.
    public func forEachRecord(_ body: (RecordDifference) throws -> Bool) throws {
        try to.snapshot().forEachDifference(fromOther: from.snapshot()) { difference in
            try scope.contains(difference) ? try body(difference) : true
        }
    }
}
