import StrataModel

/// How users join shares, and ask for it.
extension ReferenceStore {
    mutating func joinShares(_ request: JoinSharesRequest, _ asker: Asker, _ time: Int64) throws(Refusal)
        -> RequestResult
    {
        try checkItemCount(request.tokens.count)
        guard asker.database.scope == .shared else {
            throw Self.shareRefusal(.badDatabase, "shares are joined in the shared database", "B345")
        }
        var result = RequestResult()
        var hasBegun = false
        for token in request.tokens {
            let found = share(of: token)
            let nothing = Version(offset: 0, eventIndex: 0)
            guard let found, let sharing = found.record.sharing else {
                let isAccept = request.action == .accept
                result.saves.append(
                    isAccept ? .failure(Self.shareRefusal(.unknownItem, "no share", "B346")) : .success(nothing))
                continue
            }
            let joined: ShareState?
            do throws(Refusal) {
                switch request.action {
                case .accept: joined = try accepted(sharing, by: asker.actor.user, token, owner: found.database.owner)
                case .requestAccess: joined = requested(sharing, by: asker.actor.user, owner: found.database.owner)
                }
            } catch {
                result.saves.append(.failure(error))
                continue
            }
            if let joined {
                if !hasBegun { beginCommit() }
                if !hasBegun, state.databases[DatabaseID(.private, owner: asker.actor.user)] == nil {
                    createDatabases(asker, time, except: [])
                }
                hasBegun = true
                change(found.name, found.zone, found.database, asker.actor, time) { sharing in
                    sharing = joined
                    if request.action == .accept { sharing.requesters.removeAll { $0 == asker.actor.user } }
                }
                if request.action == .accept {
                    state.memberships.insert(
                        .init(user: asker.actor.user, owner: found.database.owner, zone: found.zone))
                }
            }
            let version = state.databases[found.database]?.zones[found.zone]?.records[found.name]?.version
            result.saves.append(.success(request.action == .accept ? version ?? nothing : nothing))
        }
        return result
    }

    private struct FoundShare {
        var database: DatabaseID
        var zone: ReferenceName
        var name: ReferenceName
        var record: ReferenceRecord
    }

    private func share(of token: String) -> FoundShare? {
        for (id, database) in state.databases {
            for zone in database.zones.values {
                for name in zone.shares {
                    guard let record = zone.records[name], let sharing = record.sharing else { continue }
                    let tokens = [sharing.urlToken] + sharing.participants.map(\.oneTimeToken)
                    guard tokens.contains(token) else { continue }
                    return FoundShare(database: id, zone: zone.name, name: name, record: record)
                }
            }
        }
        return nil
    }

    /// The share with one more member; nil if nothing changes.
    private func accepted(
        _ sharing: ShareState, by user: String, _ token: String, owner: String
    ) throws(Refusal) -> ShareState? {
        var sharing = sharing
        // One who is invited by an address is the user who has it now.
        let own =
            sharing.participants.firstIndex { $0.user == user }
            ?? sharing.participants.firstIndex { $0.user.isEmpty && state.hasAddress($0.address, user) }
        let invited = sharing.participants.firstIndex { !$0.oneTimeToken.isEmpty && $0.oneTimeToken == token }
        if let invited, !sharing.participants[invited].hasAccepted {
            guard own == nil else { throw Self.shareRefusal(.init(rawValue: 37), "a member already", "B341") }
            guard !sharing.blockedUsers.contains(user) else {
                throw Self.shareRefusal(.permissionFailure, "the user is blocked", "B398")
            }
            sharing.participants[invited].user = user
            sharing.participants[invited].hasAccepted = true
            return sharing
        }
        if user == owner { return nil }
        if let own {
            if sharing.participants[own].hasAccepted { return nil }
            sharing.participants[own].user = user
            sharing.participants[own].hasAccepted = true
            return sharing
        }
        guard sharing.publicPermission != .none || bends(.strangersAccept) else {
            throw Self.shareRefusal(.permissionFailure, "nobody invited the user", "B352")
        }
        guard !sharing.blockedUsers.contains(user) else {
            throw Self.shareRefusal(.permissionFailure, "the user is blocked", "B398")
        }
        guard sharing.participants.count < ShareState.maximumParticipants else {
            throw Self.shareRefusal(.init(rawValue: 29), "too many", "B341")
        }
        let role = sharing.publicPermission == .none ? ShareRole.privateUser : .publicUser
        let permission = sharing.publicPermission == .none ? SharePermission.readOnly : sharing.publicPermission
        sharing.participants.append(
            ShareParticipant(
                id: "public-\(user)-\(sharing.urlToken)", user: user, role: role, permission: permission,
                hasAccepted: true))
        return sharing
    }

    /// The share with one more request for access; nil if nothing changes.
    private func requested(_ sharing: ShareState, by user: String, owner: String) -> ShareState? {
        guard user != owner, sharing.allowsAccessRequests, sharing.participant(ofUser: user) == nil,
            !sharing.participants.contains(where: { $0.user.isEmpty && state.hasAddress($0.address, user) }),
            !sharing.blockedUsers.contains(user), !sharing.requesters.contains(user), sharing.requesters.count < 100
        else { return nil }
        var sharing = sharing
        sharing.requesters.append(user)
        return sharing
    }
}
