/// The permissions that a sharing interface lets the owner give.
public struct CKSharingParticipantPermissionOption: OptionSet, Sendable, Hashable, BitwiseCopyable {
    public let rawValue: UInt
    public init(rawValue: UInt) { self.rawValue = rawValue }

    /// Participants may only read.
    public static let readOnly = Self(rawValue: 1)
    /// Participants may read and write.
    public static let readWrite = Self(rawValue: 2)
    /// The owner may choose either.
    public static let any: Self = [.readOnly, .readWrite]
}
