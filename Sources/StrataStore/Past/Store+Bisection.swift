import StrataLog
import StrataModel
import StrataQuery
import StrataRules
import StrataTree
import StrataViews

/// Access to names, predicates and records of any time, for searching through the past.
extension Store {
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
                trees, touched: [], names, database: place.ordinal, type: type, zone: zone,
                rules: QueryRules(dialect: .extended), now: now)
        }
    }

    /// Returns the encoded state that a version of a record made; nil if it is no longer known.
    package func historicState(of record: RecordKey, at version: Version) throws -> [UInt8]? {
        let snapshot = snapshot()
        return try snapshot.reading { try snapshot.context.history.stateIfKept(of: record, at: version, $0) }
    }

    /// Returns the encoded state of a record, in any zone, as of a commit; nil if it did not exist. A record that was
    /// erased since has only its header.
    package func historicState(of record: RecordKey, asOf offset: UInt64) throws -> [UInt8]? {
        let snapshot = snapshot()
        return try snapshot.reading { trees in
            let history = snapshot.context.history
            guard let state = try history.state(of: record, asOf: offset, trees) else {
                guard offset > 0, try history.isErased(record, after: offset) else { return nil }
                let past = try asOf(offset)
                defer { try? past.close() }
                return try past.snapshot().trees.withRecord(record) { [UInt8]($0) }
            }
            let last = min(offset, try lastDeletion(ofZone: record.zone) ?? offset)
            let first = max(state.version.offset, history.floor)
            return try history.isZoneDeleted(record.zone, after: first, through: last) ? nil : state.bytes
        }
    }

    /// Returns the offset after which a zone was not deleted, because its current life began there; nil if the zone
    /// does not exist.
    package func lastDeletion(ofZone zone: UInt64) throws -> UInt64? {
        let trees = snapshot().trees
        guard let database = try trees.databaseOrdinal(ofZone: zone), let row = try trees.zoneRow(database, zone),
            row.status == .alive
        else { return nil }
        return row.incarnation.offset
    }

    /// Returns a record as of one of its versions, in any zone; nil if that is no longer known.
    package func historicRecord(_ record: RecordKey, at version: Version) throws -> Record? {
        let snapshot = snapshot()
        return try snapshot.reading { trees in
            let history = snapshot.context.history
            guard let bytes = try history.stateIfKept(of: record, at: version, trees) else { return nil }
            return try Record(record.name, bytes, try snapshot.origin(ofZone: record.zone, in: trees))
        }
    }

    /// Returns the ID and the database of a record.
    package func historicPlace(of record: RecordKey) throws -> (id: RecordID, database: DatabaseID) {
        let snapshot = snapshot()
        return try snapshot.reading { trees in
            let origin = try snapshot.origin(ofZone: record.zone, in: trees)
            return (RecordID(record.name, zone: origin.zone), origin.database)
        }
    }
}
