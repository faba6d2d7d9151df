import StrataModel
import StrataViews

/// Requests of operators, or of a user in Settings (docs/rules.md §3 and §13). They return once they are as durable as
/// the store promises.
///
/// ```swift
/// try store.setAccountStatus(.temporarilyUnavailable, of: "anna")
/// try store.setQuota(bytes: 5_000_000, of: "anna")
/// try store.noteConsole(ConsoleNote("the next answer is lost", user: "anna", device: "phone"))
/// ```
extension Store {
    /// Returns the status of a user's account, and the maximum size in bytes of the user's private database (0: no
    /// limit). Costs nothing if no account was ever set.
    public func account(of user: String) throws -> (status: AccountStatus, quota: UInt64) {
        let newest = newest
        let account = try newest.reading { trees in
            guard !trees.isUnused(ViewTree.users),
                let ordinal = try newest.names.ordinal(of: .user(user), in: trees)
            else { return Account() }
            return try trees.account(of: ordinal)
        }
        return (account.status, account.quota)
    }

    /// Returns the number of bytes of a user's private database that count toward the quota: the sizes of the existing
    /// records, with their files (docs/rules.md §6).
    public func usage(of user: String) throws -> UInt64 {
        let newest = newest
        return try newest.reading { trees in
            guard let owner = try newest.names.ordinal(of: .user(user), in: trees),
                let database = try newest.names.ordinal(of: .database(.private, owner: owner), in: trees)
            else { return 0 }
            return try trees.usedBytes(of: database)
        }
    }

    /// Sets the status of an account. Without an available account, a user can only read the public database (B221).
    public func setAccountStatus(_ status: AccountStatus, of user: String) throws {
        try administer(.setAccountStatus(status, user: user))
    }

    /// - Parameter bytes: the quota; 0 means no limit.
    public func setQuota(bytes: UInt64, of user: String) throws {
        try administer(.setQuota(bytes: bytes, user: user))
    }

    /// Sets the names and the addresses of a user, who need not have written anything; roles and discoverability stay.
    ///
    /// - Parameter recordName: the name of the record of a user whom the store has not met; nil to derive it.
    /// - Throws: ``Refusal`` `invalidArguments` for an address of another user, and for an invalid address.
    package func setPerson(_ person: Person, of user: String, recordName: String? = nil) throws {
        try administer(.setPerson(person, user: user, recordName: recordName))
    }

    /// Adds an e-mail address to a user, or, without `@`, a phone number.
    package func addAddress(_ address: String, to user: String) throws {
        try administer(.addAddress(address, user: user))
    }

    /// Makes exactly these users the members of a custom role, which grants of the schema name (B391).
    public func setRole(_ role: String, of users: [String]) throws {
        try administer(.setRole(role, users: users))
    }

    /// Sets whether others may find a user by an address (B388).
    package func setDiscoverability(_ discoverability: Person.Discoverability, of user: String) throws {
        try administer(.setDiscoverability(discoverability, user: user))
    }

    /// Expires the change tokens before an offset; tokens at it stay valid. ``offset`` + 1 expires every token.
    ///
    /// - Parameter database: with the name of its owner; nil for all databases.
    /// - Throws: ``Refusal`` for an offset more than one past the end.
    public func expireTokens(before offset: UInt64, in database: DatabaseID? = nil) throws {
        try administer(
            .expireTokens(before: offset, inAll: database == nil), in: database ?? DatabaseID(.private))
    }

    /// Purges a zone of a user's private database, as the user does in Settings (B38).
    ///
    /// - Throws: ``Refusal`` if the zone does not exist.
    public func purgeZone(_ zone: ZoneID, of user: String) throws {
        var names = RequestNames()
        let ordinal = names.ordinal(of: zone)
        let answer = try administer(.purgeZone(ordinal), in: DatabaseID(.private, owner: user), names)
        if let refusal = answer.result.deletes.first ?? nil { throw refusal }
    }

    /// Resets the encrypted data of a user who has lost the keys, as the user does in Settings: deletes the custom
    /// zones of the private database that have encrypted values, giving that reason, and then destroys the key (B38,
    /// B154; docs/encryption.md).
    ///
    /// Both are durable on return. If a reset was interrupted, calling this again completes it, even if no zone is
    /// left. Values that the user encrypts later get a new key. Records of the default zone stay, but their
    /// encrypted values can no longer be opened.
    public func resetEncryptedData(of user: String) throws {
        try requireWritable()
        try engine.keys.destroyKey(of: user) {
            try administer(.resetEncryptedData, in: DatabaseID(.private, owner: user))
            try log.sync()
        }
    }

    /// Notes in the log a console command that changes no state.
    package func noteConsole(_ note: ConsoleNote) throws { try administer(.note(note)) }

    /// Notes in the log a fault that a console had arranged, as a lazy commit; the caller does not wait.
    package func noteFault(_ note: ConsoleNote) {
        guard access != .readOnly else { return }
        pipeline.noteFault(note)
    }

    /// Makes a request of the service. A console act needs no function of its own beside ``AdministerRequest``, its
    /// judge and the console.
    @discardableResult
    package func administer(
        _ body: AdministerRequest, in database: DatabaseID = DatabaseID(.private),
        _ names: RequestNames = RequestNames()
    ) throws -> Answer {
        try modify(Request(database: database, names: names, .administer(body)), as: .service)
    }
}
