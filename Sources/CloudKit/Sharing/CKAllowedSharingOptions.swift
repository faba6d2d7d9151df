import Foundation
import StrataSystem

/// The choices that a sharing interface offers. Strata has no such interface: an app passes them to its own.
///
/// ```swift
/// let options = CKAllowedSharingOptions(
///     allowedParticipantPermissionOptions: .readOnly, allowedParticipantAccessOptions: .any)
/// ```
// @unchecked: the lock protects all mutable state.
public final class CKAllowedSharingOptions: NSObject, NSSecureCoding, NSCopying, CVarArg, @unchecked Sendable {
    private struct Choices: Hashable {
        var permission: CKSharingParticipantPermissionOption
        var access: CKSharingParticipantAccessOption
        var invitesOthers = false
        var requests = false
    }

    private let choices: Lock<Choices>

    /// Creates options that neither let participants invite others nor allow access requests.
    public convenience init(
        allowedParticipantPermissionOptions permission: CKSharingParticipantPermissionOption,
        allowedParticipantAccessOptions access: CKSharingParticipantAccessOption
    ) {
        self.init(Choices(permission: permission, access: access))
    }

    private init(_ choices: Choices) {
        self.choices = Lock(choices)
        super.init()
    }

    /// Options that allow every permission and every kind of access.
    public class var standard: CKAllowedSharingOptions {
        CKAllowedSharingOptions(
            allowedParticipantPermissionOptions: .any, allowedParticipantAccessOptions: .any)
    }

    /// The permissions that participants can be given.
    public var allowedParticipantPermissionOptions: CKSharingParticipantPermissionOption {
        get { choices.withLock { $0.permission } }
        set { choices.withLock { $0.permission = newValue } }
    }
    /// The users that can be given access.
    public var allowedParticipantAccessOptions: CKSharingParticipantAccessOption {
        get { choices.withLock { $0.access } }
        set { choices.withLock { $0.access = newValue } }
    }
    /// True if participants may invite others; false by default.
    public var allowsParticipantsToInviteOthers: Bool {
        get { choices.withLock { $0.invitesOthers } }
        set { choices.withLock { $0.invitesOthers = newValue } }
    }
    /// True if users may request access; false by default.
    public var allowsAccessRequests: Bool {
        get { choices.withLock { $0.requests } }
        set { choices.withLock { $0.requests = newValue } }
    }

    public override var description: String {
        let choices = choices.withLock { $0 }
        return "<CKAllowedSharingOptions: permissions \(choices.permission.rawValue), access \(choices.access.rawValue)"
            + ", invite others \(choices.invitesOthers), access requests \(choices.requests)>"
    }

    // MARK: NSSecureCoding, NSCopying

    public func copy(with zone: NSZone? = nil) -> Any { CKAllowedSharingOptions(choices.withLock { $0 }) }

    private static let block = "CKAllowedSharingOptions"

    public func encode(with coder: NSCoder) {
        let choices = choices.withLock { $0 }
        ArchiveBlock.write(Self.block, to: coder) { writer in
            writer.appendVarint(UInt64(choices.permission.rawValue))
            writer.appendVarint(UInt64(choices.access.rawValue))
            writer.append(choices.invitesOthers ? 1 as UInt8 : 0)
            writer.append(choices.requests ? 1 as UInt8 : 0)
        }
    }

    /// Decodes what ``encode(with:)`` encoded; nil if the archive is damaged.
    public convenience init?(coder: NSCoder) {
        let kept = ArchiveBlock.read(Self.block, from: coder) { reader in
            Choices(
                permission: .init(rawValue: UInt(try reader.readVarint("the permissions"))),
                access: .init(rawValue: UInt(try reader.readVarint("the kinds of access"))),
                invitesOthers: try reader.read(UInt8.self, "whether participants may invite") != 0,
                requests: try reader.read(UInt8.self, "whether access may be requested") != 0)
        }
        guard let kept else { return nil }
        self.init(kept)
    }
}
