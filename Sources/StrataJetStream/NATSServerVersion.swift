/// The version of a server, as far as it decides what the server can do.
struct NATSServerVersion: Comparable, Sendable, CustomStringConvertible {
    let major: Int
    let minor: Int

    /// Earlier servers check expectations when they apply an entry, lack fixes of lost entries, or cannot sync at all.
    static let minimum = NATSServerVersion(major: 2, minor: 12)

    var description: String { "\(major).\(minor)" }

    static func < (one: NATSServerVersion, other: NATSServerVersion) -> Bool {
        (one.major, one.minor) < (other.major, other.minor)
    }
}

extension NATSServerVersion {
    /// Reads `2.12.3` or `2.14.0-beta.1`; returns nil for other texts.
    init?(_ text: String) {
        let parts = text.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count >= 3, let major = Int(parts[0]), let minor = Int(parts[1]), major >= 0, minor >= 0 else {
            return nil
        }
        self.init(major: major, minor: minor)
    }
}
