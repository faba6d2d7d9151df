/// The account that a store uses at NATS servers.
///
/// ```swift
/// let credentials = JetStreamCredentials.file("/etc/strata/notes.creds")
/// ```
public enum JetStreamCredentials: Sendable, Hashable {
    /// A file with the user's token and key, as `nsc generate creds` writes it.
    case file(String)
    case password(user: String, password: String)
}
