import StrataModel

extension CKShare {
    /// The keys of what an app tells users about a share.
    public enum SystemFieldKey {
        /// The key of the title, a string.
        public static let title: CKRecord.FieldKey = ShareState.systemKeys[0]
        /// The key of a preview, the data of an image.
        public static let thumbnailImageData: CKRecord.FieldKey = ShareState.systemKeys[1]
        /// The key of the type of what is shared, a uniform type identifier.
        public static let shareType: CKRecord.FieldKey = ShareState.systemKeys[2]
    }

    /// The states of an invitation.
    public enum ParticipantAcceptanceStatus: Int, Sendable, BitwiseCopyable {
        case unknown = 0
        /// The participant has not accepted.
        case pending
        case accepted
        /// The participant left or was removed.
        case removed
    }

    /// The permission of a participant, or of everybody with the share's URL.
    public enum ParticipantPermission: Int, Sendable, BitwiseCopyable {
        case unknown = 0
        case none
        case readOnly
        case readWrite
    }

    /// The role of a participant.
    public enum ParticipantRole: Int, Sendable, BitwiseCopyable {
        case unknown = 0
        /// The user in whose database the share is.
        case owner
        /// A participant who also adds and removes others.
        case administrator
        /// A participant who was invited.
        case privateUser
        /// A participant who joined a public share by its URL.
        case publicUser
    }
}

@available(*, deprecated, renamed: "CKShare.ParticipantAcceptanceStatus")
public typealias CKShare_Participant_AcceptanceStatus = CKShare.ParticipantAcceptanceStatus
@available(*, deprecated, renamed: "CKShare.ParticipantPermission")
public typealias CKShare_Participant_Permission = CKShare.ParticipantPermission
@available(*, deprecated, renamed: "CKShare.ParticipantRole")
public typealias CKShare_Participant_Role = CKShare.ParticipantRole

extension CKShare.ParticipantPermission {
    init(_ permission: SharePermission) { self = Self(rawValue: Int(permission.rawValue)) ?? .unknown }
}

extension CKShare.ParticipantRole {
    init(_ role: ShareRole) { self = Self(rawValue: Int(role.rawValue)) ?? .unknown }
}

extension SharePermission {
    /// Creates the engine's permission; nil for `unknown`.
    init?(_ permission: CKShare.ParticipantPermission) { self.init(rawValue: UInt8(permission.rawValue)) }
}

extension ShareRole {
    /// Creates the engine's role; nil for `unknown`.
    init?(_ role: CKShare.ParticipantRole) { self.init(rawValue: UInt8(role.rawValue)) }
}
