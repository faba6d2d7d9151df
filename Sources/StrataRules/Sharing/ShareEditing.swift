import StrataModel
import StrataViews

/// Applies the changes of a save to the state of a share (docs/rules.md §15).
struct ShareEditing {
    private(set) var state: ShareState
    private let view: RulesView
    /// The name of the user who makes the changes.
    private let actor: String
    private let time: Int64
    private let judging: Judging
    /// The greatest permission that the user may give (B475).
    private var limit = SharePermission.readWrite
    /// The invitations that end because the share becomes public (B334).
    private var dropped: [ShareParticipant] = []

    init(_ state: ShareState, _ judging: Judging) {
        self.state = state
        view = judging.view
        actor = judging.actor.actor.user
        time = judging.context.time
        self.judging = judging
    }

    /// Creates the state of a new share (B316).
    init(new state: ShareState, _ judging: Judging) throws {
        self.init(state, judging)
        self.state.participants = [
            ShareParticipant(
                id: try judging.actor.recordName, user: actor, role: .owner, permission: .readWrite, hasAccepted: true,
                added: time)
        ]
    }

    mutating func apply(_ change: ShareChange) throws {
        guard change.changesParticipation else { return }
        let own = state.participant(ofUser: actor)
        guard own?.role == .owner || own?.role == .administrator && own?.hasAccepted == true else {
            throw Refusal(
                .permissionFailure, "Only the owner and administrators can change the participants of a share.",
                rule: .shareEditors)
        }
        if let own, own.role == .administrator { limit = own.permission }
        if let permission = change.publicPermission { try setPublicPermission(permission) }
        if let allows = change.allowsAccessRequests { state.allowsAccessRequests = allows }
        if let participants = change.participants { try setParticipants(participants) }
        try answerRequests(change)
        guard state.participants.count <= ShareState.maximumParticipants else {
            throw Refusal.tooManyParticipants
        }
    }

    private mutating func setPublicPermission(_ permission: SharePermission) throws {
        guard permission != state.publicPermission else { return }
        try checkGiven(permission, over: state.publicPermission)
        state.publicPermission = permission
        guard permission != .none else {
            state.participants.removeAll { $0.role != .owner }
            return
        }
        dropped = state.participants.filter { !$0.hasAccepted }
        state.participants.removeAll { !$0.hasAccepted }
        for index in state.participants.indices where state.participants[index].role == .publicUser {
            state.participants[index].permission = permission
        }
    }

    // MARK: Participants

    private mutating func setParticipants(_ entries: [ShareChange.Participant]) throws {
        let own = state.participant(ofUser: actor)
        let known = state.participants.count
        var named: Set<Int> = []
        for entry in entries where !dropped.contains(where: { isSameText($0.id, entry.id) }) {
            if try isOwner(entry) { continue }
            let user = try user(of: entry.subject)
            if let index = try index(of: entry, user) {
                // Dropped with the invitation that it means.
                if index >= state.participants.count { continue }
                named.insert(index)
                try update(index, by: entry)
            } else {
                try add(entry, user)
            }
        }
        let gone = (0..<known).filter { !named.contains($0) && state.participants[$0].role != .owner }
        for index in gone.reversed() { state.participants.remove(at: index) }
        guard own == nil || own == state.participant(ofUser: actor) else {
            throw Refusal(
                .permissionFailure, "Participants cannot change their own role or permission, nor remove themselves.",
                rule: .ownParticipation)
        }
    }

    /// Returns true for the owner's entry, which no one can change.
    private func isOwner(_ entry: ShareChange.Participant) throws -> Bool {
        guard let owner = state.participants.first(where: { $0.role == .owner && isSameText($0.id, entry.id) }) else {
            return false
        }
        guard entry.role == owner.role, entry.permission == owner.permission else {
            throw Refusal(
                .permissionFailure, "The role and permission of a share's owner cannot change.", rule: .shareEditors)
        }
        return true
    }

    /// Returns the user whom a participant stands for; nil if no user is known to have the address, and for a one-time
    /// URL.
    private func user(of subject: ShareChange.Participant.Subject) throws -> String? {
        switch subject {
        case .oneTimeURL: return nil
        case .address(let address):
            guard !address.compared.text.isEmpty, address.text.utf8.count <= Person.maximumAddressBytes else {
                throw invalid("A participant has an address of 1 to \(Person.maximumAddressBytes) bytes.")
            }
            return try view.userName(at: address.compared)
        case .user(let recordName): return try user(ofRecord: recordName)
        }
    }

    private func user(ofRecord name: String) throws -> String {
        if isSameText(name, "__defaultOwner__") { return actor }
        guard let user = try view.userName(ofRecord: name) else {
            throw Refusal(.unknownItem, "No user has the record '\(name)'.", rule: .invitedUsers)
        }
        return user
    }

    /// Returns the stored participant that is the same person (B329), behind whom are those who were dropped; nil for a
    /// new one.
    private func index(of entry: ShareChange.Participant, _ user: String?) throws -> Int? {
        let participants = state.participants + dropped
        if let index = participants.firstIndex(where: { isSameText($0.id, entry.id) && $0.role != .owner }) {
            return index
        }
        if case .address(let address) = entry.subject,
            let index = participants.firstIndex(where: { $0.address?.compared == address.compared })
        {
            return index
        }
        guard let user else { return nil }
        let index = try participants.firstIndex { participant in
            if !participant.user.isEmpty { return isSameText(participant.user, user) }
            guard let address = participant.address else { return false }
            return try view.userName(at: address.compared).map { isSameText($0, user) } ?? false
        }
        guard let index else { return nil }
        if participants[index].role == .owner { throw invalid("The owner of a share cannot be added to it.") }
        if case .address = entry.subject, participants[index].address != nil {
            throw Refusal(
                .participantAlreadyInvited,
                "The user of this address already participates in the share under another address.",
                rule: .participantLimit)
        }
        return index
    }

    private mutating func update(_ index: Int, by entry: ShareChange.Participant) throws {
        let isPublic = state.participants[index].role == .publicUser
        if isPublic, entry.role == .publicUser { return }
        try checkRole(entry)
        try checkGiven(entry.permission, over: state.participants[index].permission)
        state.participants[index].role = entry.role
        state.participants[index].permission = entry.permission
    }

    private mutating func add(_ entry: ShareChange.Participant, _ user: String?) throws {
        guard state.publicPermission == .none else {
            throw invalid("Participants can be added only to a share that is not public.")
        }
        guard NameRules.isLength(entry.id) else { throw invalid("A participant's ID has 1 to 255 characters.") }
        try checkRole(entry)
        try checkGiven(entry.permission, over: .none)
        var participant = ShareParticipant(
            id: entry.id, user: user ?? "", role: entry.role, permission: entry.permission, added: time)
        switch entry.subject {
        case .user: break
        case .address(let address): participant.address = address
        case .oneTimeURL:
            participant.oneTimeToken = try oneTimeToken(of: entry.id)
        }
        if let user {
            participant.isApprovedRequester = state.requesters.contains { isSameText($0, user) }
            state.requesters.removeAll { isSameText($0, user) }
            state.blockedUsers.removeAll { isSameText($0, user) }
        }
        state.participants.append(participant)
    }

    private func oneTimeToken(of participant: String) throws -> String {
        let saved = judging.savedShare { $0.urlToken == state.urlToken }?.oneTimeTokens
        return try saved?.first { isSameText($0.participant, participant) }?.token
            ?? judging.shareToken().oneTime(share: state.urlToken, participant: participant)
    }

    private func checkRole(_ entry: ShareChange.Participant) throws {
        guard entry.role == .privateUser || entry.role == .administrator else {
            throw invalid("A participant is added as a private user or an administrator.")
        }
    }

    /// - Parameter known: the permission before the change, which may stay.
    private func checkGiven(_ permission: SharePermission, over known: SharePermission) throws {
        guard permission > max(limit, known) else { return }
        throw Refusal(
            .permissionFailure,
            "An administrator of a share cannot give a greater permission than the own one, which is \(limit).",
            rule: .givenPermissions)
    }

    private func invalid(_ message: String) -> Refusal {
        Refusal(.invalidArguments, message, rule: .validParticipants)
    }

    // MARK: Requests for access

    private mutating func answerRequests(_ change: ShareChange) throws {
        for name in change.denied {
            let user = try user(ofRecord: name)
            state.requesters.removeAll { isSameText($0, user) }
        }
        for name in change.blocked {
            let user = try user(ofRecord: name)
            guard !isSameText(user, actor), state.participant(ofUser: user)?.role != .owner else {
                throw invalid("Neither the owner of a share nor oneself can be blocked.")
            }
            state.requesters.removeAll { isSameText($0, user) }
            state.participants.removeAll { isSameText($0.user, user) }
            if !state.blockedUsers.contains(where: { isSameText($0, user) }) { state.blockedUsers.append(user) }
        }
        for name in change.unblocked {
            let user = try user(ofRecord: name)
            state.blockedUsers.removeAll { isSameText($0, user) }
        }
    }
}

extension Refusal {
    static let tooManyParticipants = Refusal(
        .tooManyParticipants, "A share has at most \(ShareState.maximumParticipants) participants.",
        rule: .participantLimit)
}
