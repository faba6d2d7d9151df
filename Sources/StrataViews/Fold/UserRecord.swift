import StrataModel

/// The record that each user has in the public and in the private database.
package enum UserRecord {
    package static let type = "Users"

    /// Returns the same name in every store, so that a log can be judged again elsewhere (docs/rules.md §1).
    package static func name(of user: String) -> String {
        let hash = DigestHash.hash(1, text: user)
        return "_" + hexadecimal(hash.high) + hexadecimal(hash.low)
    }
}
