import StrataModel

/// Describes the changes of a share's participants in words, in place of the bytes that a share's record keeps.
enum ShareStateText {
    static let tokenName = "URL token"

    /// Returns a line for each difference between two states of a share; nil if a value is not such a state.
    static func lines(from old: FieldValue?, to new: FieldValue?) -> [(text: String, ink: TextStyle)]? {
        changes(from: old, to: new)?.map(\.line)
    }

    /// Returns the differences between two states of a share; nil if a value is not such a state.
    static func changes(from old: FieldValue?, to new: FieldValue?) -> [ChangeText]? {
        let (before, after) = (ShareState(old), ShareState(new))
        guard (old == nil) == (before == nil), (new == nil) == (after == nil) else { return nil }
        return changes(from: before, to: after)
    }

    /// Returns the differences between two states of a share; nil stands for a share that does not exist.
    static func changes(from before: ShareState?, to after: ShareState?) -> [ChangeText] {
        var changes: [ChangeText] = []
        func compare(_ name: String, _ old: String?, _ new: String?) {
            if old != new { changes.append(ChangeText(name: name, old: old, new: new)) }
        }
        compare(tokenName, before?.urlToken, after?.urlToken)
        compare("public", before?.publicPermission.name, after?.publicPermission.name)
        compare("access requests", before?.requestsText, after?.requestsText)
        let (left, right) = (before?.participants ?? [], after?.participants ?? [])
        for entry in left where !right.contains(where: { isSameText($0.id, entry.id) }) {
            compare("participant \(entry.nameText)", entry.text, nil)
        }
        for entry in right {
            let known = left.first { isSameText($0.id, entry.id) }
            compare("participant \(entry.nameText)", known?.text, entry.text)
        }
        for (name, old, new) in [
            ("asking", before?.requesters ?? [], after?.requesters ?? []),
            ("blocked", before?.blockedUsers ?? [], after?.blockedUsers ?? []),
        ] {
            for user in Set(old).union(new).sorted() {
                compare(
                    "\(name) \(Printable.escaped(user))", old.contains(user) ? "yes" : nil,
                    new.contains(user) ? "yes" : nil)
            }
        }
        return changes
    }
}

extension ShareState {
    /// The names of all users whom the state names.
    var users: [String] { participants.map(\.user).filter { !$0.isEmpty } + requesters + blockedUsers }

    var requestsText: String { allowsAccessRequests ? "allowed" : "not allowed" }
}

extension ShareParticipant {
    /// The participant's user name or address, escaped for display.
    var nameText: String { Self.nameText(subject) }

    static func nameText(_ subject: String?) -> String {
        subject.map { Printable.escaped($0) } ?? "the first user of a one-time URL"
    }

    /// The participant's user name or address; nil if the first user of a one-time URL becomes the participant.
    var subject: String? { user.nonempty ?? address?.text }

    var acceptanceText: String { hasAccepted ? "accepted" : "invited" }

    /// The participant's role, permission and acceptance.
    var text: String {
        let text = "\(role.name), \(permission.name)"
        return role == .owner ? text : text + ", \(acceptanceText)"
    }
}
