import StrataModel
import StrataViews

/// An action on a record.
package enum Action: Sendable {
    case read, create, change, delete

    /// The permission that a grant must have.
    package var permission: SchemaGrant.Permissions {
        switch self {
        case .read: .read
        case .create: .create
        case .change, .delete: .write
        }
    }
}

/// The right of a member to a record in the shared database.
package struct ShareRight: Sendable, Hashable {
    package let permission: SharePermission
    /// True for the root of a hierarchical share, which only the owner deletes (B370).
    package let isRoot: Bool
    /// True for the record of a share: a member deletes it to leave (B376).
    package let isShare: Bool
    /// True for the record of a share that the member administers, whatever the member's permission is (B333).
    package let isAdministered: Bool

    package init(
        _ permission: SharePermission, isRoot: Bool = false, isShare: Bool = false, isAdministered: Bool = false
    ) {
        (self.permission, self.isRoot) = (permission, isRoot)
        (self.isShare, self.isAdministered) = (isShare, isAdministered)
    }

    func allows(_ action: Action) -> Bool {
        switch action {
        case .read: permission != .none
        case .create: permission == .readWrite
        case .change: permission == .readWrite || isAdministered
        case .delete: isShare || permission == .readWrite && !isRoot
        }
    }
}

/// The user for whom an authorization is decided.
package struct Principal: Sendable, Hashable {
    /// The ordinal of the user; 0 if no commit has named the user.
    package let user: UInt64
    /// False for a user without an available account, too (B221).
    package let isSignedIn: Bool
    /// The custom roles of which the user is a member.
    package let roles: [String]

    /// A user who is not signed in.
    package static let anonymous = Principal(user: 0, isSignedIn: false, roles: [])

    private init(user: UInt64, isSignedIn: Bool, roles: [String]) {
        (self.user, self.isSignedIn, self.roles) = (user, isSignedIn, roles)
    }

    /// Creates the principal of a user who has an account.
    package init(user: UInt64, _ account: Account) {
        self =
            account.status == .available ? Self(user: user, isSignedIn: true, roles: account.person.roles) : .anonymous
    }
}

/// The records of a type that a principal may read in the public database.
package enum ReadableRecords: Sendable, Hashable {
    case all
    /// The records that a user created; none yet for ordinal 0.
    case own(UInt64)
    case none

    package func includes(createdBy creator: UInt64) -> Bool {
        switch self {
        case .all: true
        case .own(let user): user != 0 && creator == user
        case .none: false
        }
    }

    /// - Throws: ``Refusal`` if no record of the type may be read (B395).
    package func requireAny(of type: String) throws {
        guard case .none = self else { return }
        throw Refusal(
            .permissionFailure,
            "READ operation not permitted: the schema does not let you read records of type \(type).",
            rule: .readGrants)
    }
}

extension Principal {
    /// Returns true if the principal may perform an action (docs/rules.md §5.5). Every authorization uses this method.
    ///
    /// - Parameters:
    ///   - creator: the ordinal of the stored record's creator; nil for a new record.
    ///   - isUserRecord: true if the record has the type `Users`.
    ///   - grants: the grants of the record's type, which apply in the public database.
    ///   - right: the user's right in the shared database; nil for a record that is not shared with the user.
    package func may(
        _ action: Action, creator: UInt64?, isUserRecord: Bool, grants: @autoclosure () throws -> [SchemaGrant],
        in scope: InternedName.Scope, right: ShareRight? = nil
    ) rethrows -> Bool {
        if scope == .shared { return right?.allows(action) ?? false }
        if isUserRecord {
            switch action {
            case .read: return scope != .public || isSignedIn
            case .delete: return false
            case .create, .change: return creator == nil || creator == user
            }
        }
        guard scope == .public else { return true }
        return try decisiveGrant(action, creator: creator, grants: grants()) != nil
    }

    /// Returns the first grant that permits an action on a record of the public database; nil if none does.
    package func decisiveGrant(_ action: Action, creator: UInt64?, grants: [SchemaGrant]) -> SchemaGrant? {
        guard action == .read || isSignedIn else { return nil }
        let isCreator = isSignedIn && (creator == nil || user != 0 && creator == user)
        return grants.first { grant in
            guard grant.permissions.contains(action.permission) else { return false }
            switch grant.role {
            case "_world": return true
            case "_icloud": return isSignedIn
            case "_creator": return isCreator
            default: return roles.contains { isSameText($0, grant.role) }
            }
        }
    }

    /// Returns the records of a type that the principal may read in the public database.
    package func readableRecords(isUserType: Bool, grants: [SchemaGrant]) -> ReadableRecords {
        func mayRead(of creator: UInt64?) -> Bool {
            may(.read, creator: creator, isUserRecord: isUserType, grants: grants, in: .public)
        }
        // No user has the largest number as ordinal.
        return mayRead(of: .max) ? .all : mayRead(of: nil) ? .own(user) : .none
    }
}
