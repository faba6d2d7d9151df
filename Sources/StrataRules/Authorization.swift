import StrataModel

/// What somebody wants to do with a record.
enum Action {
    case create, change, delete
}

extension Rules {
    /// Whether an actor may do something (docs/rules.md §5.5): the one place that says so.
    ///
    /// - Parameters:
    ///   - creator: ordinal of the stored record's creator; nil for a new one.
    ///   - isUserRecord: whether the record is of the type `Users`.
    ///   - grants: those of its type, which hold in the public database.
    func may(
        _ actor: ActorState, _ action: Action, creator: UInt64?, isUserRecord: Bool,
        grants:
            @autoclosure () throws ->
            [SchemaGrant], in scope: InternedName.Scope
    ) rethrows -> Bool {
        let isCreator = creator == nil || creator == actor.user
        if isUserRecord { return action != .delete && isCreator }
        guard scope == .public else { return true }
        let wanted = action == .create ? SchemaGrant.Permissions.create : .write
        return try grants().contains { grant in
            guard grant.permissions.contains(wanted) else { return false }
            // Nobody is a member of a container's own role: the store does not keep who is.
            switch grant.role {
            case "_world", "_icloud": return true
            case "_creator": return isCreator
            default: return false
            }
        }
    }
}

/// Who asks, as far as the store knows them.
struct ActorState {
    let actor: Actor
    /// Ordinals; 0 if the store has not seen them.
    let user: UInt64
    let device: UInt64
    private let view: RulesView

    /// Of the user's own record.
    var recordName: String { view.recordName(of: actor.user) }

    init(_ actor: Actor, _ view: RulesView) throws {
        self.actor = actor
        self.view = view
        user = actor == .service ? 0 : try view.ordinal(of: .user(actor.user)) ?? 0
        device = user == 0 ? 0 : try view.ordinal(of: .device(user: user, actor.device)) ?? 0
    }
}

extension AccountStatus {
    /// - Throws: ``Refusal`` for a user who can do nothing but read the public database (docs/rules.md §2.1).
    public func requireAvailable() throws {
        switch self {
        case .available: break
        case .couldNotDetermine:
            throw Refusal(.notAuthenticated, "The status of the account could not be determined.", rule: "B221")
        case .restricted: throw Refusal(.notAuthenticated, "The account is restricted.", rule: "B221")
        case .noAccount: throw Refusal(.notAuthenticated, "There is no account on this device.", rule: "B221")
        case .temporarilyUnavailable:
            throw Refusal(
                .accountTemporarilyUnavailable, "The account cannot be used at the moment.", rule: "B221")
        }
    }
}
