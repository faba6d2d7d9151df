import StrataModel
import StrataViews

/// What operators do, or a user in Settings: requests of the service (docs/rules.md §3 and §13), which return once they
/// are as durable as the store promises.
///
/// ```swift
/// try store.setAccountStatus(.temporarilyUnavailable, of: "anna")
/// try store.setQuota(bytes: 5_000_000, of: "anna")
/// try store.noteConsole(ConsoleNote("the next answer is lost", user: "anna", device: "phone"))
/// ```
extension Store {
    /// Whether a user can use the service, and how many bytes the user's private database may have (0: no limit).
    /// Costs nothing as long as nobody's account was ever set.
    public func account(of user: String) throws -> (status: AccountStatus, quota: UInt64) {
        var newest = snapshot()
        newest.acceptsNewer = true
        let account = try newest.reading { trees in
            guard trees.entryCount(ViewTree.users) > 0,
                let ordinal = try newest.names.ordinal(of: .user(user), in: trees)
            else { return Account() }
            return try trees.account(of: ordinal)
        }
        return (account.status, account.quota)
    }

    /// How many bytes a user's private database counts for the quota: the sizes of the records that are there, with
    /// their files (docs/rules.md §6).
    public func usage(of user: String) throws -> UInt64 {
        var newest = snapshot()
        newest.acceptsNewer = true
        return try newest.reading { trees in
            guard let owner = try newest.names.ordinal(of: .user(user), in: trees),
                let database = try newest.names.ordinal(of: .database(.private, owner: owner), in: trees)
            else { return 0 }
            return try trees.usedBytes(of: database)
        }
    }

    /// A user whose account is not available is refused everything but reading the public database (B221).
    public func setAccountStatus(_ status: AccountStatus, of user: String) throws {
        try administer(.setAccountStatus(status, user: user))
    }

    /// - Parameter bytes: 0 is no limit.
    public func setQuota(bytes: UInt64, of user: String) throws {
        try administer(.setQuota(bytes: bytes, user: user))
    }

    /// Expires change tokens from before an offset; tokens at it stay valid. ``offset`` + 1 expires every token.
    ///
    /// - Parameter database: with the name of its owner; nil for all databases.
    /// - Throws: ``Refusal`` for an offset more than one behind the end.
    public func expireTokens(before offset: UInt64, in database: DatabaseID? = nil) throws {
        try administer(
            .expireTokens(before: offset, inAll: database == nil), in: database ?? DatabaseID(.private))
    }

    /// Ends a zone of a user's private database, as the user does in Settings (B38).
    ///
    /// - Throws: ``Refusal`` if there is no such zone.
    public func purgeZone(_ zone: ZoneID, of user: String) throws {
        var names = RequestNames()
        let ordinal = names.ordinal(of: zone)
        let answer = try administer(.purgeZone(ordinal), in: DatabaseID(.private, owner: user), names)
        if let refusal = answer.result.deletes.first ?? nil { throw refusal }
    }

    /// What a user does in Settings who has lost the keys: deletes the custom zones of the private database that have
    /// encrypted values, with that reason, and then destroys the key (B38, B154; docs/encryption.md).
    ///
    /// Both are durable on return. A reset that was interrupted is done by another one, also if no zone is left. What
    /// the user encrypts afterwards has a new key; records of the default zone stay, and what is encrypted in them does
    /// not open any more.
    public func resetEncryptedData(of user: String) throws {
        try requireWritable()
        try engine.keys.destroyKey(of: user) {
            try administer(.resetEncryptedData, in: DatabaseID(.private, owner: user))
            try log.sync()
        }
    }

    /// Keeps in the log what a console was told to do that changes no state.
    public func noteConsole(_ note: ConsoleNote) throws { try administer(.note(note)) }

    /// Keeps in the log that something went wrong as a console had said, as a lazy commit: nobody waits for it.
    public func noteFault(_ note: ConsoleNote) {
        guard access != .readOnly else { return }
        pipeline.noteFault(note)
    }

    @discardableResult
    func administer(
        _ body: AdministerRequest, in database: DatabaseID = DatabaseID(.private),
        _ names: RequestNames = RequestNames()
    ) throws -> Answer {
        try modify(Request(database: database, names: names, .administer(body)), as: .service)
    }
}
