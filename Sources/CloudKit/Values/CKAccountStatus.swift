import Foundation

/// The availability of a user's account.
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
    /// Posted when the account, or its status, may have changed.
    public static let CKAccountChanged = NSNotification.Name("CKAccountChangedNotification")
}
