import StrataModel
import StrataRules
import StrataTree
import StrataViews

/// A database as an actor reads it.
struct ResolvedDatabase: Sendable {
    let database: DatabaseID
    /// 0 if nothing was written to it.
    let ordinal: UInt64
    let lookup: ZoneLookup
    let recordName: String

    /// Returns the database with the name of its owner, which is empty for the public database.
    ///
    /// - Throws: ``Refusal`` if the actor cannot read it.
    /// - Parameter recordName: the name of the actor's own record.
    static func database(
        _ database: DatabaseID, as actor: Actor, recordName: @autoclosure () throws -> String
    ) throws -> DatabaseID {
        if database.scope != .public { try actor.requireSignedIn() }
        let isOwn = try ZoneLookup.isOwn(database, of: actor.user, recordName: try recordName())
        let owner = database.scope == .public ? "" : isOwn ? actor.user : database.owner
        guard database.scope == .public || isOwn || actor == .service else {
            throw Refusal(.permissionFailure, "The database of another user cannot be read.")
        }
        return DatabaseID(database.scope, owner: owner)
    }
}
