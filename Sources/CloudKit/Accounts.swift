import Foundation
import StrataSystem

/// Whether the users of a store can use their accounts, as far as that is not as usual.
final class Accounts: Sendable {
    private let unusual = Lock<[String: CKAccountStatus]>([:])

    func status(of user: String) -> CKAccountStatus { unusual.withLock { $0[user] ?? .available } }

    /// Tells whoever observes `CKAccountChanged`, if this is a change (B268).
    func set(_ status: CKAccountStatus, of user: String) {
        let isChange = unusual.withLock { unusual in
            let before = unusual[user] ?? .available
            unusual[user] = status == .available ? nil : status
            return before != status
        }
        if isChange { NotificationCenter.default.post(name: .CKAccountChanged, object: nil) }
    }
}

/// Whether a user can be used as somebody who is signed in.
public enum CKAccountStatus: Int, Sendable, BitwiseCopyable {
    case couldNotDetermine = 0
    case available = 1
    case restricted = 2
    case noAccount = 3
    case temporarilyUnavailable = 4
}
