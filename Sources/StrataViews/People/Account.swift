import StrataModel
import StrataTree

/// The account of a user, as the service has set it, and what it knows of the person. Most users have the default.
package struct Account: Sendable, Hashable {
    package var status: AccountStatus
    /// The maximum bytes of the user's private database; 0 means no limit.
    package var quota: UInt64
    package var person: Person

    package init(status: AccountStatus = .available, quota: UInt64 = 0, person: Person = Person()) {
        self.status = status
        self.quota = quota
        self.person = person
    }

    package init(_ event: UserChangedEvent) {
        self.init(status: event.status, quota: event.quota, person: event.person)
    }
}

extension TreeReading {
    /// Returns the account of a user, given its ordinal.
    package func account(of user: UInt64) throws -> Account {
        let event: UserChangedEvent? = try event(in: ViewTree.users, key: ViewKeys.numbers(user))
        return event.map { Account($0) } ?? Account()
    }

    /// Returns the users who have a role of the public database, in the order of their ordinals. Reads all accounts.
    package func users(inRole role: String) throws -> [UInt64] {
        var users: [UInt64] = []
        try scan(ViewTree.users, from: nil, to: nil) { _, row in
            let event: UserChangedEvent = try RowLayout.event(in: row)
            if event.person.roles.contains(where: { isSameText($0, role) }) { users.append(event.user) }
            return true
        }
        return users
    }

    /// Returns the ordinal of the user with an address; nil if no user has it.
    package func user(at address: UserAddress) throws -> UInt64? {
        try get(ViewTree.addresses, key: ViewKeys.address(address)) { row in
            var reader = ByteReader(row)
            return try reader.readVarint("the user of an address")
        }
    }

    /// Returns the bytes that the living zones of a database count for its user's quota, given the database's ordinal.
    package func usedBytes(of database: UInt64) throws -> UInt64 {
        try zoneRows(of: database).reduce(0) { $0 + ($1.row.status == .alive ? $1.row.usedBytes : 0) }
    }
}
