import StrataConnections
import StrataModel

/// The servers, the database and the store that an address names, and the demands on the servers.
package struct PostgresOptions: Sendable, Hashable {
    /// The ways to secure a connection.
    enum Security: Sendable, Hashable {
        /// TLS; the server's certificate is checked against the authority's, in a file.
        case verified(authority: String)
        /// TLS if the server has it; what is sent cannot leave the machine.
        case loopback
        case plaintext
    }

    private static let schemes: Set<String> = ["postgres", "postgresql"]
    private static let keys = ["authority", "certificate", "key", "plaintext", "standbys", "store"]
    private static let maximumStoreLength = 40
    private static let maximumStandbys = 100
    static let defaultStore = "strata"

    let address: ServerAddress
    let store: String
    /// The number of standby servers that must have a commit before it is acknowledged.
    let standbys: Int
    let security: Security
    /// The files with the client's certificate and its key.
    let certificate: String?
    let key: String?

    /// The address as errors show it: without the password, with the store.
    var description: String {
        var address = address
        address.options["store"] = store
        return "\(address)"
    }

    /// - Throws: `.invalidArgument` with the part of the address that is wrong.
    package init(_ address: ServerAddress) throws {
        guard Self.schemes.contains(address.scheme) else {
            throw Self.wrong("postgres://…", address.scheme)
        }
        let options = address.options
        if let unknown = options.keys.filter({ !Self.keys.contains($0) }).min() {
            throw Self.wrong("options among \(Self.keys.joined(separator: ", "))", unknown)
        }
        self.address = address
        store = options["store"] ?? Self.defaultStore
        guard ServerAddress.isPlain(store, atMost: Self.maximumStoreLength) else {
            throw Self.wrong("a store of 1 to \(Self.maximumStoreLength) letters, digits, '_' and '-'", store)
        }
        let count = options["standbys"] ?? "1"
        guard let standbys = Int(count), (0...Self.maximumStandbys).contains(standbys) else {
            throw Self.wrong("standbys=0 to \(Self.maximumStandbys)", count)
        }
        self.standbys = standbys
        (certificate, key) = (options["certificate"], options["key"])
        guard (certificate == nil) == (key == nil) else {
            throw Self.wrong("certificate and key together", certificate == nil ? "key alone" : "certificate alone")
        }
        security = try Self.security(of: address)
    }

    private static func security(of address: ServerAddress) throws -> Security {
        switch (address.options["plaintext"] ?? "0", address.options["authority"]) {
        case ("0", let authority?): return .verified(authority: authority)
        case ("0", nil) where address.servers.allSatisfy(\.isLoopback): return .loopback
        case ("0", nil):
            throw wrong(
                "authority=FILE, the certificate of the servers' certificate authority, or plaintext=1",
                "neither")
        case ("1", nil): return .plaintext
        case ("1", _?): throw wrong("authority or plaintext=1", "both")
        case (let value, _): throw wrong("plaintext=0 or plaintext=1", value)
        }
    }

    private static func wrong(_ expected: String, _ found: String) -> StrataError {
        StrataError(
            .invalidArgument, "The address of the PostgreSQL servers is wrong.",
            .init(expected: expected, found: "'\(found)'"))
    }

    /// Returns libpq's parameters for one of the servers. A password that is missing is taken from `PGPASSWORD` or the
    /// file `.pgpass`, as libpq does.
    package func parameters(of server: ServerAddress.Server) -> [(key: String, value: String)] {
        var host = server.host
        if host.first == "[" { host = String(host.dropFirst().dropLast()) }
        var parameters: [(key: String, value: String)] = [
            ("host", host), ("port", "\(server.port ?? 5432)"), ("dbname", address.name),
            ("application_name", "strata"), ("client_encoding", "UTF8"), ("gssencmode", "disable"),
            // A server that is a standby, or takes no writes for another reason, is passed over.
            ("target_session_attrs", "read-write"),
            // A machine that vanished is noticed after about ten seconds.
            ("keepalives_idle", "5"), ("keepalives_interval", "2"), ("keepalives_count", "3"),
            ("tcp_user_timeout", "10000"),
        ]
        if let user = address.user { parameters.append(("user", user)) }
        if let password = address.password { parameters.append(("password", password)) }
        if let certificate, let key { parameters += [("sslcert", certificate), ("sslkey", key)] }
        switch security {
        case .verified(let authority): parameters += [("sslmode", "verify-full"), ("sslrootcert", authority)]
        case .loopback: parameters.append(("sslmode", "prefer"))
        case .plaintext: parameters.append(("sslmode", "disable"))
        }
        return parameters
    }
}
