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
    package func historicScene(of query: Query, in database: DatabaseID, as actor: Actor) throws -> QueryContext {
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

    /// Returns a record as of one of its versions, in any zone; nil if that is no longer known.
    package func historicRecord(_ record: RecordKey, at version: Version) throws -> Record? {
        let snapshot = snapshot()
        return try snapshot.reading { trees in
            let history = snapshot.context.history
            guard let bytes = try history.stateIfKept(of: record, at: version, trees) else { return nil }
            return try Record(record.name, bytes, try snapshot.origin(ofZone: record.zone, trees))
        }
    }

    /// Returns the ID and the database of a record.
    package func historicPlace(of record: RecordKey) throws -> (id: RecordID, database: DatabaseID) {
        let snapshot = snapshot()
        return try snapshot.reading { trees in
            let origin = try snapshot.origin(ofZone: record.zone, trees)
            return (RecordID(record.name, zone: origin.zone), origin.database)
        }
    }
}

extension StoreSnapshot {
    fileprivate func origin(ofZone zone: UInt64, _ trees: Snapshot) throws -> RecordOrigin {
        let (id, name) = try zoneName(zone)
        return RecordOrigin(id, name, trees, context, desiredKeys: nil)
    }
}
