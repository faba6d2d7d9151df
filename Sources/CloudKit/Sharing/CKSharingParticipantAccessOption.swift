/// The users that a sharing interface lets the owner give access to.
public struct CKSharingParticipantAccessOption: OptionSet, Sendable, Hashable, BitwiseCopyable {
    public let rawValue: UInt
    public init(rawValue: UInt) { self.rawValue = rawValue }

    /// Everyone with the link has access.
    public static let anyoneWithLink = Self(rawValue: 1)
    /// Only the recipients whom the owner names have access.
    public static let specifiedRecipientsOnly = Self(rawValue: 2)
    /// The owner may choose either.
    public static let any: Self = [.anyoneWithLink, .specifiedRecipientsOnly]
}
