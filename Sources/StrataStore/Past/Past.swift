import StrataLog
import StrataModel
import StrataQuery
import StrataRules
import StrataTree
import StrataViews

/// The past of a store: the state at an offset, a record at an offset, the changes between two offsets, and the commits
/// that touched something.
///
/// ```swift
/// let then = try store.past.state(at: 1_207)
/// try store.past.forEachChange(from: 1_207, to: store.offset) { print($0.kind, $0.id.name); return true }
/// ```
public struct Past: Sendable {
    let store: Store

    // MARK: A state

    /// Returns the store as of a commit, for reading; later commits are not in it. Any number of such stores can be
    /// open, and none of them disturbs writers.
    ///
    /// - Throws: ``StrataError`` `outOfRange` for an offset past the end, and for one whose history was removed.
    public func state(at offset: UInt64) throws -> Store { try state(at: offset, progress: { _ in }) }

    /// - Parameter progress: called repeatedly while a state far back is folded again.
    package func state(at offset: UInt64, progress: (Replay.Progress) -> Void) throws -> Store {
        try store.gate.requireOpen()
        return Store(try store.engine.past(through: offset, progress: progress), nil, .readOnly)
    }

    /// Like ``state(at:)``, with a state that is not shared: cheaper for a caller that writes much after it.
    ///
    /// - Parameter memoryPages: the number of pages that are kept in memory rather than in an unnamed file; a store in
    ///   memory has no such file.
    package func state(at offset: UInt64, aloneIn memoryPages: Int) throws -> Store {
        try store.gate.requireOpen()
        return Store(try store.engine.pastAlone(through: offset, memoryPages: memoryPages), nil, .readOnly)
    }

    /// Like ``state(at:)``, with the records of some names only, and everything that is not a record: much cheaper, for
    /// a caller that judges a request about these records. Other records are older than the commit, or missing.
    ///
    /// Returns nil if judging a request may need further records: the store has accounts with limits, or shares.
    ///
    /// - Parameter names: the names of the records, in any zone.
    package func state(at offset: UInt64, records names: Set<[UInt8]>) throws -> Store? {
        try store.gate.requireOpen()
        return try store.engine.past(through: offset, records: names).map { Store($0, nil, .readOnly) }
    }

    /// Like ``state(at:)``, with everything as in a newer state except some records: reads these records alone, however
    /// long the log is. For a caller that judges a request on what has not changed since, and on these records.
    ///
    /// Returns nil if the store has accounts with limits or shares, or writes checkpoints.
    ///
    /// - Parameter trees: a state of this store, not before the offset.
    package func state(at offset: UInt64, turningBack records: Set<RecordKey>, in trees: Snapshot) throws -> Store? {
        try store.gate.requireOpen()
        // A checkpoint would contain the pages of the turned-back state.
        guard store.pipeline.checkpointer == nil,
            trees.entryCount(ViewTree.users) == 0, trees.entryCount(ViewTree.shares) == 0
        else { return nil }
        var states: [RecordKey: [UInt8]?] = [:]
        for key in records { states.updateValue(try record(key, at: offset), forKey: key) }
        return Store(try store.engine.past(through: offset, turningBack: trees, to: states), nil, .readOnly)
    }

    // MARK: A record

    /// Returns the encoded state that a version of a record made, in any zone; nil if it is no longer known.
    package func record(_ record: RecordKey, at version: Version) throws -> [UInt8]? {
        let snapshot = store.snapshot()
        return try snapshot.reading { try snapshot.context.history.stateIfKept(of: record, at: version, $0) }
    }

    /// Returns the encoded state of a record as of a commit, in any zone; nil if it did not exist. A record that was
    /// erased since has only its header.
    package func record(_ record: RecordKey, at offset: UInt64) throws -> [UInt8]? {
        let snapshot = store.snapshot()
        return try snapshot.reading { trees in
            let history = snapshot.context.history
            guard let state = try history.state(of: record, asOf: offset, trees) else {
                guard offset > 0, try history.isErased(record, after: offset) else { return nil }
                let past = try state(at: offset)
                defer { try? past.close() }
                return try past.snapshot().trees.withRecord(record) { [UInt8]($0) }
            }
            let isGone = try snapshot.isZoneDeleted(record.zone, after: state.version, through: offset, trees)
            return isGone ? nil : state.bytes
        }
    }

    /// Returns the record that an encoded state describes.
    package func decoded(_ state: [UInt8], of record: RecordKey) throws -> Record {
        let snapshot = store.snapshot()
        return try snapshot.reading { trees in
            try Record(record.name, state, try snapshot.origin(ofZone: record.zone, in: trees))
        }
    }

    /// Returns the ID and the database of a record of any time.
    package func place(of record: RecordKey) throws -> (id: RecordID, database: DatabaseID) {
        let snapshot = store.snapshot()
        return try snapshot.reading { trees in
            let origin = try snapshot.origin(ofZone: record.zone, in: trees)
            return (RecordID(record.name, zone: origin.zone), origin.database)
        }
    }

    // MARK: Commits

    /// Returns the commits that touched zones or records, in order, from the change lists of the log.
    package func touches(
        _ subject: TouchedCommits.Subject, kind: Touch.Kind? = nil, after offset: UInt64, through last: UInt64
    ) -> TouchedCommits {
        TouchedCommits(subject, kind: kind, of: store.log, after: offset, through: last)
    }

    /// Returns the offset after which a zone was not deleted, because its current life began there; nil if the zone
    /// does not exist.
    package func lastDeletion(ofZone zone: UInt64) throws -> UInt64? {
        try store.snapshot().trees.life(ofZone: zone)?.offset
    }
}

extension Snapshot {
    /// Returns the version with which the current life of a zone began; nil if the zone does not exist.
    func life(ofZone zone: UInt64) throws -> Version? {
        guard let database = try databaseOrdinal(ofZone: zone), let row = try zoneRow(database, zone),
            row.status == .alive
        else { return nil }
        return row.incarnation
    }
}

extension Store {
    public var past: Past { Past(store: self) }

    /// Returns the scene for evaluating a predicate on records of any time. Names and declarations are only added, so
    /// those of the newest state suffice. Unlike the zone of a query, the zone may have been deleted.
    ///
    /// - Throws: ``Refusal`` for a database, a zone or a type that never existed.
    package func historicQueryContext(of query: Query, in database: DatabaseID, as actor: Actor) throws -> QueryContext
    {
        let snapshot = snapshot()
        let now = EngineDate.seconds(engine.now)
        return try snapshot.reading { trees in
            let place = try snapshot.names.place(database, actor, in: trees)
            guard let type = try snapshot.names.ordinal(of: .recordType(query.recordType), in: trees) else {
                throw Refusal(.unknownItem, "Did not find record type: \(query.recordType)", rule: .queriedType)
            }
            var zone: UInt64?
            if let id = query.zone {
                let (ordinal, refusal) = try place.zone(id, trees, snapshot.names)
                guard let ordinal else { throw refusal ?? .missingZone(id.name) }
                zone = ordinal
            }
            let names = StoreQueryNames(names: snapshot.names, place: place, actor: actor, trees: trees)
            return try QueryContext(
                trees, names, database: place.ordinal, type: type, zone: zone, rules: QueryRules(dialect: .extended),
                now: now)
        }
    }
}
