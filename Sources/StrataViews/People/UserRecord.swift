import StrataModel
import StrataSystem

/// The record that each user has in the public and in the private database.
package enum UserRecord {
    package static let type = "Users"

    /// Returns the name that a store records when it meets a user (docs/security.md §2).
    ///
    /// - Parameter attempt: 0, or a higher number if the user of an import took the names of the lower ones.
    package static func name(of user: String, _ secret: StoreSecret, attempt: UInt8 = 0) -> String {
        // No text has the byte FF.
        let hash = secret.hash(.userRecord, Array(user.utf8) + (attempt == 0 ? [] : [0xFF, attempt]))
        return "_" + hash.map { hexadecimal($0) }.joined()
    }

    /// Returns the name of a user whom a store met before it had a secret. Anyone can compute the user from it.
    package static func earlierName(of user: String) -> String {
        let hash = DigestHash.hash(1, text: user)
        return "_" + hexadecimal(hash.high) + hexadecimal(hash.low)
    }
}
