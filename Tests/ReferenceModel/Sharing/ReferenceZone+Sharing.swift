import StrataModel

/// Which records belong to which shares, by walking up the parents of each, every time.
extension ReferenceZone {
    /// The names of the records that are shares.
    package var shares: [ReferenceName] { records.keys.filter { records[$0]?.sharing != nil }.sorted() }

    /// The share of the whole zone.
    package var zoneShare: ShareState? { records[.zoneShare]?.sharing }

    /// The share whose root a record is.
    package func share(ofRoot name: ReferenceName) -> ReferenceName? {
        shares.first { records[$0]?.sharing?.root.map { ReferenceName($0) } == name }
    }

    /// The record, its parent, and so on; each once.
    package func ancestry(of name: ReferenceName) -> [ReferenceName] {
        var names = [name]
        while let parent = records[names[names.count - 1]]?.parent, !names.contains(parent), records[parent] != nil {
            names.append(parent)
        }
        return names
    }

    /// The records under one, itself included.
    package func descendants(of name: ReferenceName) -> [ReferenceName] {
        records.keys.filter { ancestry(of: $0).contains(name) }.sorted()
    }

    /// The hierarchical share to which a record belongs: that of the nearest root.
    package func share(containing name: ReferenceName) -> ReferenceName? {
        for ancestor in ancestry(of: name) {
            if let share = share(ofRoot: ancestor) { return share }
        }
        return nil
    }

    /// The permission of a user in a share; nil if he is no member.
    package func permission(of user: String, inShare name: ReferenceName) -> SharePermission? {
        guard let sharing = records[name]?.sharing, let member = sharing.participant(ofUser: user), member.hasAccepted
        else { return nil }
        let permission = member.role == .publicUser ? sharing.publicPermission : member.permission
        return permission == .none ? nil : permission
    }

    /// The permission of a member for a record; nil if he does not see it.
    package func permission(of user: String, for name: ReferenceName) -> SharePermission? {
        if records[name] == nil || !isAlive { return nil }
        if let permission = permission(of: user, inShare: .zoneShare) { return permission }
        if records[name]?.sharing != nil { return permission(of: user, inShare: name) }
        return share(containing: name).flatMap { permission(of: user, inShare: $0) }
    }

    /// What a member finds in the zone.
    package func visible(to user: String) -> [ReferenceName: ReferenceRecord] {
        records.filter { permission(of: user, for: $0.key) != nil }
    }

    package func isShared(with user: String) -> Bool {
        isAlive && shares.contains { permission(of: user, inShare: $0) != nil }
    }
}

extension ReferenceState {
    /// The user whose record has a name.
    func user(named recordName: String, _ userRecordName: (String) -> String) -> String? {
        let users = databases.keys.filter { $0.scope == .private }.map(\.owner) + accounts.keys
        return users.first { ReferenceName(userRecordName($0)) == ReferenceName(recordName) }
    }

    /// The user who has an address.
    func user(at address: ShareParticipant.Address) -> String? {
        accounts.keys.sorted().first { user in
            guard let person = accounts[user]?.person else { return false }
            switch address {
            case .email(let text): return person.emails.contains { $0.lowercased() == text.lowercased() }
            case .phone(let text): return person.phones.contains { Self.digits($0) == Self.digits(text) }
            }
        }
    }

    private static func digits(_ text: String) -> String { text.filter { "0123456789".contains($0) } }

    func hasAddress(_ address: ShareParticipant.Address?, _ user: String) -> Bool {
        address.map { self.user(at: $0) == user } ?? false
    }
}
