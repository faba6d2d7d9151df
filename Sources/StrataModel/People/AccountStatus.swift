/// The status of a user's account. The raw values are CloudKit's, and are stored on disk.
public enum AccountStatus: UInt8, Sendable, CaseIterable {
    case couldNotDetermine, available, restricted, noAccount, temporarilyUnavailable

    package var name: String { words(of: self) }
}
