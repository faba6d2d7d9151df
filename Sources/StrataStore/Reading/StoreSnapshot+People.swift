import StrataModel
import StrataViews

extension StoreSnapshot {
    /// Returns what is known of a user; nil for a user who neither wrote anything nor was declared.
    package func person(of user: String) throws -> Person? {
        try reading { trees in
            try trees.ordinal(of: .user(user)).map { try trees.account(of: $0).person }
        }
    }

    /// Returns the name that a commit recorded for a user's own record; nil if none did.
    package func recordedName(of user: String) throws -> String? {
        try reading { trees in
            try trees.ordinal(of: .user(user)).flatMap { try trees.recordedName(ofUser: $0) }
        }
    }

    /// Returns the name of a user's own record (docs/rules.md §1).
    package func recordName(of user: String) throws -> String {
        try reading { try names.recordName(of: user, in: $0) }
    }

    /// Returns the name of the user with an address, and what is known of the user; nil if no user has it. Only the
    /// address is looked up, whatever the number of users.
    package func user(at address: UserAddress) throws -> (name: String, person: Person)? {
        try reading { trees in
            guard let ordinal = try trees.user(at: address) else { return nil }
            return (try names.user(ordinal, in: trees), try trees.account(of: ordinal).person)
        }
    }
}
