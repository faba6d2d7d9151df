import StrataModel
import StrataRules
import StrataTree
import StrataViews

/// Finds the places that requests and command lines name.
extension Snapshot {
    /// Returns the ordinal of a database whose owner is named; nil if it was never written to.
    func ordinal(ofDatabase database: DatabaseID) throws -> UInt64? {
        let owner = database.owner.isEmpty ? 0 : try ordinal(of: .user(database.owner))
        return try owner.flatMap { try ordinal(of: .database(database.scope, owner: $0)) }
    }

    /// Returns the ordinals of a zone and its database, which for the shared database are those of the zone's owner.
    /// Nil for a zone that was never written to, or in which nothing was shared with the actor.
    func place(of zone: ZoneID, in database: DatabaseID, as actor: Actor) throws -> (database: UInt64, zone: UInt64)? {
        if database.scope == .shared { return try sharedZone(zone, with: actor).map { ($0.database, $0.zone) } }
        guard let place = try ordinal(ofDatabase: database) else { return nil }
        let owner = database.owner.isEmpty ? 0 : try ordinal(of: .user(database.owner)) ?? 0
        return try ordinal(of: .zone(database: place, owner: owner, zone.name)).map { (place, $0) }
    }

    /// Returns a zone of the shared database; nil if nothing in it was shared with the actor.
    func sharedZone(_ id: ZoneID, with actor: Actor) throws -> SharedZone? {
        do {
            return try SharedZone(
                id, of: ordinal(of: .user(actor.user)) ?? 0, recordName: recordName(of: actor.user, secret: secret()),
                in: self,
                ordinal: { try ordinal(of: $0) })
        } catch is Refusal { return nil }
    }
}

extension DatabaseID {
    /// Returns the database with its owner named, who is the user unless another one is.
    package func named(for user: String) -> DatabaseID {
        if scope == .public { return DatabaseID(.public) }
        return owner.isEmpty ? DatabaseID(scope, owner: user) : self
    }
}
