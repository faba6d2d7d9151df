import StrataModel
import StrataRules
import StrataTree
import StrataViews

/// Looks up a database and its zones in the names and trees of a state.
extension ResolvedDatabase {
    init(_ database: DatabaseID, as actor: Actor, _ names: Directory, in trees: Snapshot) throws {
        let database = try Self.database(database, as: actor, recordName: names.recordName(of: actor.user, in: trees))
        let owner = database.owner
        let user = owner.isEmpty ? 0 : try names.ordinal(of: .user(owner), in: trees) ?? 0
        let isKnown = owner.isEmpty || user != 0
        let ordinal = isKnown ? try names.ordinal(of: .database(database.scope, owner: user), in: trees) ?? 0 : 0
        self.init(
            database: database, ordinal: ordinal,
            lookup: ZoneLookup(scope: database.scope, database: ordinal, owner: user),
            recordName: try names.recordName(of: owner.isEmpty ? actor.user : owner, in: trees))
    }

    /// Returns the zone's ordinal, nil for a default zone that was never written to; or the reason why there is none.
    func zone(_ id: ZoneID, _ trees: Snapshot, _ names: Directory) throws -> (ordinal: UInt64?, refusal: Refusal?) {
        if database.scope == .shared {
            do { return (try sharedZone(id, trees, names).zone.zone, nil) } catch let refusal as Refusal {
                return (nil, refusal)
            }
        }
        let (ordinal, refusal) = try lookup.zone(
            id, isOwn: ZoneLookup.isOwner(id.owner, recordName: recordName),
            ordinal: { try names.ordinal(of: $0, in: trees) }, status: { try trees.zoneStatus(self.ordinal, $0) })
        return (ordinal == 0 ? nil : ordinal, refusal)
    }

    /// Returns a zone of the shared database.
    ///
    /// - Throws: ``Refusal`` if nothing in the zone is shared with the user.
    func sharedZone(_ id: ZoneID, _ trees: Snapshot, _ names: Directory) throws -> MemberZone {
        try names.zone(id, of: lookup.owner, in: trees) {
            let zone = try SharedZone(
                id, of: lookup.owner, recordName: recordName, in: trees,
                ordinal: { try names.ordinal(of: $0, in: trees) })
            let shareType = try names.ordinal(of: .recordType(ShareState.recordType), in: trees)
            return try MemberZone(id, zone, shareType: shareType, in: trees)
        }
    }

    /// Returns the ordinal of the database that has a zone: in the shared database, that of the zone's owner.
    func databaseOrdinal(ofZone zone: UInt64, _ trees: Snapshot, _ names: Directory) throws -> UInt64 {
        database.scope == .shared ? try names.resolver(in: trees).databaseOrdinal(ofZone: zone) ?? 0 : ordinal
    }

    /// Returns a zone that exists now.
    ///
    /// - Throws: ``Refusal`` if it does not exist.
    func existingZone(_ id: ZoneID, _ trees: Snapshot, _ names: Directory) throws -> (ordinal: UInt64, row: ZoneRow) {
        let (ordinal, refusal) = try zone(id, trees, names)
        guard let ordinal, let row = try trees.zoneRow(databaseOrdinal(ofZone: ordinal, trees, names), ordinal),
            refusal == nil
        else {
            throw refusal ?? .missingZone(id.name)
        }
        return (ordinal, row)
    }
}
