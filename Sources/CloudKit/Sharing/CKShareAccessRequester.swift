import Foundation
import StrataModel

extension CKShare {
    /// A user who asks for access to a share.
    public typealias AccessRequester = CKShareAccessRequester
    /// A user who may not ask for access to a share.
    public typealias BlockedIdentity = CKShareBlockedIdentity
}

/// A user who asks for access to a share: `CKShare.AccessRequester`. Compared by the user.
// @unchecked: its one property is a constant.
public final class CKShareAccessRequester: NSObject, NSSecureCoding, NSCopying, CVarArg, @unchecked Sendable {
    /// The user.
    public let userIdentity: CKUserIdentity

    init(_ identity: CKUserIdentity) {
        userIdentity = identity
        super.init()
    }

    /// The means to look up the user as a participant, whom adding to the share lets in.
    public var participantLookupInfo: CKUserIdentity.LookupInfo {
        userIdentity.lookupInfo ?? .init(userRecordID: userIdentity.userRecordID ?? CKRecord.ID(recordName: ""))
    }

    public override func isEqual(_ object: Any?) -> Bool {
        (object as? CKShareAccessRequester)?.userIdentity == userIdentity
    }
    public override var hash: Int { userIdentity.hash }
    public override var description: String { "<CKShareAccessRequester: \(userIdentity)>" }

    // MARK: NSSecureCoding, NSCopying

    private static let block = "CKShareAccessRequester"

    public func encode(with coder: NSCoder) { ArchiveBlock.write(Self.block, to: coder) { $0.append(userIdentity) } }

    /// Decodes what ``encode(with:)`` encoded; nil if the archive is damaged.
    public convenience init?(coder: NSCoder) {
        guard let read = ArchiveBlock.read(Self.block, from: coder, { try $0.readUserIdentity() }) else { return nil }
        self.init(read)
    }
}

/// A user who may not ask for access to a share: `CKShare.BlockedIdentity`. Compared by the user.
// @unchecked: its one property is a constant.
public final class CKShareBlockedIdentity: NSObject, NSSecureCoding, NSCopying, CVarArg, @unchecked Sendable {
    /// The user.
    public let userIdentity: CKUserIdentity

    init(_ identity: CKUserIdentity) {
        userIdentity = identity
        super.init()
    }

    public override func isEqual(_ object: Any?) -> Bool {
        (object as? CKShareBlockedIdentity)?.userIdentity == userIdentity
    }
    public override var hash: Int { userIdentity.hash }
    public override var description: String { "<CKShareBlockedIdentity: \(userIdentity)>" }

    // MARK: NSSecureCoding, NSCopying

    private static let block = "CKShareBlockedIdentity"

    public func encode(with coder: NSCoder) { ArchiveBlock.write(Self.block, to: coder) { $0.append(userIdentity) } }

    /// Decodes what ``encode(with:)`` encoded; nil if the archive is damaged.
    public convenience init?(coder: NSCoder) {
        guard let read = ArchiveBlock.read(Self.block, from: coder, { try $0.readUserIdentity() }) else { return nil }
        self.init(read)
    }
}
