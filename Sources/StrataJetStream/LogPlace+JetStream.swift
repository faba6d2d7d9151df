import StrataConnections
import StrataReplication

extension LogPlace {
    /// A stream of NATS JetStream, which several machines reach.
    ///
    /// ```swift
    /// import StrataJetStream
    ///
    /// let place = LogPlace.jetStream(
    ///     servers: ["tls://n1:4222", "tls://n2:4222", "tls://n3:4222"], stream: "notes",
    ///     credentials: .file("/etc/strata/notes.creds"), authority: "/etc/strata/ca.pem")
    /// ```
    /// The servers must be 2.12 or later and sync always; the package `libnats3.4` must be installed. The connection
    /// uses TLS unless all servers are on this machine. Wrong arguments are reported when a store is opened.
    ///
    /// - Parameters:
    ///   - servers: the addresses `tls://host:port` or `nats://host:port`; the port is 4222 by default.
    ///   - stream: the name of the stream, which `strata create` makes.
    ///   - credentials: the account; nil if the servers ask for none.
    ///   - authority: the file of the certificates to trust; nil for those of the system.
    ///   - replicas: the least number of servers that must keep the stream, which is odd; 1 only for development.
    ///   - allowsPlaintext: true for connections to other machines without TLS.
    public static func jetStream(
        servers: [String], stream: String, credentials: JetStreamCredentials? = nil, authority: String? = nil,
        replicas: Int = 3, allowsPlaintext: Bool = false
    ) -> LogPlace {
        let options = Result {
            try JetStreamOptions(
                servers: servers, stream: stream, credentials: credentials, authority: authority, replicas: replicas,
                allowsPlaintext: allowsPlaintext)
        }
        // What cannot be read may have a password in it, so it is not shown.
        let address = (try? options.get())?.fullAddress ?? "nats:///\(stream)"
        return LogPlace(address: address) {
            try JetStreamKeeper(options.get())
        } open: { _ in
            try JetStreamSequencer(options.get())
        }
    }

    /// A stream of NATS JetStream at an address such as `nats://127.0.0.1:4222/notes`.
    ///
    /// The address is `nats://[user[:password]@]host[:port][,host[:port]…]/stream[?option=value&…]`, or begins with
    /// `tls://`.
    ///
    /// | option | |
    /// |---|---|
    /// | `assets` | `cluster` is ``withAssets(in:)`` `.cluster`; `directory` by default |
    /// | `credentials` | the file of the user's token and key |
    /// | `authority` | the file of the certificates to trust |
    /// | `replicas` | the least number of servers that keep the stream: 3 by default, 1 for development, or 5 |
    /// | `plaintext` | 1 for connections to other machines without TLS |
    ///
    /// - Throws: `.invalidArgument` with the part of the address that is wrong.
    public static func jetStream(_ address: String) throws -> LogPlace {
        try jetStream(ServerAddress(parsing: address))
    }

    /// Returns the place for an address that has been parsed.
    package static func jetStream(_ address: ServerAddress) throws -> LogPlace {
        let options = try JetStreamOptions(address)
        var address = address
        address.options["assets"] = nil
        let place = LogPlace(address: "\(address)") {
            try JetStreamKeeper(options)
        } open: { _ in
            try JetStreamSequencer(options)
        }
        return place.withAssets(in: options.hasAssets ? .cluster : .directory)
    }
}
