import StrataConnections
import StrataModel

/// The servers and the stream of a ``JetStreamSequencer``.
package struct JetStreamOptions: Sendable, Hashable {
    package private(set) var servers: [ServerAddress.Server]
    /// The stream's name.
    package private(set) var stream: String
    package private(set) var credentials: JetStreamCredentials?
    /// The path of the certificates of authorities to trust; nil for those of the system.
    package private(set) var authority: String?
    package private(set) var isSecure: Bool
    /// The least number of servers that must keep the stream.
    package private(set) var replicas: Int
    /// The time in which the servers must answer when the sequencer is opened.
    package var openMilliseconds = 10_000
    /// The time in which a call waits for a connection to be restored, or for a leader to be elected.
    package var patienceMilliseconds = 8_000
    /// True for the stream that keeps assets, which is separate from that of the entries.
    private(set) var keepsObjects = false
    /// True if the address says that the store's assets are in the cluster.
    package private(set) var hasAssets = false

    package static let usualReplicas = 3
    private static let port = 4_222
    private static let maximumReplicas = 5
    private static let maximumNameCharacters = 64
    private static let knownKeys = ["assets", "authority", "credentials", "plaintext", "replicas"]
    private static let objectsSuffix = "-assets"

    /// The subject of the stream's entries; that of all its messages if it keeps objects.
    package var subject: String { keepsObjects ? "\(objectsPrefix)>" : "strata.\(stream)" }
    /// The beginning of the subjects of objects, before their names.
    var objectsPrefix: String { "strata-assets.\(stream.dropLast(Self.objectsSuffix.count))." }

    /// The options of the stream that keeps the store's assets, which is separate from that of its entries.
    package var forObjects: JetStreamOptions {
        var options = self
        (options.stream, options.keepsObjects) = (stream + Self.objectsSuffix, true)
        return options
    }

    /// The addresses as the client library takes them.
    var urls: [String] {
        servers.map { "\(isSecure ? "tls" : "nats")://\($0.host):\($0.port ?? Self.port)" }
    }

    /// The address as errors show it: without passwords.
    package var address: String {
        let hosts = servers.map { server in server.port.map { "\(server.host):\($0)" } ?? server.host }
        var account = ""
        if case .password(let user, _) = credentials { account = "\(user)@" }
        return "\(isSecure ? "tls" : "nats")://\(account)\(hosts.joined(separator: ","))/\(stream)"
    }

    /// The address with the options, from which the sequencer can be opened again; without passwords.
    var fullAddress: String {
        var parts: [String] = []
        if let authority { parts.append("authority=\(ServerAddress.encoded(authority))") }
        if case .file(let path) = credentials { parts.append("credentials=\(ServerAddress.encoded(path))") }
        if !isSecure, !servers.allSatisfy(\.isLoopback) { parts.append("plaintext=1") }
        if replicas != Self.usualReplicas { parts.append("replicas=\(replicas)") }
        return address
            + (parts.isEmpty ? "" : "?" + parts.joined(separator: "&"))
    }

    /// Reads the address of a stream, as `LogPlace.jetStream(_:)` describes it.
    ///
    /// - Throws: `.invalidArgument` with the part that is wrong.
    package init(_ address: ServerAddress) throws {
        guard address.scheme == "nats" || address.scheme == "tls" else {
            throw Self.wrong("nats:// or tls://", "\(address.scheme)://")
        }
        if let key = address.options.keys.sorted().first(where: { !Self.knownKeys.contains($0) }) {
            throw Self.wrong("the options \(Self.knownKeys.joined(separator: ", "))", key)
        }
        try self.init(
            address, credentials: Self.credentials(address), authority: address.options["authority"],
            replicas: try Self.replicas(address.options["replicas"]),
            allowsPlaintext: try Self.option("plaintext", is: "1", or: "0", address))
        hasAssets = try Self.option("assets", is: "cluster", or: "directory", address)
    }

    /// Creates the options from addresses such as `tls://n1:4222`.
    ///
    /// - Throws: `.invalidArgument` with the argument that is wrong.
    package init(
        servers: [String], stream: String, credentials: JetStreamCredentials? = nil, authority: String? = nil,
        replicas: Int = usualReplicas, allowsPlaintext: Bool = false
    ) throws {
        let stream = try Self.checkedName(stream)
        let addresses = try servers.map { try ServerAddress(parsing: "\($0)/\(stream)") }
        guard var address = addresses.first else { throw Self.wrong("a server", "none") }
        for other in addresses {
            guard ["nats", "tls"].contains(other.scheme), other.scheme == address.scheme else {
                throw Self.wrong("nats:// or tls://, the same for all servers", "\(other.scheme)://")
            }
            guard other.user == nil, other.options.isEmpty else {
                throw Self.wrong("servers without an account and options", other.description)
            }
        }
        address.servers = addresses.flatMap(\.servers)
        try self.init(
            address, credentials: credentials, authority: authority,
            replicas: try Self.replicas(String(replicas)), allowsPlaintext: allowsPlaintext)
    }

    private init(
        _ address: ServerAddress, credentials: JetStreamCredentials?, authority: String?, replicas: Int,
        allowsPlaintext: Bool
    ) throws {
        stream = try Self.checkedName(address.name)
        guard !allowsPlaintext || (address.scheme == "nats" && authority == nil) else {
            throw Self.wrong("nats:// without an authority where plaintext=1", "\(address.scheme)://")
        }
        servers = address.servers
        self.credentials = credentials
        self.authority = authority
        self.replicas = replicas
        let isLocal = address.servers.allSatisfy(\.isLoopback)
        isSecure = address.scheme == "tls" || authority != nil || !(isLocal || allowsPlaintext)
    }

    private static func wrong(_ expected: String, _ found: String) -> StrataError {
        StrataError(
            .invalidArgument, "The address of the stream is wrong.", .init(expected: expected, found: "'\(found)'"))
    }

    private static func checkedName(_ name: String) throws -> String {
        guard ServerAddress.isPlain(name, atMost: maximumNameCharacters) else {
            throw wrong("a stream name of 1 to \(maximumNameCharacters) letters, digits, - and _", name)
        }
        return name
    }

    private static func credentials(_ address: ServerAddress) throws -> JetStreamCredentials? {
        switch (address.user, address.options["credentials"]) {
        case (nil, nil): return nil
        case (nil, let path?): return .file(path)
        case (let user?, nil): return .password(user: user, password: address.password ?? "")
        case (let user?, .some): throw wrong("either a user or a credentials file", user)
        }
    }

    private static func replicas(_ text: String?) throws -> Int {
        guard let text else { return usualReplicas }
        guard let number = Int(text), number % 2 == 1, (1...maximumReplicas).contains(number) else {
            throw wrong("replicas=1, 3 or 5", text)
        }
        return number
    }

    /// Returns true if an option has a value, false if it has the other one or is missing.
    private static func option(
        _ name: String, is value: String, or other: String, _ address: ServerAddress
    ) throws -> Bool {
        let text = address.options[name] ?? other
        guard [value, other].contains(text) else { throw wrong("\(name)=\(value) or \(name)=\(other)", text) }
        return text == value
    }
}
