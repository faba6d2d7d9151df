import StrataModel
import StrataViews

extension StoreSnapshot {
    /// Calls `body` with each record that differs from a state of another store, database by database and zone by zone,
    /// until it returns false. Zones, types, keys and users are the same if their names are. The time, the user and the
    /// change tag of a save make no difference.
    ///
    /// Both states are read completely. ``Past/forEachChange(from:to:_:)`` costs less for states of one store.
    ///
    /// ```swift
    /// try copy.snapshot().forEachDifference(fromOther: original.snapshot()) { difference in
    ///     print(difference.kind, difference.id.name)
    ///     return true
    /// }
    /// ```
    public func forEachDifference(
        fromOther old: StoreSnapshot, _ body: (RecordDifference) throws -> Bool
    ) throws {
        let places = try places(since: old)
        try forEachDifference(since: old, in: places.all, newOrdinals: places.newOrdinals, body)
    }

    /// Like ``forEachDifference(fromOther:_:)``, for an earlier state of the same store: zones come in the order of
    /// their ordinals, and records differ if their change tags do.
    func forEachDifference(sinceEarlier old: StoreSnapshot, _ body: (RecordDifference) throws -> Bool) throws {
        let zones = try places(since: old).all.sorted {
            ($0.ordinals.before ?? $0.ordinals.after ?? 0) < ($1.ordinals.before ?? $1.ordinals.after ?? 0)
        }
        try forEachDifference(since: old, in: zones, newOrdinals: nil, body)
    }

    private func places(since old: StoreSnapshot) throws -> NamedPlaces {
        try gate.requireOpen()
        try old.gate.requireOpen()
        return NamedPlaces(before: try old.livingZones(), after: try livingZones())
    }

    /// - Parameter newOrdinals: nil if both states are of one store.
    private func forEachDifference(
        since old: StoreSnapshot, in zones: [NamedPlaces.Place], newOrdinals: [UInt64: UInt64]?,
        _ body: (RecordDifference) throws -> Bool
    ) throws {
        for (name, zone) in zones {
            let comparison = ZoneComparison(
                before: try zone.before.map { try RecordsInOrder(of: $0, name, old) },
                after: try zone.after.map { try RecordsInOrder(of: $0, name, self) }, name: name,
                newOrdinals: newOrdinals)
            guard try comparison.forEachDifference(body) else { return }
        }
    }

    /// Returns the existing zones in the order of their ordinals.
    private func livingZones() throws -> [(name: ZoneName, ordinal: UInt64)] {
        let count = try trees.nameCount(.zone)
        return try (0..<count).compactMap { index in
            let ordinal = index + 1
            guard let database = try names.resolver(in: trees).databaseOrdinal(ofZone: ordinal),
                try trees.zoneStatus(database, ordinal) == .alive
            else { return nil }
            let name = try zoneName(ordinal, in: trees)
            return (ZoneName(database: name.database, zone: name.zone), ordinal)
        }
    }
}

/// The names of a zone, which are the same in every store.
private struct ZoneName: Hashable {
    var database: DatabaseID
    var zone: ZoneID
}

/// The zones of two states, matched by their names.
private struct NamedPlaces {
    typealias Place = (name: ZoneName, ordinals: (before: UInt64?, after: UInt64?))

    /// The zones of the older state first, in its order.
    let all: [Place]
    /// The zones of the newer state, by those of the older one.
    let newOrdinals: [UInt64: UInt64]

    init(before: [(name: ZoneName, ordinal: UInt64)], after: [(name: ZoneName, ordinal: UInt64)]) {
        let newer = Dictionary(after.map { ($0.name, $0.ordinal) }, uniquingKeysWith: { first, _ in first })
        let older = Set(before.map(\.name))
        all =
            before.map { ($0.name, ($0.ordinal, newer[$0.name])) }
            + after.filter { !older.contains($0.name) }.map { ($0.name, (nil, $0.ordinal)) }
        newOrdinals = Dictionary(
            before.compactMap { zone in newer[zone.name].map { (zone.ordinal, $0) } },
            uniquingKeysWith: { first, _ in first })
    }
}

/// The records of one zone in the order of their keys.
private struct RecordsInOrder {
    private var rows: RecordRows
    private let origin: RecordOrigin

    init(of zone: UInt64, _ name: ZoneName, _ snapshot: StoreSnapshot) throws {
        rows = RecordRows(of: zone, in: snapshot.trees)
        origin = try RecordOrigin(name.database, name.zone, snapshot.trees, snapshot.context, desiredKeys: nil)
    }

    /// Returns the next record; nil after the last.
    mutating func next() throws -> (keyName: [UInt8], record: Record)? {
        guard let (keyName, state) = try rows.next() else { return nil }
        let name = try keyName.withUnsafeBytes { try RecordStateView.name(in: state, keyName: $0) }
        return (keyName, try Record(name, state, origin))
    }
}

/// Two zones of the same name, either of which may be missing.
private struct ZoneComparison {
    let before: RecordsInOrder?
    let after: RecordsInOrder?
    let name: ZoneName
    /// Nil if both zones are of one store.
    let newOrdinals: [UInt64: UInt64]?

    /// Returns false if `body` ended the comparison.
    func forEachDifference(_ body: (RecordDifference) throws -> Bool) throws -> Bool {
        var (before, after) = (before, after)
        var (old, new) = (try before?.next(), try after?.next())
        while old != nil || new != nil {
            let isOldFirst = new.map { new in old?.keyName.lexicographicallyPrecedes(new.keyName) ?? false } ?? true
            let isNewFirst = old.map { old in new?.keyName.lexicographicallyPrecedes(old.keyName) ?? false } ?? true
            let (oldRecord, newRecord) = (isNewFirst ? nil : old?.record, isOldFirst ? nil : new?.record)
            let recordName = oldRecord?.id.name ?? newRecord?.id.name ?? ""
            let difference = RecordDifference(
                RecordID(recordName, zone: name.zone), in: name.database, before: oldRecord, after: newRecord,
                newZones: newOrdinals)
            let isSame =
                try newOrdinals == nil ? oldRecord?.version == newRecord?.version : difference.isSame
            if !isSame, try !body(difference) { return false }
            if !isNewFirst { old = try before?.next() }
            if !isOldFirst { new = try after?.next() }
        }
        return true
    }
}
