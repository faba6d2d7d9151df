import StrataModel

/// A part of a share's state that can change alone, such as the permission of one participant.
struct SharePart {
    enum Kind: String {
        case token, publicPermission, accessRequests, role, permission, acceptance, requester, blocked
    }

    /// Identifies the same part of other states of the share.
    struct ID: Hashable {
        let kind: Kind
        /// The ID of a participant or the name of a user; empty for a part of the share as a whole.
        var of = ""
    }

    let id: ID
    /// The user, or the address, of the participant; nil for another part, and for an unused one-time URL.
    var subject: String?
    let value: String

    /// Returns all parts of a state in a fixed order.
    static func all(of state: ShareState) -> [SharePart] {
        var parts = [
            SharePart(id: ID(kind: .token), value: state.urlToken),
            SharePart(id: ID(kind: .publicPermission), value: state.publicPermission.name),
            SharePart(id: ID(kind: .accessRequests), value: state.requestsText),
        ]
        for entry in state.participants {
            for (kind, value) in [
                (Kind.role, entry.role.name), (.permission, entry.permission.name), (.acceptance, entry.acceptanceText),
            ] {
                parts.append(SharePart(id: ID(kind: kind, of: entry.id), subject: entry.subject, value: value))
            }
        }
        for (kind, users) in [(Kind.requester, state.requesters), (.blocked, state.blockedUsers)] {
            parts += users.map { SharePart(id: ID(kind: kind, of: $0), subject: $0, value: "yes") }
        }
        return parts
    }

    var valueText: String { Printable.escaped(value) }

    /// The part in words, escaped for display.
    var text: String {
        let name = ShareParticipant.nameText(subject)
        return switch id.kind {
        case .token: ShareStateText.tokenName
        case .publicPermission: "public"
        case .accessRequests: "access requests"
        case .role: "participant \(name)"
        case .permission: "permission of \(name)"
        case .acceptance: "acceptance of \(name)"
        case .requester: "asking \(name)"
        case .blocked: "blocked \(name)"
        }
    }
}
