import StrataModel

/// The settings of a server on which the promise of a store depends.
struct PostgresSettings: Sendable, Equatable {
    private static let oldestVersion = 12

    /// The version as libpq states it: 150018 for 15.18.
    var version: Int
    var fsync: String
    var fullPageWrites: String
    var synchronousCommit: String
    var standbyNames: String

    /// The statements that ask for the settings; ``init(_:version:)`` reads their answer. Every role may read them. The
    /// columns before are `pg_is_in_recovery`, and the start and timeline of the server.
    ///
    /// Settings of the role must not change how the store's statements work, or hide that a wait for standbys was
    /// canceled. A later change of `synchronous_commit` must not reach this connection.
    static let question = """
        set default_transaction_isolation = 'read committed'; set statement_timeout = 0; set lock_timeout = 0;
        set client_min_messages = warning;
        select pg_is_in_recovery(),
            case when not pg_is_in_recovery() then
                pg_postmaster_start_time()::text || ' ' || left(pg_walfile_name(pg_current_wal_lsn()), 8) end,
            current_setting('fsync'), current_setting('full_page_writes'), current_setting('synchronous_commit'),
            current_setting('synchronous_standby_names'),
            set_config('synchronous_commit', current_setting('synchronous_commit'), false)
        """

    /// Checks that an acknowledged commit survives what the store promises.
    ///
    /// - Parameter standbys: the number of standby servers that must have it.
    /// - Throws: `.unsuitable` with the setting and the values that it may have.
    func check(standbys: Int) throws {
        guard version >= Self.oldestVersion * 10_000 else {
            throw StrataError(
                .unsuitable, "The server is too old; install a later PostgreSQL.",
                .init(expected: "version \(Self.oldestVersion) or later", found: "\(version / 10_000)"))
        }
        try Self.require("fsync", fsync, among: ["on"])
        try Self.require("full_page_writes", fullPageWrites, among: ["on"])
        try Self.require("synchronous_commit", synchronousCommit, among: ["on", "remote_apply"])
        try Self.checkStandbys(standbyNames, atLeast: standbys)
    }

    /// Checks `synchronous_standby_names`, which may change while a connection is open.
    static func checkStandbys(_ names: String, atLeast standbys: Int) throws {
        guard confirmations(of: names) < standbys else { return }
        throw StrataError(
            .unsuitable,
            "The server waits for too few standbys; set `synchronous_standby_names`, or `standbys` in the address.",
            .init(
                expected: "synchronous_standby_names = 'ANY \(standbys) (…)'",
                found: "synchronous_standby_names = '\(names)'"))
    }

    private static func require(_ name: String, _ value: String, among values: [String]) throws {
        guard !values.contains(value) else { return }
        throw StrataError(
            .unsuitable,
            "A setting of the server does not meet the store's durability requirements; set it for the store's role.",
            .init(expected: "\(name) = \(values.joined(separator: " or "))", found: "\(name) = \(value)"))
    }

    /// Returns the number of standbys that a commit waits for: `ANY 2 (a, b, c)`, `FIRST 2 (a, b)` and `2 (a, b)` are
    /// two, a list without a number is one, and no list is none.
    static func confirmations(of names: String) -> Int {
        let words = names.split { $0 == " " || $0 == "\t" || $0 == "\n" || $0 == "(" }
        guard let first = words.first else { return 0 }
        let isKeyword = ["any", "first"].contains(first.lowercased())
        // The server accepts the setting only if it is well formed, so a number before a parenthesis is the count.
        guard names.contains("("), let count = Int(words.dropFirst(isKeyword ? 1 : 0).first ?? "") else { return 1 }
        return count
    }
}

extension PostgresSettings {
    init?(_ result: PQResult, version: Int) {
        guard let fsync = result.text(0, 2), let fullPageWrites = result.text(0, 3),
            let synchronousCommit = result.text(0, 4), let standbyNames = result.text(0, 5)
        else { return nil }
        self.init(
            version: version, fsync: fsync, fullPageWrites: fullPageWrites, synchronousCommit: synchronousCommit,
            standbyNames: standbyNames)
    }
}
