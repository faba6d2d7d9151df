import Foundation
import StrataModel
import StrataSystem

extension CKShare {
    /// A user who takes part in a share, or is invited to it.
    public typealias Participant = CKShareParticipant
}

/// A user who takes part in a share, or is invited to it: `CKShare.Participant`. A lookup makes it.
///
/// ```swift
/// let ben = try await container.shareParticipant(forEmailAddress: "ben@example.com")
/// ben.permission = .readWrite
/// share.addParticipant(ben)
/// ```
///
/// Two participants are equal if they are the same person (B329), whatever their roles and permissions.
// @unchecked: the lock protects all mutable state.
public final class CKShareParticipant: NSObject, NSSecureCoding, NSCopying, CVarArg, @unchecked Sendable {
    /// Identifies a participant within a share.
    public typealias ID = String
    @available(*, deprecated, renamed: "CKShare.ParticipantAcceptanceStatus")
    public typealias AcceptanceStatus = CKShare.ParticipantAcceptanceStatus
    @available(*, deprecated, renamed: "CKShare.ParticipantPermission")
    public typealias Permission = CKShare.ParticipantPermission
    @available(*, deprecated, renamed: "CKShare.ParticipantRole")
    public typealias Role = CKShare.ParticipantRole

    struct Values: Sendable {
        var id = UUID().uuidString
        var identity: CKUserIdentity
        var role = CKShare.ParticipantRole.privateUser
        var permission = CKShare.ParticipantPermission.readOnly
        var status = CKShare.ParticipantAcceptanceStatus.pending
        var isApprovedRequester = false
        var added: Date?
        /// The token of the URL that only this participant can use; empty if there is none.
        var oneTimeToken = ""
    }

    private let state: Lock<Values>

    init(_ values: Values) {
        state = Lock(values)
        super.init()
    }

    /// Returns a participant who is the first to open the URL that ``CKShare/oneTimeURL(for:)`` returns (B328).
    public class func oneTimeURLParticipant() -> Self {
        Self(Values(identity: CKUserIdentity.unknown))
    }

    var values: Values {
        get { state.withLock { $0 } }
        set { state.withLock { $0 = newValue } }
    }

    /// The user.
    public var userIdentity: CKUserIdentity { values.identity }
    /// Identifies the participant within the share.
    public var participantID: ID { values.id }
    /// True if the user has joined the share.
    public var acceptanceStatus: CKShare.ParticipantAcceptanceStatus { values.status }
    /// True if the user asked for access and was then added.
    public var isApprovedRequester: Bool { values.isApprovedRequester }
    /// The time of the save that added the participant; nil until then.
    public var dateAddedToShare: Date? { values.added }

    /// The participant's role; saved with the share.
    public var role: CKShare.ParticipantRole {
        get { values.role }
        set { state.withLock { $0.role = newValue } }
    }

    /// The participant's permission; saved with the share.
    public var permission: CKShare.ParticipantPermission {
        get { values.permission }
        set { state.withLock { $0.permission = newValue } }
    }

    public override func isEqual(_ object: Any?) -> Bool {
        guard let other = object as? CKShareParticipant else { return false }
        return other === self || values.isSamePerson(as: other.values)
    }

    /// The same for all participants, since any of three properties can make two of them equal.
    public override var hash: Int { 0 }

    public override var description: String {
        let values = values
        return "<CKShareParticipant: \(values.identity), \(values.role), \(values.permission), \(values.status)>"
    }

    // MARK: NSSecureCoding, NSCopying

    public func copy(with zone: NSZone? = nil) -> Any { CKShareParticipant(values) }

    private static let block = "CKShareParticipant"

    public func encode(with coder: NSCoder) { ArchiveBlock.write(Self.block, to: coder) { $0.append(values) } }

    /// Decodes what ``encode(with:)`` encoded, also on Apple's platforms; nil if the archive is damaged.
    public convenience init?(coder: NSCoder) {
        let kept = ArchiveBlock.read(Self.block, from: coder) { try $0.readParticipant() }
        guard let values = kept ?? Values(ArchiveReader(coder)) else { return nil }
        self.init(values)
    }
}

extension CKUserIdentity {
    /// A user of whom nothing is known yet.
    static var unknown: CKUserIdentity {
        CKUserIdentity(lookupInfo: nil, nameComponents: nil, userRecordID: nil, hasiCloudAccount: false)
    }
}

extension CKShareParticipant.Values {
    /// Reads a participant in an archive from Apple's platforms; nil if the archive has none, or a damaged one.
    init?(_ archive: ArchiveReader) {
        guard archive.contains("ParticipantID"), archive.contains("AcceptanceStatus") else { return nil }
        self.init(identity: archive.object(CKUserIdentity.self, "UserIdentity") ?? .unknown)
        if let id = archive.string("ParticipantID") { self.id = id }
        role = archive.value("Type") ?? .unknown
        permission = archive.value("Permission") ?? .unknown
        status = archive.value("AcceptanceStatus") ?? .unknown
        isApprovedRequester = archive.bool("isApprovedRequester") ?? false
        guard archive.isIntact else { return nil }
    }

    func isSamePerson(as other: Self) -> Bool {
        if isSameText(id, other.id) { return true }
        if let user = identity.userRecordID, user == other.identity.userRecordID { return true }
        return identity.lookupInfo != nil && identity.lookupInfo == other.identity.lookupInfo
    }

    /// The participant as a request sends it.
    ///
    /// - Throws: ``CKError`` `invalidArguments` for a role or permission that no participant can be given (B331).
    func model(isOwner: Bool) throws(CKError) -> ShareChange.Participant {
        guard let role = ShareRole(role), isOwner || role != .owner else {
            throw CKError(.invalidArguments, message: "A participant cannot have the role \(self.role).")
        }
        guard let permission = SharePermission(permission) else {
            throw CKError(.invalidArguments, message: "A participant cannot have the permission \(self.permission).")
        }
        let info = identity.lookupInfo
        let subject: ShareChange.Participant.Subject =
            if let email = info?.emailAddress {
                .address(.email(email))
            } else if let phone = info?.phoneNumber {
                .address(.phone(phone))
            } else if let user = identity.userRecordID ?? info?.userRecordID {
                .user(recordName: user.recordName)
            } else {
                .oneTimeURL
            }
        return ShareChange.Participant(id, subject, role: role, permission: permission)
    }
}

extension ByteWriter {
    mutating func append(_ participant: CKShareParticipant.Values) {
        appendString(participant.id)
        append(participant.identity)
        append(UInt8(participant.role.rawValue))
        append(UInt8(participant.permission.rawValue))
        append(UInt8(participant.status.rawValue))
        append(participant.isApprovedRequester ? 1 : 0 as UInt8)
        append(optional: participant.added) { $1.append($0.timeIntervalSinceReferenceDate.bitPattern) }
        appendString(participant.oneTimeToken)
    }
}

extension ByteReader {
    mutating func readParticipant() throws -> CKShareParticipant.Values {
        let id = try readText("a participant's ID")
        return CKShareParticipant.Values(
            id: id, identity: try readUserIdentity(), role: try readCase("a role"),
            permission: try readCase("a permission"), status: try readCase("a status"),
            isApprovedRequester: try read(UInt8.self, "whether access was requested") == 1,
            added: try readOptional { try $0.readDate() }, oneTimeToken: try readText("a token"))
    }

    mutating func readCase<Value: RawRepresentable<Int>>(_ what: StaticString) throws -> Value {
        let number = try read(UInt8.self, what)
        guard let value = Value(rawValue: Int(number)) else {
            throw malformed(what, expected: "a known number", found: "\(number)")
        }
        return value
    }
}
