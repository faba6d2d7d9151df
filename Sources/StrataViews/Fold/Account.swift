import StrataModel
import StrataTree

/// What the service says of a user; of nearly all, that there is nothing to say.
public struct Account: Sendable, Hashable {
    public var status: AccountStatus
    /// Bytes that the user's private database may have; 0 is no limit.
    public var quota: UInt64

    public init(status: AccountStatus = .available, quota: UInt64 = 0) {
        self.status = status
        self.quota = quota
    }
}

extension TreeReading {
    /// The account of a user, an ordinal.
    public func account(of user: UInt64) throws -> Account {
        try ViewKeys.numbers(user).withUnsafeBytes { key in
            try get(ViewTree.users, key) { row in
                var reader = ByteReader(row, at: RowLayout.body)
                let event = try UserChangedEvent(from: &reader)
                return Account(status: event.status, quota: event.quota)
            }
        } ?? Account()
    }

    /// What the living zones of a database, an ordinal, count together for its user's quota.
    public func usedBytes(of database: UInt64) throws -> UInt64 {
        try zoneRows(of: database).reduce(0) { $0 + ($1.row.status == .alive ? $1.row.usedBytes : 0) }
    }
}
