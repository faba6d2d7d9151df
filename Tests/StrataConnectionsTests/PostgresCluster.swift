import StrataConnections
import StrataModel
import StrataPostgres
import StrataReplication
import TestSupport
import Testing

/// A primary and two standbys of PostgreSQL; a commit waits for one of the two.
final class PostgresCluster {
    static let database = "notes"

    private let directory: TestDirectory
    let primary: PostgresServer
    let standbys: [PostgresServer]
    var servers: [PostgresServer] { [primary] + standbys }
    private let settings = ["synchronous_standby_names": "ANY 1 (s1, s2)"]

    init(standbyCount: Int = 2) throws {
        directory = try TestDirectory()
        PostgresPrograms.handOver(directory.path)
        let (template, log) = (directory.path("template"), directory.path("log"))
        try PostgresPrograms.run(
            "initdb", ["-D", template, "-U", "strata", "-A", "trust", "-N", "--locale=C", "-E", "UTF8"], errors: log)
        let primary = try PostgresServer("p", template: template, in: directory, settings: [:])
        let directory = directory
        standbys = try (0..<standbyCount).map { index in
            try PostgresServer("s\(index + 1)", template: template, in: directory, settings: [:])
        }
        self.primary = primary
        // All have the same files so far, as if taken from the primary while it was stopped.
        for standby in standbys { try standby.follow(primary) }
        try primary.configure(settings)
        try primary.start()
        for standby in standbys { try standby.start() }
        try primary.sql("create role app login")
        // May connect, as every role may, and nothing else.
        try primary.sql("create role stranger login")
        try primary.sql("create database \(Self.database) owner app")
    }

    deinit { for server in servers { server.kill() } }

    /// Returns the address of the servers, as a role without particular rights.
    func address(store: String, options: String = "", of servers: [PostgresServer]? = nil) throws -> ServerAddress {
        let hosts = (servers ?? self.servers).map { "127.0.0.1:\($0.port)" }.joined(separator: ",")
        return try ServerAddress(parsing: "postgres://app@\(hosts)/\(Self.database)?store=\(store)\(options)")
    }

    /// Creates a store, and returns its address.
    func create(_ store: String, options: String = "") throws -> ServerAddress {
        let address = try address(store: store, options: options)
        try PostgresSequencer.create(address)
        return address
    }

    /// Makes the standby that has most the primary, which the other one follows then, and returns it. The old primary
    /// must not answer any more.
    func failOver() throws -> PostgresServer {
        func received(_ server: PostgresServer) throws -> Int {
            try Int(server.sql("select pg_last_wal_receive_lsn() - '0/0'::pg_lsn")[0]) ?? 0
        }
        let ordered = try standbys.map { ($0, try received($0)) }.sorted { $0.1 > $1.1 }.map(\.0)
        try ordered[0].follow(primary, ["fsync": "on"])
        try ordered[0].sql("select pg_reload_conf()")
        try #require(try eventually { try ordered[0].sql("show fsync") == ["on"] })
        try ordered[0].promote()
        try ordered[1].follow(ordered[0])
        try ordered[1].sql("select pg_reload_conf()")
        return ordered[0]
    }

    /// Changes a setting of the primary, and waits until new connections have it.
    func set(_ setting: String, to value: String) throws {
        try primary.sql("alter system set \(setting) = '\(value)'")
        try primary.sql("select pg_reload_conf()")
        try #require(try eventually { try primary.sql("show \(setting)").joined() == value })
    }
}

extension PostgresServer {
    /// Makes the server a standby of another one, when it starts.
    ///
    /// - Parameter settings: further settings; a standby need not sync unless it is to become the primary.
    func follow(_ primary: PostgresServer, _ settings: [String: String] = ["fsync": "off"]) throws {
        let own = [
            "primary_conninfo": "host=127.0.0.1 port=\(primary.port) user=strata application_name=\(name)",
            "synchronous_standby_names": "ANY 1 (p, s1, s2)", "wal_retrieve_retry_interval": "50ms",
        ]
        try configure(own.merging(settings) { $1 })
        try becomeStandby()
    }
}
