/// Whether a user can use the service. The numbers are CloudKit's, and on disk.
public enum AccountStatus: UInt8, Sendable, CaseIterable {
    case couldNotDetermine, available, restricted, noAccount, temporarilyUnavailable
}
