import StrataConnections
import StrataReplication

extension LogPlace {
    /// Returns the place of a store whose commits a PostgreSQL database orders, so that processes on several machines
    /// can write it (docs/replication.md §7).
    ///
    /// ```swift
    /// let place = try LogPlace.postgres(
    ///     "postgres://strata@p1.example.com,p2.example.com/notes?authority=/etc/strata/ca.pem")
    /// ```
    /// The address is `postgres://[user[:password]@]host[:port][,host[:port]…]/database[?option=value&…]`. Name every
    /// server that may become the primary. A password that is missing is taken from `PGPASSWORD` or `~/.pgpass`.
    ///
    /// | option | |
    /// |---|---|
    /// | `store` | the store's name, if a database has several; `strata` unless given |
    /// | `standbys` | the standby servers that must have an acknowledged commit: 1 unless given, 0 to develop |
    /// | `authority` | the certificate file of the servers' authority; needed unless every host is a loopback address |
    /// | `certificate`, `key` | the files with the client's certificate and its key |
    /// | `plaintext` | 1 to connect without TLS |
    ///
    /// The store must have been created, and `libpq5` must be installed where it is opened.
    ///
    /// - Throws: `.invalidArgument` with the part of the address that is wrong.
    public static func postgres(_ address: String) throws -> LogPlace {
        try postgres(ServerAddress(parsing: address))
    }

    /// Returns the place for an address that has been parsed.
    package static func postgres(_ address: ServerAddress) throws -> LogPlace {
        _ = try PostgresOptions(address)
        return LogPlace(address: "\(address)") { _ in try PostgresSequencer(address) }
    }
}
