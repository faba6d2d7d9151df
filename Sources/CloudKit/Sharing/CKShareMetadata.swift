import Foundation
import StrataModel

extension CKShare {
    /// The description of a share that a user gets who has its URL.
    public typealias Metadata = CKShareMetadata
}

/// The description of a share that a user gets who has its URL, before and after joining: `CKShare.Metadata`.
///
/// ```swift
/// let metadata = try await container.shareMetadata(for: url)
/// try await container.accept(metadata)
/// ```
///
/// Two are equal if they describe the same share to the same user.
// @unchecked: its properties are constants.
public final class CKShareMetadata: NSObject, NSSecureCoding, NSCopying, CVarArg, @unchecked Sendable {
    /// The name of the container that has the share.
    public let containerIdentifier: String
    /// The share.
    public let share: CKShare
    /// The ID of the root; nil if the share covers its whole zone.
    public let hierarchicalRootRecordID: CKRecord.ID?
    /// The root, if it was requested.
    public let rootRecord: CKRecord?
    /// The role of the user who asked.
    public let participantRole: CKShare.ParticipantRole
    /// True if the user who asked has joined.
    public let participantStatus: CKShare.ParticipantAcceptanceStatus
    /// The permission of the user who asked.
    public let participantPermission: CKShare.ParticipantPermission
    /// The user in whose database the share is.
    public let ownerIdentity: CKUserIdentity
    /// The token of the URL that was asked for, which may be a participant's own.
    let token: String
    /// The record name of the user who asked.
    private let user: String

    /// The ID of the root; for a share of a whole zone, of the share.
    @available(*, deprecated, message: "Use hierarchicalRootRecordID.")
    public var rootRecordID: CKRecord.ID { hierarchicalRootRecordID ?? share.recordID }

    /// The part in the share of the user who asked.
    typealias Standing = (
        role: CKShare.ParticipantRole, status: CKShare.ParticipantAcceptanceStatus,
        permission: CKShare.ParticipantPermission
    )

    init(
        _ share: CKShare, in container: String, root: CKRecord.ID?, _ rootRecord: CKRecord?, _ standing: Standing,
        token: String, user: String, owner: CKUserIdentity? = nil
    ) {
        self.share = share
        containerIdentifier = container
        hierarchicalRootRecordID = root
        self.rootRecord = rootRecord
        (participantRole, participantStatus, participantPermission) = standing
        ownerIdentity = owner ?? share.owner.userIdentity
        self.token = token
        self.user = user
        super.init()
    }

    public override func isEqual(_ object: Any?) -> Bool {
        guard let other = object as? CKShareMetadata else { return false }
        return isSameText(containerIdentifier, other.containerIdentifier) && share.recordID == other.share.recordID
            && isSameText(user, other.user) && isSameText(token, other.token)
    }

    public override var hash: Int { share.recordID.hash }
    public override var description: String {
        "<CKShareMetadata: \(share.recordID), \(participantRole), \(participantStatus), \(participantPermission)>"
    }

    // MARK: NSSecureCoding, NSCopying

    private static let block = "CKShareMetadata"
    private static let shareKey = "Share"
    private static let rootKey = "RootRecord"

    public func encode(with coder: NSCoder) {
        ArchiveBlock.write(Self.block, to: coder) { writer in
            writer.appendString(containerIdentifier)
            writer.append(optional: hierarchicalRootRecordID) { $1.append($0) }
            writer.append(UInt8(participantRole.rawValue))
            writer.append(UInt8(participantStatus.rawValue))
            writer.append(UInt8(participantPermission.rawValue))
            writer.appendString(token)
            writer.appendString(user)
        }
        guard coder.allowsKeyedCoding else { return }
        coder.encode(share, forKey: Self.shareKey)
        if let rootRecord { coder.encode(rootRecord, forKey: Self.rootKey) }
    }

    /// Decodes what ``encode(with:)`` encoded, also on Apple's platforms; nil if the archive is damaged.
    public convenience init?(coder: NSCoder) {
        let read = ArchiveBlock.read(Self.block, from: coder) { reader in
            let container = try reader.readText("a container")
            let root = try reader.readOptional { try $0.readRecordID() }
            let standing: Standing = (
                try reader.readCase("a role"), try reader.readCase("a status"), try reader.readCase("a permission")
            )
            return (container, root, standing, try reader.readText("a token"), try reader.readText("a user"))
        }
        let archive = ArchiveReader(coder)
        guard let share = archive.object(CKShare.self, Self.shareKey) else { return nil }
        let rootRecord = archive.object(CKRecord.self, Self.rootKey)
        if let (container, root, standing, token, user) = read {
            self.init(share, in: container, root: root, rootRecord, standing, token: token, user: user)
        } else {
            // Apple's archives have no block.
            guard let container = archive.text("ContainerID", "ContainerIdentifier") else { return nil }
            let standing: Standing = (
                archive.value("ParticipantType") ?? .unknown, archive.value("ParticipantStatus") ?? .unknown,
                archive.value("ParticipantPermission") ?? .unknown
            )
            self.init(
                share, in: container, root: archive.object(CKRecordID.self, "RootRecordID"), rootRecord, standing,
                token: share.token, user: "", owner: archive.object(CKUserIdentity.self, "OwnerIdentity"))
        }
        guard archive.isIntact else { return nil }
    }
}
