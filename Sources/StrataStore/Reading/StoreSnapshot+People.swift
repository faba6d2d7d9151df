import StrataModel
import StrataViews

extension StoreSnapshot {
    /// Returns what is known of a user; nil for a user who neither wrote anything nor was declared.
    package func person(of user: String) throws -> Person? {
        try reading { trees in
            try names.ordinal(of: .user(user), in: trees).map { try trees.account(of: $0).person }
        }
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
