import StrataModel
import StrataTree

/// The account of a user, as the service has set it. Most users have the default.
package struct Account: Sendable, Hashable {
    package var status: AccountStatus
    /// The maximum bytes of the user's private database; 0 means no limit.
    package var quota: UInt64

    package init(status: AccountStatus = .available, quota: UInt64 = 0) {
        self.status = status
        self.quota = quota
    }
}

extension TreeReading {
    /// Returns the account of a user, given its ordinal.
    package func account(of user: UInt64) throws -> Account {
        try ViewKeys.numbers(user).withUnsafeBytes { key in
            try get(ViewTree.users, key) { row in
                var reader = ByteReader(row, at: RowLayout.body)
                let event = try UserChangedEvent(from: &reader)
                return Account(status: event.status, quota: event.quota)
            }
        } ?? Account()
    }

    /// Returns the bytes that the living zones of a database count for its user's quota, given the database's ordinal.
    package func usedBytes(of database: UInt64) throws -> UInt64 {
        try zoneRows(of: database).reduce(0) { $0 + ($1.row.status == .alive ? $1.row.usedBytes : 0) }
    }
}
