import Foundation
import StrataModel
import StrataStore

/// The state of a share, which is separate from its record's fields, and the caller's changes since.
struct ShareFields: Sendable {
    /// The state as it was fetched or saved, to tell what the caller changed.
    struct Original: Sendable {
        var participants: [CKShareParticipant.Values] = []
        var publicPermission = CKShare.ParticipantPermission.none
        var allowsAccessRequests = false
    }

    /// The name of the root of a new share; nil for a share of a whole zone.
    var root: String?
    /// The part of the URL before the token.
    var urlBase = ""
    /// The token of the URL; empty before the first save.
    var token = ""
    /// The fragment of the URL in an archive from Apple's platforms; nil if the title is the fragment.
    var fragment: String?
    var original = Original()
    /// The owner first.
    var participants: [CKShareParticipant] = []
    var publicPermission = CKShare.ParticipantPermission.none
    var allowsAccessRequests = false
    var requesters: [CKShareAccessRequester] = []
    var blocked: [CKShareBlockedIdentity] = []
    /// The record names of the users whom the caller denied, blocked and unblocked.
    var denied: [String] = []
    var blockedNames: [String] = []
    var unblocked: [String] = []
    /// The reason why the share cannot be saved (B270).
    var mistake: String?

    /// The state of a new share, whose owner is the current user.
    init(root: String?) {
        self.root = root
        let me = CKUserIdentity(
            lookupInfo: nil, nameComponents: nil, userRecordID: CKRecordID(recordName: CKCurrentUserDefaultName),
            hasiCloudAccount: true)
        participants = [
            CKShareParticipant(.init(identity: me, role: .owner, permission: .readWrite, status: .accepted))
        ]
    }

    init(_ state: ShareState, for client: Client) throws {
        let opened = try client.opened()
        let snapshot = opened.store.newest
        root = state.root
        urlBase = opened.options.shareURLBase
        token = state.urlToken
        participants = try state.participants.map { participant in
            CKShareParticipant(
                .init(
                    id: participant.id, identity: try Self.identity(of: participant, snapshot, client),
                    role: .init(participant.role), permission: .init(participant.permission),
                    status: participant.hasAccepted ? .accepted : .pending,
                    isApprovedRequester: participant.isApprovedRequester,
                    added: participant.added == 0 ? nil : Date(microseconds: participant.added),
                    oneTimeToken: participant.oneTimeToken))
        }
        publicPermission = .init(state.publicPermission)
        allowsAccessRequests = state.allowsAccessRequests
        requesters = try state.requesters.map { user in
            let person = try snapshot.person(of: user) ?? Person()
            let info: CKUserIdentityLookupInfo =
                if let email = person.emails.first {
                    .init(emailAddress: email)
                } else if let phone = person.phones.first {
                    .init(phoneNumber: phone)
                } else {
                    .init(userRecordID: CKRecordID(recordName: try snapshot.recordName(of: user)))
                }
            return CKShareAccessRequester(try CKUserIdentity(person, of: user, in: snapshot, lookupInfo: info))
        }
        blocked = try state.blockedUsers.map { user in
            CKShareBlockedIdentity(
                try CKUserIdentity(
                    snapshot.person(of: user) ?? Person(), of: user, in: snapshot, lookupInfo: nil))
        }
        keepAsOriginal()
    }

    private static func identity(
        of participant: ShareParticipant, _ snapshot: StoreSnapshot, _ client: Client
    ) throws -> CKUserIdentity {
        let info: CKUserIdentityLookupInfo? =
            switch participant.address {
            case .email(let address): .init(emailAddress: address)
            case .phone(let address): .init(phoneNumber: address)
            case nil: nil
            }
        if !participant.user.isEmpty {
            let person = try snapshot.person(of: participant.user) ?? Person()
            return try CKUserIdentity(person, of: participant.user, in: snapshot, lookupInfo: info, for: client)
        }
        // An address may have become a user's after the invitation.
        if let info, let found = try snapshot.user(at: info.address(for: client.userRecordName)) {
            return try CKUserIdentity(found.person, of: found.name, in: snapshot, lookupInfo: info, for: client)
        }
        return CKUserIdentity(lookupInfo: info, nameComponents: nil, userRecordID: nil, hasiCloudAccount: false)
    }

    private mutating func keepAsOriginal() {
        original = Original(
            participants: participants.map(\.values), publicPermission: publicPermission,
            allowsAccessRequests: allowsAccessRequests)
    }

    // MARK: Saving

    /// Returns what a request sends of the state: what the caller changed.
    ///
    /// - Throws: ``CKError`` `invalidArguments` for what raises an exception on Apple's platforms (B331).
    func change() throws(CKError) -> ShareChange {
        if let mistake { throw CKError(.invalidArguments, message: mistake) }
        var change = ShareChange(root: root)
        let sent = participants.map(\.values)
        if !Self.isSame(sent, original.participants) {
            var list: [ShareChange.Participant] = []
            for (index, participant) in sent.enumerated() {
                // The owner, whose entry the store refuses if the caller changed it (B332).
                if index == 0, participant.role == .owner, participant.permission == .readWrite { continue }
                list.append(try participant.model(isOwner: index == 0))
            }
            change.participants = list
        }
        if publicPermission != original.publicPermission {
            guard let permission = SharePermission(publicPermission) else {
                throw CKError(.invalidArguments, message: "A share cannot have the public permission unknown.")
            }
            change.publicPermission = permission
        }
        if allowsAccessRequests != original.allowsAccessRequests { change.allowsAccessRequests = allowsAccessRequests }
        (change.denied, change.blocked, change.unblocked) = (denied, blockedNames, unblocked)
        return change
    }

    private static func isSame(_ one: [CKShareParticipant.Values], _ other: [CKShareParticipant.Values]) -> Bool {
        one.elementsEqual(other) {
            $0.isSamePerson(as: $1) && $0.role == $1.role && $0.permission == $1.permission
        }
    }

    /// Takes over what the store made of the state that a request sent (B319). What the caller changed since stays
    /// changed.
    mutating func markSaved(_ sent: ShareFields, as saved: ShareFields) {
        (root, urlBase, token, fragment, mistake) = (saved.root, saved.urlBase, saved.token, nil, nil)
        if publicPermission == sent.publicPermission { publicPermission = saved.publicPermission }
        if allowsAccessRequests == sent.allowsAccessRequests { allowsAccessRequests = saved.allowsAccessRequests }
        var current = participants
        for (place, participant) in saved.participants.enumerated() {
            let values = participant.values
            let known = current.first {
                place == 0 ? $0.role == .owner : $0.values.isSamePerson(as: values)
            }
            if let known {
                let (role, permission) = (known.role, known.permission)
                known.values = values
                if place > 0 { (known.role, known.permission) = (role, permission) }
            } else if !sent.participants.contains(where: { $0.values.isSamePerson(as: values) }) {
                current.append(participant)
            }
        }
        participants = current
        if requesters == sent.requesters { requesters = saved.requesters }
        if blocked == sent.blocked { blocked = saved.blocked }
        denied.removeAll { sent.denied.contains($0) }
        blockedNames.removeAll { sent.blockedNames.contains($0) }
        unblocked.removeAll { sent.unblocked.contains($0) }
        original = saved.original
    }

    /// Returns the state with participants of its own, which later changes of the caller's do not reach.
    var copied: ShareFields {
        var copy = self
        copy.participants = participants.map { CKShareParticipant($0.values) }
        return copy
    }
}

extension CKUserIdentity {
    /// The identity of a user as a client gets it: the current user's record is named `__defaultOwner__` (B386).
    convenience init(
        _ person: Person, of user: String, in snapshot: StoreSnapshot, lookupInfo: LookupInfo?, for client: Client
    ) throws {
        let identity = try CKUserIdentity(person, of: user, in: snapshot, lookupInfo: lookupInfo)
        let isMe = isSameText(user, client.actor.user)
        self.init(
            lookupInfo: lookupInfo, nameComponents: identity.nameComponents,
            userRecordID: isMe ? CKRecordID(recordName: CKCurrentUserDefaultName) : identity.userRecordID,
            hasiCloudAccount: true)
    }
}

extension ShareFields {
    func append(to writer: inout ByteWriter) {
        writer.append(optional: root) { $1.appendString($0) }
        writer.appendString(urlBase)
        writer.appendString(token)
        for list in [original.participants, participants.map(\.values)] {
            writer.appendVarint(UInt64(list.count))
            for participant in list { writer.append(participant) }
        }
        for permission in [original.publicPermission, publicPermission] { writer.append(UInt8(permission.rawValue)) }
        for allows in [original.allowsAccessRequests, allowsAccessRequests] { writer.append(allows ? 1 : 0 as UInt8) }
        for list in [requesters.map(\.userIdentity), blocked.map(\.userIdentity)] {
            writer.appendVarint(UInt64(list.count))
            for identity in list { writer.append(identity) }
        }
        for names in [denied, blockedNames, unblocked] {
            writer.appendVarint(UInt64(names.count))
            for name in names { writer.appendString(name) }
        }
        writer.append(optional: mistake) { $1.appendString($0) }
        if let fragment { writer.appendString(fragment) }
    }

    init(from reader: inout ByteReader) throws {
        root = try reader.readOptional { try $0.readText("a root's name") }
        urlBase = try reader.readText("the base of a URL")
        token = try reader.readText("a token")
        original.participants = try reader.readItems { try $0.readParticipant() }
        participants = try reader.readItems { CKShareParticipant(try $0.readParticipant()) }
        original.publicPermission = try reader.readCase("a permission")
        publicPermission = try reader.readCase("a permission")
        original.allowsAccessRequests = try reader.read(UInt8.self, "whether access may be requested") == 1
        allowsAccessRequests = try reader.read(UInt8.self, "whether access may be requested") == 1
        requesters = try reader.readItems { CKShareAccessRequester(try $0.readUserIdentity()) }
        blocked = try reader.readItems { CKShareBlockedIdentity(try $0.readUserIdentity()) }
        denied = try reader.readItems { try $0.readText("a user") }
        blockedNames = try reader.readItems { try $0.readText("a user") }
        unblocked = try reader.readItems { try $0.readText("a user") }
        mistake = try reader.readOptional { try $0.readText("a mistake") }
        if reader.remaining > 0 { fragment = try reader.readText("a fragment") }
    }

    /// Reads the state of a share in an archive from Apple's platforms; nil if the archive has none, or a damaged one.
    init?(_ archive: ArchiveReader) {
        guard archive.contains("PublicPermission"),
            let participants = archive.list(of: CKShareParticipant.self, "Participants")
        else { return nil }
        self.init(root: archive.object(CKRecordID.self, "RootRecordID")?.recordName)
        self.participants = participants.filter { $0.role == .owner } + participants.filter { $0.role != .owner }
        publicPermission = archive.value("PublicPermission") ?? .unknown
        allowsAccessRequests = archive.bool("AccessRequestsEnabled") ?? false
        keepAsOriginal()
        if let fetched = archive.list(of: CKShareParticipant.self, "LastFetchedParticipants") {
            original.participants = fetched.map(\.values)
        }
        guard archive.isIntact else { return nil }
        guard let url = archive.url("URL")?.absoluteString else { return }
        let parts = url.split(separator: "#", maxSplits: 1, omittingEmptySubsequences: false)
        let start = parts[0].lastIndex(of: "/").map { parts[0].index(after: $0) } ?? url.startIndex
        (urlBase, token) = (String(parts[0][..<start]), String(parts[0][start...]))
        fragment = parts.count == 2 ? String(parts[1]) : nil
    }
}

extension ByteReader {
    fileprivate mutating func readItems<Item>(_ item: (inout ByteReader) throws -> Item) throws -> [Item] {
        let count = try readVarint("the number of items")
        var items: [Item] = []
        // The count may be damaged, so that no memory is reserved for it.
        for _ in 0..<count { items.append(try item(&self)) }
        return items
    }
}
