import Foundation
import StrataModel
import StrataSystem

/// The record that shares a hierarchy of records, or a whole zone, with other users.
///
/// ```swift
/// let share = CKShare(rootRecord: list)
/// share[CKShare.SystemFieldKey.title] = "Groceries"
/// share.publicPermission = .readWrite
/// try await database.modifyRecords(saving: [list, share], deleting: [])
/// print(share.url!)
/// ```
///
/// Misuse that raises an exception on Apple's platforms makes the save fail with `invalidArguments` (B331).
// @unchecked: the lock protects all mutable state.
public final class CKShare: CKRecord, @unchecked Sendable {
    private let sharing: Lock<ShareFields>

    /// Creates a share of a record and of all records below it, and sets the record's ``CKRecord/share`` (B301). Save
    /// both in one request (B304).
    public convenience init(rootRecord: CKRecord) {
        let id = CKRecordID(
            recordName: "Share-\(UUID().uuidString)", zoneID: rootRecord.recordID.zoneID)
        self.init(rootRecord: rootRecord, shareID: id)
    }

    /// Creates a share with an ID, which must be in the record's zone (B302).
    public init(rootRecord: CKRecord, shareID: CKRecordID) {
        var fields = ShareFields(root: rootRecord.recordID.recordName)
        if rootRecord.recordID.zoneID != shareID.zoneID {
            fields.mistake = "The share \(shareID.recordName) is not in the zone of its root."
        }
        sharing = Lock(fields)
        super.init(SystemType.share, shareID, RecordFields(.new, in: shareID.zoneID, isPartial: false))
        if fields.mistake == nil { rootRecord.setShare(CKReference(recordID: shareID, action: .none)) }
    }

    /// Creates a share of a whole zone (B303).
    public init(recordZoneID: CKRecordZoneID) {
        sharing = Lock(ShareFields(root: nil))
        let id = CKRecordID(recordName: ShareState.zoneWideName, zoneID: recordZoneID)
        super.init(SystemType.share, id, RecordFields(.new, in: recordZoneID, isPartial: false))
    }

    init(_ id: CKRecordID, _ fields: RecordFields, _ sharing: ShareFields) {
        self.sharing = Lock(sharing)
        super.init(SystemType.share, id, fields)
    }

    // MARK: The share

    /// The URL by which others join; nil before the first save. Its fragment is the title, for readers alone.
    public var url: URL? { url(sharing.withLock { $0.token }) }

    private func url(_ token: String) -> URL? {
        guard !token.isEmpty else { return nil }
        let (base, archived) = sharing.withLock { ($0.urlBase, $0.fragment) }
        if let archived { return URL(string: "\(base)\(token)#\(archived)") }
        let title = (self[SystemFieldKey.title] as String?).map { $0.replacingOccurrences(of: " ", with: "_") }
        let fragment = title?.addingPercentEncoding(withAllowedCharacters: .alphanumerics.union(["_", "-"]))
        return URL(string: base + token + (fragment.map { "#" + $0 } ?? ""))
    }

    /// The permission of everybody who has the URL; by default none.
    ///
    /// Setting it to `readOnly` or `readWrite` removes the participants who have not accepted (B334); setting it to
    /// `none` removes all but the owner (B335).
    public var publicPermission: ParticipantPermission {
        get { sharing.withLock { $0.publicPermission } }
        set {
            sharing.withLock { fields in
                guard newValue != fields.publicPermission else { return }
                fields.publicPermission = newValue
                fields.participants.removeAll { participant in
                    participant.role != .owner && (newValue == .none || participant.acceptanceStatus != .accepted)
                }
            }
        }
    }

    /// The participants whom the current user may see, the owner first (B337).
    public var participants: [Participant] { sharing.withLock { $0.participants } }

    /// The user in whose database the share is.
    public var owner: Participant {
        sharing.withLock { $0.participants.first { $0.role == .owner } }
            ?? Participant(.init(identity: .unknown, role: .owner, permission: .readWrite, status: .accepted))
    }

    /// The current user's own entry; nil for a user who has not joined a public share.
    public var currentUserParticipant: Participant? {
        participants.first { $0.userIdentity.userRecordID?.recordName == CKCurrentUserDefaultName }
    }

    /// Adds a participant, who gets access once the share is saved and they have accepted. A participant who is equal
    /// to one in the share gives that one their role and permission instead (B330).
    public func addParticipant(_ participant: Participant) {
        let added = participant.values
        sharing.withLock { fields in
            let known = fields.participants.first { $0 === participant || $0.values.isSamePerson(as: added) }
            if known?.role == .owner || added.role == .owner {
                fields.mistake = "The owner of a share cannot be added to it."
            } else if let known {
                (known.role, known.permission) = (added.role, added.permission)
            } else if fields.publicPermission != .none {
                fields.mistake = "Participants can be added only to a share that is not public."
            } else {
                fields.participants.append(participant)
            }
        }
    }

    /// Removes a participant, whose access ends once the share is saved (B339).
    public func removeParticipant(_ participant: Participant) {
        let removed = participant.values
        sharing.withLock { fields in
            let place = fields.participants.firstIndex { $0 === participant || $0.values.isSamePerson(as: removed) }
            guard let place else { return fields.mistake = "A participant was removed who is not in the share." }
            guard fields.participants[place].role != .owner else {
                return fields.mistake = "The owner of a share cannot be removed from it."
            }
            fields.participants.remove(at: place)
        }
    }

    /// Returns the URL that only the participant can use whom ``CKShareParticipant/oneTimeURLParticipant()`` made; nil
    /// before the share is saved (B328).
    public func oneTimeURL(for participantID: Participant.ID) -> URL? {
        let participant = participants.first { isSameText($0.participantID, participantID) }
        return participant.flatMap { url($0.values.oneTimeToken) }
    }

    // MARK: Requests for access

    /// The users who ask for access.
    public var requesters: [AccessRequester] { sharing.withLock { $0.requesters } }
    /// The users who may not ask for access.
    public var blockedIdentities: [BlockedIdentity] { sharing.withLock { $0.blocked } }

    /// True if users who have the URL may ask for access; false by default.
    public var allowsAccessRequests: Bool {
        get { sharing.withLock { $0.allowsAccessRequests } }
        set { sharing.withLock { $0.allowsAccessRequests = newValue } }
    }

    /// Denies requests, once the share is saved. The users may ask again.
    public func denyRequesters(_ requesters: [AccessRequester]) {
        sharing.withLock { fields in
            fields.denied += requesters.compactMap(\.userIdentity.userRecordID?.recordName)
            fields.requesters.removeAll { requesters.contains($0) }
        }
    }

    /// Denies requests, and lets the users neither ask again nor take part, once the share is saved.
    public func blockRequesters(_ requesters: [AccessRequester]) {
        sharing.withLock { fields in
            fields.blockedNames += requesters.compactMap(\.userIdentity.userRecordID?.recordName)
            fields.requesters.removeAll { requesters.contains($0) }
            fields.blocked += requesters.map { BlockedIdentity($0.userIdentity) }
        }
    }

    /// Lets users ask again, once the share is saved.
    public func unblockIdentities(_ blockedIdentities: [BlockedIdentity]) {
        sharing.withLock { fields in
            fields.unblocked += blockedIdentities.compactMap(\.userIdentity.userRecordID?.recordName)
            fields.blocked.removeAll { blockedIdentities.contains($0) }
        }
    }

    // MARK: Saving

    /// The part of the URL that identifies the share.
    var token: String { sharing.withLock { $0.token } }

    override var sentSharing: ShareFields? { sharing.withLock { $0 }.copied }

    override func didSave(as saved: CKRecord, sent: RecordFields, sharing sentSharing: ShareFields?) {
        super.didSave(as: saved, sent: sent, sharing: sentSharing)
        guard let saved = saved as? CKShare, let sentSharing else { return }
        let state = saved.sharing.withLock { $0 }
        sharing.withLock { $0.markSaved(sentSharing, as: state) }
    }

    // MARK: NSSecureCoding, NSCopying

    public override func copy(with zone: NSZone? = nil) -> Any {
        CKShare(recordID, withFields { $0 }, sharing.withLock { $0 }.copied)
    }

    private static let block = "CKShare"

    private func encodeSharing(with coder: NSCoder) {
        let fields = sharing.withLock { $0 }
        ArchiveBlock.write(Self.block, to: coder) { fields.append(to: &$0) }
    }

    public override func encode(with coder: NSCoder) {
        super.encode(with: coder)
        encodeSharing(with: coder)
    }

    /// Encodes the share's ID, version, URL, permissions and participants, without its fields.
    public override func encodeSystemFields(with coder: NSCoder) {
        super.encodeSystemFields(with: coder)
        encodeSharing(with: coder)
    }

    /// Decodes what ``encode(with:)`` or ``encodeSystemFields(with:)`` encoded, also on Apple's platforms; nil if the
    /// archive is damaged.
    public required init?(coder: NSCoder) {
        let kept = ArchiveBlock.read(Self.block, from: coder) { try ShareFields(from: &$0) }
        guard let kept = kept ?? ShareFields(ArchiveReader(coder)) else { return nil }
        sharing = Lock(kept)
        super.init(coder: coder)
        guard recordType == SystemType.share else { return nil }
    }
}
