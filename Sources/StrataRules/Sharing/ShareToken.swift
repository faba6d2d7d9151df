import StrataModel
import StrataSystem

/// Makes the tokens of shares' URLs: 25 digits and lowercase letters (docs/security.md §2).
struct ShareToken {
    let secret: StoreSecret
    /// The ID of the commit that makes the URL.
    let commit: Identifier

    /// Returns the token of a root that is shared for the first time.
    ///
    /// - Parameter root: nil for the zone as a whole.
    func plain(zone: String, root: String?) -> String { text(.shareURL, [zone] + (root.map { [$0] } ?? [])) }

    /// Returns the token that replaces one from before the store had a secret.
    func replacing(_ token: String) -> String { text(.shareURL, [token]) }

    /// Returns the token of the URL that only one participant can use (B328).
    ///
    /// - Parameter token: the token of the share.
    func oneTime(share token: String, participant id: String) -> String { text(.oneTimeURL, [token, id]) }

    private func text(_ purpose: StoreSecret.Purpose, _ parts: [String]) -> String {
        var input = ByteWriter(reserving: 128)
        input.append(commit.high)
        input.append(commit.low)
        input.appendVarint(UInt64(parts.count))
        for part in parts { input.appendString(part) }
        let hash = secret.hash(purpose, input.bytes).reduce(UInt128(0)) { $0 << 8 | UInt128($1) }
        let digits = String(hash, radix: 36)
        return String(repeating: "0", count: 25 - digits.utf8.count) + digits
    }
}
