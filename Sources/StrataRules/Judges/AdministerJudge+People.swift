import StrataModel
import StrataViews

/// Judges changes to the names, addresses and roles of users (docs/rules.md §13).
extension AdministerJudge {
    mutating func setPerson(_ person: Person, of user: String, recordName: String?) throws -> Decision {
        if let recordName { try nameRecord(of: user, recordName) }
        for part in person.nameParts where part.utf8.count > Person.maximumNameBytes {
            throw Self.refusal("A part of a name has \(part.utf8.count) bytes, more than \(Person.maximumNameBytes).")
        }
        let emails = try checked(person.emails, .email, of: user)
        let phones = try checked(person.phones, .phone, of: user)
        return try setAccount(of: user, declares: true) { account in
            account.person.nameParts = person.nameParts
            account.person.emails = emails
            account.person.phones = phones
        }
    }

    /// - Throws: ``Refusal`` for a name that another user's record has, or that differs from the user's present one.
    private mutating func nameRecord(of user: String, _ recordName: String) throws {
        guard NameRules.isName(recordName), recordName.hasPrefix("_"), !recordName.hasPrefix("__") else {
            throw Self.refusal(
                "'\(recordName)' cannot be the name of a user's record: it must begin with one '_', and have at most "
                    + "255 characters, without control characters.")
        }
        guard try view.ordinal(of: .user(user)) == nil else {
            let known = try view.recordName(of: user)
            if isSameText(known, recordName) { return }
            throw Self.refusal("The record of the user '\(user)' is named '\(known)' already.")
        }
        guard try view.nameOfNewRecord(of: user) != nil else {
            throw Self.refusal("The store has no secret yet, so no name of a record can be chosen; open it again.")
        }
        if let other = try view.userName(ofRecord: recordName) {
            throw Self.refusal("The record of the user '\(other)' is named '\(recordName)'.")
        }
        names.nameRecord(of: user, recordName)
    }

    mutating func addAddress(_ address: String, to user: String) throws -> Decision {
        let person = try view.account(of: user).person
        switch UserAddress.Kind(of: address) {
        case .phone:
            let phones = try checked(person.phones + [address], .phone, of: user)
            return try setAccount(of: user) { $0.person.phones = phones }
        default:
            let emails = try checked(person.emails + [address], .email, of: user)
            return try setAccount(of: user) { $0.person.emails = emails }
        }
    }

    /// Users who get the role come first, in the order of the request, then those who lose it, by their ordinals.
    mutating func setRole(_ role: String, of users: [String]) throws -> Decision {
        try judging.limits.checkItemCount(users.count)
        guard SchemaName.isIdentifier(role) else {
            throw Refusal(
                .invalidArguments,
                "A role is a letter followed by letters, digits and underscores: '\(role)'.", rule: .declaredRoles)
        }
        var changes: [UserChangedEvent] = []
        var kept: Set<UInt64> = []
        for user in users {
            let person = try view.account(of: user).person
            guard person.roles.contains(role) || person.roles.count < Person.maximumListCount else {
                throw Self.refusal("A user has at most \(Person.maximumListCount) roles.")
            }
            let change = try change(of: user) { if !$0.person.roles.contains(role) { $0.person.roles.append(role) } }
            let isNew = kept.insert(try names.ordinal(of: .user(user))).inserted
            if let change, isNew { changes.append(change) }
        }
        for user in try view.fold.fork.users(inRole: role) where !kept.contains(user) {
            var account = try view.fold.fork.account(of: user)
            account.person.roles.removeAll { $0 == role }
            changes.append(
                UserChangedEvent(user: user, status: account.status, quota: account.quota, person: account.person))
        }
        return try setAccounts(of: changes)
    }

    /// Returns the addresses without those that are named before.
    private func checked(_ addresses: [String], _ kind: UserAddress.Kind, of user: String) throws -> [String] {
        var known: Set<UserAddress> = []
        var kept: [String] = []
        for text in addresses {
            let address = UserAddress(kind, text)
            guard text.utf8.count <= Person.maximumAddressBytes, Self.isAddress(text, kind, address.text) else {
                throw Self.refusal("'\(text.prefix(Person.maximumAddressBytes))' is not \(kind.nounWithArticle).")
            }
            if let ordinal = try view.fold.fork.user(at: address), try ordinal != view.ordinal(of: .user(user)) {
                let other = try view.fold.fork.user(ordinal) ?? "\(ordinal)"
                throw Self.refusal("The \(kind.noun) '\(text)' belongs to the user '\(other)'.")
            }
            if known.insert(address).inserted { kept.append(text) }
        }
        guard kept.count <= Person.maximumListCount else {
            throw Self.refusal("A user has at most \(Person.maximumListCount) addresses of a kind.")
        }
        return kept
    }

    private static func isAddress(_ text: String, _ kind: UserAddress.Kind, _ normalized: String) -> Bool {
        guard UserAddress.Kind(of: text) == kind else { return false }
        guard kind == .email else { return !normalized.isEmpty }
        let parts = text.split(separator: "@", omittingEmptySubsequences: false)
        return parts.count == 2 && parts.allSatisfy { !$0.isEmpty }
            && text.unicodeScalars.map(\.properties).allSatisfy { !$0.isWhitespace && $0.generalCategory != .control }
    }

    private static func refusal(_ message: String) -> Refusal {
        Refusal(.invalidArguments, message, rule: .administration)
    }
}
