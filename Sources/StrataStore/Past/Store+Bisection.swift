import StrataLog
import StrataModel
import StrataQuery
import StrataRules
import StrataTree
import StrataViews

/// What searching through the past takes: names, predicates and records, whatever is there now.
extension Store {
    /// What a predicate needs to be asked of records as they were at any time. Names and declarations only grow, so
    /// that those of the newest state will do; and the zone may be gone, unlike that of a query.
    ///
    /// - Throws: ``Refusal`` for a database, a zone or a type that there never was.
    package func historicScene(of query: Query, in database: DatabaseID, as actor: Actor) throws -> QueryScene {
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
            return try QueryScene(
                trees, touched: [], names, database: place.ordinal, type: type, zone: zone,
                rules: QueryRules(dialect: .extended), now: now)
        }
    }

    /// The encoded state that a version of a record made; nil if it is not known any more.
    package func historicState(of record: RecordKey, at version: Version) throws -> [UInt8]? {
        let snapshot = snapshot()
        return try snapshot.reading { try snapshot.context.history.stateIfKept(of: record, at: version, $0) }
    }

    /// A record as one of its versions was, wherever it is; nil if that is not known any more.
    package func historicRecord(_ record: RecordKey, at version: Version) throws -> Record? {
        let snapshot = snapshot()
        return try snapshot.reading { trees in
            let history = snapshot.context.history
            guard let bytes = try history.stateIfKept(of: record, at: version, trees) else { return nil }
            return try Record(record.name, bytes, try snapshot.origin(ofZone: record.zone, trees))
        }
    }

    /// Where a record is, by names.
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
