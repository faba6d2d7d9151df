import StrataModel
import StrataViews

/// The effect of a request on one share.
struct ShareEffect {
    /// Nil for a new share.
    let before: ShareState?
    /// Nil if the share ends.
    var after: ShareState?

    /// Appends the events that state who finds the share and who is its member, as far as that changes.
    ///
    /// - Parameters:
    ///   - record: the share's record, by the store's ordinals.
    ///   - user: returns the ordinal of a user.
    func append(
        of record: RecordKey, to commit: inout CommitBuilder, _ view: RulesView, user: (String) throws -> UInt64
    ) throws {
        guard let state = after ?? before else { return }
        if before.map(Self.findable) != after.map(Self.findable) {
            try commit.append(
                ShareSavedEvent(
                    share: state.number, record: record, root: state.root, publicPermission: state.publicPermission,
                    urlToken: state.urlToken, oneTimeTokens: Self.findable(state).tokens, isEnded: after == nil))
        }
        let (old, new) = (Self.members(of: before), Self.members(of: after))
        for member in old where !new.contains(where: { isSameText($0.user, member.user) }) {
            try append(member, isGone: true, state.number, in: record.zone, to: &commit, view, user)
        }
        for member in new {
            let known = old.first { isSameText($0.user, member.user) }
            if let known, (known.permission, known.role) == (member.permission, member.role) { continue }
            try append(member, isGone: false, state.number, in: record.zone, to: &commit, view, user)
        }
    }

    private func append(
        _ member: ShareParticipant, isGone: Bool, _ share: UInt64, in zone: UInt64, to commit: inout CommitBuilder,
        _ view: RulesView, _ user: (String) throws -> UInt64
    ) throws {
        let ordinal = try user(member.user)
        let known = try view.fold.fork.memberships(of: ordinal, in: zone).first { $0.share == share && !$0.isGone }
        // Access that comes back begins a new life, or feeds could not tell what the member has missed.
        let isBack = known?.permission == SharePermission.none && member.permission != .none
        try commit.append(
            MemberChangedEvent(
                user: ordinal, share: share, zone: zone, permission: member.permission, role: member.role,
                joined: isBack ? nil : known?.joined,
                ended: isGone || member.permission == .none ? known?.ended : nil, isGone: isGone))
    }

    /// The parts of a state that the views need to find a share.
    private struct Findable: Equatable {
        var permission: SharePermission
        var urlToken: String
        var tokens: [ShareSavedEvent.OneTimeToken]
    }

    private static func findable(_ state: ShareState) -> Findable {
        Findable(
            permission: state.publicPermission, urlToken: state.urlToken,
            tokens: state.participants.compactMap { participant in
                participant.oneTimeToken.isEmpty ? nil : .init(participant.oneTimeToken, of: participant.id)
            })
    }

    private static func members(of state: ShareState?) -> [ShareParticipant] {
        state?.participants.filter { $0.hasAccepted && $0.role != .owner } ?? []
    }
}

extension ShareState {
    /// Returns the value of the reserved key.
    func value() throws -> FieldValue { .data(try encoded()) }
}
