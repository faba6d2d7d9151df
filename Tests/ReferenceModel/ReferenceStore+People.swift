import StrataModel

/// docs/rules.md §13: names, addresses and roles.
extension ReferenceStore {
    mutating func setPerson(_ person: Person, of user: String) throws(Refusal) -> RequestResult {
        let longest = person.nameParts.map(\.utf8.count).max() ?? 0
        guard longest <= 1_024 else { throw Self.refusal("a long name") }
        let emails = try accepted(person.emails, areEmails: true, of: user)
        let phones = try accepted(person.phones, areEmails: false, of: user)
        return try setAccount(of: user) { account in
            account.person.nameParts = person.nameParts
            account.person.emails = emails
            account.person.phones = phones
        }
    }

    mutating func addAddress(_ address: String, to user: String) throws(Refusal) -> RequestResult {
        let person = state.accounts[user]?.person ?? Person()
        if address.contains("@") {
            let emails = try accepted(person.emails + [address], areEmails: true, of: user)
            return try setAccount(of: user) { $0.person.emails = emails }
        }
        let phones = try accepted(person.phones + [address], areEmails: false, of: user)
        return try setAccount(of: user) { $0.person.phones = phones }
    }

    mutating func setRole(_ role: String, of users: [String]) throws(Refusal) -> RequestResult {
        try checkItemCount(users.count)
        guard ReferenceName(role).isLegalWord else {
            throw Refusal(.invalidArguments, "no role", rule: .declaredRoles)
        }
        guard !users.contains("") else { throw Self.refusal("nobody's account") }
        var accounts = state.accounts
        if !bends(.rolesHaveNoMembers) {
            for user in users where accounts[user, default: ReferenceAccount()].person.roles.contains(role) == false {
                accounts[user, default: ReferenceAccount()].person.roles.append(role)
            }
        }
        if !bends(.membersStay) {
            for user in accounts.keys where !users.contains(user) {
                accounts[user]?.person.roles.removeAll { $0 == role }
            }
        }
        accounts = accounts.filter { $0.value != ReferenceAccount() }
        if accounts != state.accounts { beginCommit() }
        state.accounts = accounts
        return RequestResult()
    }

    /// The addresses, each once, if they are that and nobody else's.
    private func accepted(
        _ addresses: [String], areEmails: Bool, of user: String
    ) throws(Refusal) -> [String] {
        func plain(_ address: String) -> String {
            areEmails ? address.lowercased() : address.filter { "0123456789".contains($0) }
        }
        var result: [String] = []
        for address in addresses {
            let parts = address.split(separator: "@", omittingEmptySubsequences: false)
            let isRight =
                areEmails
                ? parts.count == 2 && parts.allSatisfy { !$0.isEmpty } && !address.contains(" ")
                : parts.count == 1 && !plain(address).isEmpty
            guard isRight, address.utf8.count <= 254 else { throw Self.refusal("no address") }
            let isTaken = state.accounts.contains { other, account in
                let theirs = areEmails ? account.person.emails : account.person.phones
                return other != user && theirs.contains { plain($0) == plain(address) }
            }
            guard !isTaken || bends(.addressOfTwoUsers) else { throw Self.refusal("somebody else's") }
            if !result.contains(where: { plain($0) == plain(address) }) { result.append(address) }
        }
        guard result.count <= 100 else { throw Self.refusal("too many") }
        return result
    }

    private static func refusal(_ message: String) -> Refusal {
        Refusal(.invalidArguments, message, rule: .administration)
    }
}
