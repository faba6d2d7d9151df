import StrataModel
import StrataRules
import StrataTree
import StrataViews

/// One state of a store, which can be read without locks for as long as it is kept.
///
/// ```swift
/// let snapshot = store.snapshot()
/// let notes = try snapshot.records(ids, in: DatabaseID(.private), as: anna)
/// ```
public struct StoreSnapshot: Sendable {
    package let trees: Snapshot
    let context: SnapshotContext
    var gate: StoreGate
    /// True if a later state is acceptable when a frame of this one is damaged.
    var acceptsNewer = false
    /// The zones that were looked up in this state.
    let zoneTable: ZoneTable
    var names: Directory { context.names }

    /// Reads the trees as ``SnapshotContext/reading(_:acceptsNewer:_:)`` does.
    func reading<Result>(_ body: (Snapshot) throws -> Result) throws -> Result {
        try gate.requireOpen()
        return try context.reading(trees, acceptsNewer: acceptsNewer, body)
    }

    /// The last commit in the state.
    public var offset: UInt64 { trees.foldedOffset(ViewTree.records) }

    /// Returns both digests of the state; the cost grows with the number of zones.
    package func digests() throws -> Digests {
        try reading { try $0.digests() }
    }

    // MARK: Records

    /// - Parameter desiredKeys: nil for all; unknown keys are absent (B111).
    /// - Throws: ``Refusal`` if there is no such record for this actor, or if the actor may not read it (B395).
    public func record(
        _ id: RecordID, in database: DatabaseID, desiredKeys: [String]? = nil, as actor: Actor,
        unreadable: UnreadableRecord = .refused
    ) throws -> Record {
        try reading { trees in
            let reader = try reader(of: id.zone, in: database, as: actor, trees)
            if let refusal = reader.refusal { throw refusal }
            let origin = try desired(desiredKeys, trees).map { reader.origin.desiring($0) } ?? reader.origin
            // The closures capture neither the snapshot nor the ID, whose parts would each be retained.
            let name = id.name
            return try reader.withKey(of: name) { key in
                var record: Record?
                let isFound: Void? = try trees.get(ViewTree.records, key) { state in
                    var access = reader.limitedAccess
                    var batches = StateBatches()
                    record = try Self.readable(name, key, state, origin, &access, unreadable, &batches)
                }
                if let record { return record }
                throw isFound == nil ? reader.access.missingRecord(name) : reader.access.refusal(of: name)
            }
        }
    }

    /// - Throws: ``Refusal`` if the actor can read nothing of the database.
    private func reader(
        of zone: ZoneID, in database: DatabaseID, as actor: Actor, _ trees: Snapshot
    ) throws -> ZoneReader {
        if let known = zoneTable.reader(of: zone, in: database, as: actor, trees) { return known }
        let place = try names.place(database, actor, in: trees)
        let made = try ZoneReader(zone, in: database, as: actor, place, trees, context)
        zoneTable.add(made)
        return made
    }

    func access(_ place: ResolvedDatabase, _ actor: Actor, _ trees: Snapshot) -> RecordAccess {
        RecordAccess(place.database.scope, .actor(actor), context, trees)
    }

    /// Returns a result for each ID, in order (B110, B112).
    ///
    /// - Throws: ``Refusal`` if the actor can read nothing in the database.
    public func records(
        _ ids: [RecordID], in database: DatabaseID, desiredKeys: [String]? = nil, as actor: Actor,
        unreadable: UnreadableRecord = .refused
    ) throws -> [Result<Record, Refusal>] {
        try reading { trees in
            var zones = try RequestedZones(ids, desired(desiredKeys, trees)) {
                try reader(of: $0, in: database, as: actor, trees)
            }
            if ids.isEmpty { _ = try names.place(database, actor, in: trees) }
            var results: [Result<Record, Refusal>] = []
            results.reserveCapacity(ids.count)
            var batches = StateBatches(expecting: ids.count)
            let keys = zones.takeKeys()
            try trees.getEach(ViewTree.records, keys, in: keys.indices) { index, state in
                results.append(
                    try zones.withZone(of: index) { zone in
                        if let refusal = zone.reader.refusal { return .failure(refusal) }
                        let name = ids[index].name
                        guard let state else { return .failure(zone.reader.access.missingRecord(name)) }
                        let record = try keys.withKey(index) { key in
                            try Self.readable(name, key, state, zone.origin, &zone.access, unreadable, &batches)
                        }
                        return record.map { .success($0) } ?? .failure(zone.reader.access.refusal(of: name))
                    })
                return true
            }
            return results
        }
    }

    /// Returns the record with a state; nil if the actor may not read it. Nothing of it is copied before that is known.
    ///
    /// - Parameter access: nil if the actor may read everything.
    private static func readable(
        _ name: String, _ key: UnsafeRawBufferPointer, _ state: UnsafeRawBufferPointer, _ origin: RecordOrigin,
        _ access: inout RecordAccess?, _ unreadable: UnreadableRecord, _ batches: inout StateBatches
    ) throws -> Record? {
        let view = try RecordStateView(state, in: 0..<state.count)
        var name = name
        return try name.withUTF8 { name in
            let name = UnsafeRawBufferPointer(name)
            try view.require(name: name)
            let mayRead = try access?.mayRead(key, view.header()) ?? true
            // A member does not learn that there is such a record (B356).
            guard mayRead || unreadable == .withoutFields && access?.shared == nil else { return nil }
            let record = try Record(batches.append(name: name, state: state), origin)
            return mayRead ? record : record.withoutFields
        }
    }

    /// - Parameter desiredKeys: nil for all.
    func origin(
        _ place: ResolvedDatabase, _ zone: ZoneID, desiredKeys: [String]? = nil, _ trees: Snapshot
    ) throws -> RecordOrigin {
        try RecordOrigin(place.database, zone, trees, context, desiredKeys: desired(desiredKeys, trees))
    }

    /// Returns the ordinals of desired keys; nil for all.
    func desired(_ keys: [String]?, _ trees: Snapshot) throws -> FieldSet? {
        try keys.map { keys in
            FieldSet(try keys.compactMap { try names.ordinal(of: .field($0), in: trees).map { UInt32($0) } })
        }
    }

    /// Returns a past state of a record to an actor who may read it; nil to a member of shares who could not.
    ///
    /// - Throws: ``Refusal`` for other actors (B395).
    func readablePast(
        _ id: RecordID, _ bytes: [UInt8], in place: ResolvedDatabase, as actor: Actor, _ trees: Snapshot,
        unreadable: UnreadableRecord = .refused
    ) throws -> Record? {
        var access = access(place, actor, trees)
        // A zone that has ended keeps its past for its owner.
        _ = try access.zone(id.zone, in: place, trees, names)
        let record = try Record(id.name, bytes, try origin(place, id.zone, trees))
        let key = RecordKey(zone: access.shared?.zone.zone ?? 0, name: id.name).viewKey
        let mayRead = try key.withUnsafeBytes { try access.mayRead($0, record.header) }
        if let shared = access.shared?.zone {
            if mayRead, try wasVisible(record, in: shared, trees) { return record }
            // A save can hide its own record, so its answer has what the member knows anyway.
            return unreadable == .withoutFields && record.header.modifiedBy == shared.member
                ? record.withoutFields : nil
        }
        guard mayRead || unreadable == .withoutFields else { throw access.refusal(of: id.name) }
        return mayRead ? record : record.withoutFields
    }

    /// Returns a record as of one of its versions, rebuilt from the log; nil if there was no such version, or if a
    /// member of shares could not read the record while that version was the newest (B356).
    ///
    /// - Throws: ``StrataError`` `outOfRange` for a version that was removed when the history was compacted; the
    ///   record's last state before that is kept. ``Refusal`` if the actor may not read the record (B395).
    public func record(
        _ id: RecordID, at version: Version, in database: DatabaseID, as actor: Actor,
        unreadable: UnreadableRecord = .refused
    ) throws -> Record? {
        try reading { trees in
            let place = try names.place(database, actor, in: trees)
            guard let zone = try place.zone(id.zone, trees, names).ordinal,
                let bytes = try context.history.state(of: RecordKey(zone: zone, name: id.name), at: version, trees)
            else { return nil }
            return try readablePast(id, bytes, in: place, as: actor, trees, unreadable: unreadable)
        }
    }

    /// Like ``record(_:at:in:as:unreadable:)``, but returns nil for a version that was removed.
    public func recordIfKept(
        _ id: RecordID, at version: Version, in database: DatabaseID, as actor: Actor,
        unreadable: UnreadableRecord = .refused
    ) throws -> Record? {
        do {
            return try record(id, at: version, in: database, as: actor, unreadable: unreadable)
        } catch let error as StrataError where error.code == .outOfRange { return nil }
    }

    // MARK: Zones

    /// Returns the database that has a zone, and whose owner's key seals its encrypted values.
    func home(of zone: ZoneID, in database: DatabaseID, as actor: Actor) throws -> DatabaseID {
        try reading { trees in
            guard database.scope == .shared else {
                return try ResolvedDatabase.database(
                    database, as: actor, recordName: names.recordName(of: actor.user, in: trees))
            }
            let shared = try names.place(database, actor, in: trees).sharedZone(zone, trees, names)
            return DatabaseID(.private, owner: try names.user(shared.zone.owner, in: trees))
        }
    }

    /// Returns all zones of a database, in the order in which they were first created (B37).
    public func zones(in database: DatabaseID, as actor: Actor) throws -> [Zone] {
        try reading { try zones(in: database, actor, $0) }
    }

    private func zones(in database: DatabaseID, _ actor: Actor, _ trees: Snapshot) throws -> [Zone] {
        let place = try names.place(database, actor, in: trees)
        if database.scope == .shared { return try sharedZones(place, trees) }
        var zones: [Zone] = []
        if place.ordinal != 0 {
            for (zone, row) in try trees.zoneRows(of: place.ordinal) where row.status == .alive {
                zones.append(
                    Zone(ZoneID(try names.text(.zone, zone, in: trees)), row, share: try trees.zoneWideShare(of: zone)))
            }
        }
        if !zones.contains(where: { $0.id.isDefault }) {
            zones.insert(.unwrittenDefault, at: 0)
        }
        return zones
    }

    /// Returns the zones that are shared with the owner of a shared database, in the order of their ordinals (B355).
    private func sharedZones(_ place: ResolvedDatabase, _ trees: Snapshot) throws -> [Zone] {
        var zones: [Zone] = []
        for zone in try Set(trees.memberships(of: place.lookup.owner).filter(\.givesAccess).map(\.zone)).sorted() {
            let id = try names.sharedZone(zone, in: trees)
            do { zones.append(try Zone(place.sharedZone(id, trees, names), trees)) } catch is Refusal {}
        }
        return zones
    }

    public func zone(_ id: ZoneID, in database: DatabaseID, as actor: Actor) throws -> Zone {
        try reading { trees in
            let place = try names.place(database, actor, in: trees)
            let (ordinal, refusal) = try place.zone(id, trees, names)
            if let refusal { throw refusal }
            if place.database.scope == .shared { return try Zone(place.sharedZone(id, trees, names), trees) }
            guard let ordinal, let row = try trees.zoneRow(place.ordinal, ordinal) else {
                return .unwrittenDefault
            }
            return Zone(ZoneID(id.name), row, share: try trees.zoneWideShare(of: ordinal))
        }
    }
}
