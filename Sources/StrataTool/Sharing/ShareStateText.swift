import StrataModel

/// Describes the changes of a share's participants in words, in place of the bytes that a share's record keeps.
enum ShareStateText {
    /// Returns a line for each difference between two states of a share; nil if a value is not such a state.
    static func lines(from old: FieldValue?, to new: FieldValue?) -> [(text: String, ink: TextStyle)]? {
        guard let old = state(old), let new = state(new) else { return nil }
        var lines: [(String, TextStyle)] = []
        func compare(_ name: String, _ old: String?, _ new: String?) {
            switch (old, new) {
            case (nil, let new?): lines.append(("+ \(name): \(new)", .added))
            case (let old?, nil): lines.append(("- \(name): \(old)", .removed))
            case (let old?, let new?) where old != new: lines.append(("~ \(name): \(old) -> \(new)", .place))
            default: break
            }
        }
        compare("public", old.map(\.publicPermission.name), new.map(\.publicPermission.name))
        compare("access requests", old.map(requestText), new.map(requestText))
        let (before, after) = (old?.participants ?? [], new?.participants ?? [])
        for entry in before where !after.contains(where: { isSameText($0.id, entry.id) }) {
            compare("participant \(entry.nameText)", text(of: entry), nil)
        }
        for entry in after {
            let known = before.first { isSameText($0.id, entry.id) }
            compare("participant \(entry.nameText)", known.map(text), text(of: entry))
        }
        for (name, old, new) in [
            ("asking", old?.requesters ?? [], new?.requesters ?? []),
            ("blocked", old?.blockedUsers ?? [], new?.blockedUsers ?? []),
        ] {
            for user in Set(old).union(new).sorted() {
                compare(
                    "\(name) \(Printable.escaped(user))", old.contains(user) ? "yes" : nil,
                    new.contains(user) ? "yes" : nil)
            }
        }
        return lines
    }

    /// Returns nil for a value that is not a share's state; the state of no value is nil as well.
    private static func state(_ value: FieldValue?) -> ShareState?? {
        switch value {
        case nil: .some(nil)
        case .data(let bytes)?: (try? ShareState(decoding: bytes[...])).map { .some($0) }
        default: nil
        }
    }

    private static func requestText(_ state: ShareState) -> String {
        state.allowsAccessRequests ? "allowed" : "not allowed"
    }

    private static func text(of entry: ShareParticipant) -> String {
        let text = "\(entry.role.name), \(entry.permission.name)"
        return entry.role == .owner ? text : text + (entry.hasAccepted ? ", accepted" : ", invited")
    }
}

extension ShareParticipant {
    /// The participant's user name or address, escaped for display.
    var nameText: String {
        if !user.isEmpty { return Printable.escaped(user) }
        switch address {
        case .email(let address), .phone(let address): return Printable.escaped(address)
        case nil: return "the first user of a one-time URL"
        }
    }
}
