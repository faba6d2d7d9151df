import StrataModel
import StrataRules
import StrataTree
import StrataViews

/// A database as an actor reads it.
struct Place: Sendable {
    let database: DatabaseID
    /// 0 if nothing was written to it.
    let ordinal: UInt64
    private let lookup: ZoneLookup
    private let recordName: String

    init(_ database: DatabaseID, _ actor: Actor, _ names: NameDirectory, _ trees: Snapshot) throws {
        self.database = try Self.database(database, as: actor)
        let owner = self.database.owner
        recordName = UserRecord.name(of: owner.isEmpty ? actor.user : owner)
        let user = owner.isEmpty ? 0 : try names.ordinal(of: .user(owner), in: trees) ?? 0
        let isKnown = owner.isEmpty || user != 0
        ordinal = isKnown ? try names.ordinal(of: .database(database.scope, owner: user), in: trees) ?? 0 : 0
        lookup = ZoneLookup(scope: database.scope, database: ordinal, owner: user)
    }

    /// Returns the database with the name of its owner, which is empty for the public database.
    ///
    /// - Throws: ``Refusal`` if the actor cannot read it.
    static func database(_ database: DatabaseID, as actor: Actor) throws -> DatabaseID {
        guard database.scope == .public || !actor.user.isEmpty else {
            throw Refusal(.notAuthenticated, "Nobody is signed in on this device.", rule: .signedIn)
        }
        let isOwn = ZoneLookup.isOwn(database, of: actor.user, recordName: UserRecord.name(of: actor.user))
        let owner = database.scope == .public ? "" : isOwn ? actor.user : database.owner
        guard database.scope == .public || isOwn || actor == .service else {
            throw Refusal(.permissionFailure, "The database of another user cannot be read.")
        }
        return DatabaseID(database.scope, owner: owner)
    }

    /// Returns the zone's ordinal, nil for a default zone that was never written to; or the reason why there is none.
    func zone(_ id: ZoneID, _ trees: Snapshot, _ names: NameDirectory) throws -> (ordinal: UInt64?, refusal: Refusal?) {
        let (ordinal, refusal) = try lookup.zone(
            id, isOwn: ZoneLookup.isOwner(id.owner, recordName: recordName),
            ordinal: { try names.ordinal(of: $0, in: trees) }, status: { try trees.zoneStatus(self.ordinal, $0) })
        return (ordinal == 0 ? nil : ordinal, refusal)
    }

    /// Returns a zone that exists now.
    ///
    /// - Throws: ``Refusal`` if it does not exist.
    func zoneToFollow(_ id: ZoneID, _ trees: Snapshot, _ names: NameDirectory) throws -> (ordinal: UInt64, row: ZoneRow)
    {
        let (ordinal, refusal) = try zone(id, trees, names)
        guard let ordinal, let row = try trees.zoneRow(self.ordinal, ordinal), refusal == nil else {
            throw refusal ?? .missingZone(id.name)
        }
        return (ordinal, row)
    }
}
