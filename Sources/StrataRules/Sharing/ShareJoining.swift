import StrataModel
import StrataViews

/// Makes a user a member of a share, or one who asks for access to it (docs/rules.md §15).
struct ShareJoining {
    private(set) var state: ShareState
    private let user: String
    private let view: RulesView
    private let time: Int64

    init(_ state: ShareState, user: String, _ view: RulesView, time: Int64) {
        (self.state, self.user, self.view, self.time) = (state, user, view, time)
    }

    private var isBlocked: Bool { state.blockedUsers.contains { isSameText($0, user) } }

    /// Returns true if the user was no member before.
    ///
    /// - Parameter oneTime: the participant whose one-time URL is used; empty for the URL of everybody.
    mutating func accept(oneTime id: String) throws -> Bool {
        let own = try ownIndex()
        let reserved = state.participants.firstIndex {
            !id.isEmpty && isSameText($0.id, id) && !$0.hasAccepted && $0.user.isEmpty
        }
        if let reserved {
            guard own == nil else {
                throw Refusal(
                    .participantAlreadyInvited, "A participant of the share cannot use the URL of another one.",
                    rule: .participantLimit)
            }
            try requireNotBlocked()
            enter(at: reserved)
            return true
        }
        if let own {
            if state.participants[own].hasAccepted { return false }
            enter(at: own)
            return true
        }
        guard state.publicPermission != .none else { throw Self.notInvited }
        try requireNotBlocked()
        guard state.participants.count < ShareState.maximumParticipants else { throw Refusal.tooManyParticipants }
        state.participants.append(
            ShareParticipant(
                id: try view.recordName(of: user), role: .publicUser, permission: state.publicPermission, added: time))
        enter(at: state.participants.count - 1)
        return true
    }

    /// Returns true if the user asks for access now, and did not before.
    mutating func requestAccess() throws -> Bool {
        guard state.allowsAccessRequests, !isBlocked, state.requesters.count < ShareState.maximumRequesters,
            try ownIndex() == nil, !state.requesters.contains(where: { isSameText($0, user) })
        else { return false }
        state.requesters.append(user)
        return true
    }

    /// The participant that the user is, by name or by the address of an invitation.
    private func ownIndex() throws -> Int? {
        if let index = state.participants.firstIndex(where: { isSameText($0.user, user) }) { return index }
        return try state.participants.firstIndex { participant in
            guard participant.user.isEmpty, !participant.hasAccepted, let address = participant.address else {
                return false
            }
            return try view.userName(at: address.compared).map { isSameText($0, user) } ?? false
        }
    }

    private mutating func enter(at index: Int) {
        state.participants[index].user = user
        state.participants[index].hasAccepted = true
        state.requesters.removeAll { isSameText($0, user) }
    }

    private func requireNotBlocked() throws {
        if isBlocked { throw Self.notInvited }
    }

    private static let notInvited = Refusal(
        .permissionFailure, "The share is not public, and the user was not invited to it.", rule: .invitedOnly)
}
