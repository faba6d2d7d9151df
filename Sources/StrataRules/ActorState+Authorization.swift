import StrataModel

/// An action on a record.
enum Action {
    case create, change, delete
}

extension ActorState {
    /// Returns true if the actor may perform an action (docs/rules.md §5.5). Every authorization uses this method.
    ///
    /// - Parameters:
    ///   - creator: the ordinal of the stored record's creator; nil for a new record.
    ///   - isUserRecord: true if the record has the type `Users`.
    ///   - grants: the grants of the record's type, which apply in the public database.
    func may(
        _ action: Action, creator: UInt64?, isUserRecord: Bool, grants: @autoclosure () throws -> [SchemaGrant],
        in scope: InternedName.Scope
    ) rethrows -> Bool {
        let isCreator = creator == nil || creator == user
        if isUserRecord { return action != .delete && isCreator }
        guard scope == .public else { return true }
        let wanted = action == .create ? SchemaGrant.Permissions.create : .write
        return try grants().contains { grant in
            guard grant.permissions.contains(wanted) else { return false }
            // A container's own role has no members, because the store does not record them.
            switch grant.role {
            case "_world", "_icloud": return true
            case "_creator": return isCreator
            default: return false
            }
        }
    }
}
