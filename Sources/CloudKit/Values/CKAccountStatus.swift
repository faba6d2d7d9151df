import Foundation

/// Whether a user can be used as somebody who is signed in.
public enum CKAccountStatus: Int, Sendable, BitwiseCopyable {
    case couldNotDetermine = 0
    case available = 1
    case restricted = 2
    case noAccount = 3
    case temporarilyUnavailable = 4
}

extension NSNotification.Name {
    // Apple's name begins with capitals.
    // swift-format-ignore: AlwaysUseLowerCamelCase
    /// The account's status, or whose it is, may have changed.
    public static let CKAccountChanged = NSNotification.Name("CKAccountChangedNotification")
}
