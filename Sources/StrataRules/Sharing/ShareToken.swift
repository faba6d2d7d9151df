import StrataModel
import StrataViews

/// Makes the tokens of shares' URLs: 25 digits and lowercase letters.
enum ShareToken {
    /// Returns the token of a root, which stays the same when the root is shared again (B317).
    ///
    /// - Parameters:
    ///   - store: the store's ID, so that tokens of one store mean nothing in another.
    ///   - life: the incarnation of the zone.
    ///   - root: nil for the zone as a whole.
    static func plain(store: Identifier, owner: String, zone: String, life: Version, root: String?) -> String {
        var hash = DigestHash.hash(seed(store), text: owner)
        hash = DigestHash.hash(hash, text: zone)
        hash = DigestHash.hash(hash ^ UInt128(life.packed), text: root ?? "")
        return text(root == nil ? ~hash : hash)
    }

    /// Returns the token of the URL that only one participant can use (B328).
    static func oneTime(store: Identifier, share token: String, participant id: String) -> String {
        text(DigestHash.hash(DigestHash.hash(seed(store), text: token), text: id))
    }

    private static func seed(_ store: Identifier) -> UInt128 { UInt128(store.high) << 64 | UInt128(store.low) }

    private static func text(_ hash: UInt128) -> String {
        let digits = String(hash, radix: 36)
        return String(repeating: "0", count: 25 - digits.utf8.count) + digits
    }
}
