import StrataModel

/// How shares are made, changed and ended.
extension ReferenceStore.Judgement {
    private func refused(_ code: Refusal.Code, _ message: String, _ rule: String) -> Refusal {
        ReferenceStore.shareRefusal(code, message, rule)
    }

    /// B302, B303, B304, B307.
    func refusalOfPlace(ofShare save: ReferenceStore.SaveItem) -> Refusal? {
        if save.type != .share {
            return save.sharing == nil ? nil : refused(.invalidArguments, "no share", "B303")
        }
        if asker.database.scope == .public { return refused(.badDatabase, "no shares here", "B307") }
        if save.place.zone == .defaultZone { return refused(.invalidArguments, "the default zone", "B307") }
        if case .set = save.share { return refused(.invalidArguments, "a share is no root", "B304") }
        if case .set = save.parent { return refused(.invalidArguments, "a share has no parent", "B304") }
        if seen(save.place) != nil { return nil }
        if asker.isMember { return refused(.permissionFailure, "only the owner shares", "B308") }
        if let base = save.base {
            return Refusal(.unknownItem, "the share is gone", rule: .tagOfMissingRecord, baseVersion: base)
        }
        if save.sharing == nil { return refused(.invalidArguments, "a share of nothing", "B303") }
        let isZoneWide = save.sharing?.root == nil
        return isZoneWide == (save.place.name == .zoneShare)
            ? nil : refused(.invalidArguments, "a name that tells another kind of share", "B303")
    }

    /// B379: what changes who takes part needs the newest version, whatever the policy, and so does a save without one.
    func isJudgedByTag(_ save: ReferenceStore.SaveItem) -> Bool {
        guard save.type == .share, !store.bends(.staleListWins) else { return false }
        return save.base == nil || save.sharing?.changesParticipation == true
    }

    /// The state of a share after its save.
    func changed(_ stored: ShareState?, by save: ReferenceStore.SaveItem) -> Result<ShareState, Refusal> {
        let change = save.sharing ?? ShareChange()
        var after = stored ?? newShare(change.root, in: save.place.zone)
        let own = after.participant(ofUser: asker.actor.user)
        let mayChange =
            !asker.isMember || own?.role == .administrator && own?.hasAccepted == true
            || store.bends(.membersChangeLists)
        guard !change.changesParticipation || mayChange else {
            return .failure(refused(.permissionFailure, "the list is the owner's", "B332"))
        }
        let limit = own?.role == .administrator && !store.bends(.administratorsGiveMore) ? own?.permission : .readWrite
        var gone: [ShareParticipant] = []
        if let permission = change.publicPermission {
            if permission > max(limit ?? .none, after.publicPermission) {
                return .failure(refused(.permissionFailure, "more than one's own", "B475"))
            }
            let wasPublic = after.publicPermission != .none
            after.publicPermission = permission
            if permission == .none, wasPublic { after.participants.removeAll { $0.role != .owner } }
            if permission != .none, !wasPublic {
                gone = after.participants.filter { !$0.hasAccepted }
                after.participants.removeAll { !$0.hasAccepted }
            }
        }
        if stored == nil, let refusal = refusalOfNewShare(save) { return .failure(refusal) }
        if let list = change.participants, let refusal = put(list, into: &after, gone, limit ?? .none) {
            return .failure(refusal)
        }
        for index in after.participants.indices where after.participants[index].role == .publicUser {
            after.participants[index].permission = after.publicPermission
        }
        if let refusal = settleRequests(change, &after) { return .failure(refusal) }
        if let allows = change.allowsAccessRequests { after.allowsAccessRequests = allows }
        let isSelfMade = asker.isMember && change.participants != nil && !store.bends(.membersChangeLists)
        let now = after.participant(ofUser: asker.actor.user)
        if isSelfMade, now?.role != own?.role || now?.permission != own?.permission {
            return .failure(refused(.permissionFailure, "one's own entry", "B375"))
        }
        guard after.participants.count <= ShareState.maximumParticipants else {
            return .failure(refused(.init(rawValue: 29), "too many", "B341"))
        }
        return .success(after)
    }

    /// What the zone has already (B310 to B312).
    private func refusalOfNewShare(_ save: ReferenceStore.SaveItem) -> Refusal? {
        guard let zone = zone(save.place.zone) else { return nil }
        guard let root = save.sharing?.root.map({ ReferenceName($0) }) else {
            return zone.shares.isEmpty ? nil : refused(.invalidArguments, "records of the zone are shared", "B311")
        }
        if zone.zoneShare != nil { return refused(.serverRejectedRequest, "the zone is shared", "B310") }
        guard zone.share(containing: root) != nil, !store.bends(.sharesOverlap) else { return nil }
        return refused(.init(rawValue: 30), "it is shared already", "B312")
    }

    private func newShare(_ root: String?, in zone: ReferenceName) -> ShareState {
        let owner = asker.database.owner
        let life = self.zone(zone)?.incarnation.packed ?? 0
        var new = ShareState(number: 0, root: root, urlToken: ReferenceShareToken.text(owner, zone, life, root))
        new.participants = [
            ShareParticipant(id: "owner", user: owner, role: .owner, permission: .readWrite, hasAccepted: true)
        ]
        return new
    }

    private func user(of subject: ShareChange.Participant.Subject) -> String? {
        switch subject {
        case .user(let name): store.state.user(named: name, store.userRecordName)
        case .address(let address): store.state.user(at: address)
        case .oneTimeURL: nil
        }
    }

    /// Which of the participants an entry of a list means.
    private func meant(_ sent: ShareChange.Participant, _ list: [ShareParticipant]) -> Int? {
        if let index = list.firstIndex(where: { $0.id == sent.id }) { return index }
        if case .address(let address) = sent.subject {
            if let index = list.firstIndex(where: { $0.address.map { isSame($0, address) } ?? false }) { return index }
        }
        guard let user = user(of: sent.subject) else { return nil }
        // Those who are invited by an address are the users who have it now.
        return list.firstIndex { ($0.user.isEmpty ? $0.address.flatMap(store.state.user(at:)) : $0.user) == user }
    }

    private func isSame(_ left: ShareParticipant.Address, _ right: ShareParticipant.Address) -> Bool {
        switch (left, right) {
        case (.email(let left), .email(let right)): left.lowercased() == right.lowercased()
        case (.phone(let left), .phone(let right)):
            left.filter { "0123456789".contains($0) } == right.filter { "0123456789".contains($0) }
        default: false
        }
    }

    /// The list that a client sends instead of the one that is there.
    private func put(
        _ list: [ShareChange.Participant], into after: inout ShareState, _ gone: [ShareParticipant],
        _ limit: SharePermission
    ) -> Refusal? {
        var meantIDs: Set<String> = []
        for sent in list {
            guard let index = meant(sent, after.participants + gone) else {
                switch added(sent, to: after, limit) {
                case .failure(let refusal): return refusal
                case .success(let new):
                    after.requesters.removeAll { $0 == new.user }
                    after.blockedUsers.removeAll { $0 == new.user }
                    after.participants.append(new)
                    meantIDs.insert(new.id)
                }
                continue
            }
            // Dropped with the invitation that it means.
            if index >= after.participants.count { continue }
            let old = after.participants[index]
            if old.role == .owner, old.id == sent.id {
                if sent.role == old.role, sent.permission == old.permission { continue }
                return refused(.permissionFailure, "the owner's entry", "B332")
            }
            if old.role == .owner { return refused(.invalidArguments, "the owner", "B331") }
            if case .address(let address) = sent.subject, old.id != sent.id, let known = old.address,
                !isSame(known, address)
            {
                return refused(.init(rawValue: 37), "there under another address", "B341")
            }
            guard sent.role == old.role || sent.role == .privateUser || sent.role == .administrator else {
                return refused(.invalidArguments, "no role to give", "B331")
            }
            let stays = old.role == .publicUser && sent.role == .publicUser
            guard stays || sent.permission <= max(limit, old.permission) else {
                return refused(.permissionFailure, "more than one's own", "B475")
            }
            after.participants[index].role = sent.role
            after.participants[index].permission = sent.permission
            meantIDs.insert(old.id)
        }
        after.participants.removeAll { $0.role != .owner && !meantIDs.contains($0.id) }
        return nil
    }

    private func added(
        _ sent: ShareChange.Participant, to share: ShareState, _ limit: SharePermission
    ) -> Result<ShareParticipant, Refusal> {
        guard share.publicPermission == .none else {
            return .failure(refused(.invalidArguments, "everybody with the link may join", "B331"))
        }
        guard sent.role == .privateUser || sent.role == .administrator, ReferenceName(sent.id).isOfLegalLength else {
            return .failure(refused(.invalidArguments, "no role to give", "B331"))
        }
        var new = ShareParticipant(id: sent.id, role: sent.role, permission: sent.permission)
        new.user = user(of: sent.subject) ?? ""
        switch sent.subject {
        case .user:
            if new.user.isEmpty { return .failure(refused(.unknownItem, "nobody has the name", "B327")) }
        case .address(let address): new.address = address
        case .oneTimeURL: new.oneTimeToken = "once:\(store.commitCount):\(share.urlToken):\(sent.id)"
        }
        guard sent.permission <= limit else {
            return .failure(refused(.permissionFailure, "more than one's own", "B475"))
        }
        new.isApprovedRequester = share.requesters.contains(new.user)
        return .success(new)
    }

    private func settleRequests(_ change: ShareChange, _ after: inout ShareState) -> Refusal? {
        func user(_ name: String) -> String? { store.state.user(named: name, store.userRecordName) }
        for name in change.denied + change.blocked + change.unblocked where user(name) == nil {
            return refused(.unknownItem, "nobody has the name", "B327")
        }
        let blocked = change.blocked.compactMap(user)
        if blocked.contains(asker.database.owner) || blocked.contains(asker.actor.user) {
            return refused(.invalidArguments, "one does not block oneself, nor the owner", "B398")
        }
        let dropped = change.denied.compactMap(user) + blocked
        after.requesters.removeAll { dropped.contains($0) }
        after.participants.removeAll { $0.role != .owner && blocked.contains($0.user) }
        after.blockedUsers += blocked.filter { !after.blockedUsers.contains($0) }
        let lifted = change.unblocked.compactMap(user)
        after.blockedUsers.removeAll { lifted.contains($0) }
        return nil
    }

    // MARK: Together

    /// Items that would be under two shares: true if there were any.
    mutating func failOverlapping() -> Bool {
        fail(refusals { refusalOfShare($0) ?? refusalOfMove($0) })
    }

    /// New shares without their roots, and the other way round: true if there were any.
    mutating func failLoneShares() -> Bool {
        fail(refusals { refusalOfLoneShare($0) ?? refusalOfRoot($0) })
    }

    /// Judges all saves by the same state, so that their order does not matter.
    private func refusals(_ refusal: (Int) -> Refusal?) -> [(Int, Refusal)] {
        saves.indices.filter(isAccepted).compactMap { index in refusal(index).map { (index, $0) } }
    }

    private mutating func fail(_ refusals: [(Int, Refusal)]) -> Bool {
        for (index, refusal) in refusals { saveRefusals[index] = refusal }
        return !refusals.isEmpty
    }

    /// The zone with all saves in it that have not failed, but shares from one item on.
    private func after(_ name: ReferenceName, before omitted: Int = .max) -> ReferenceZone? {
        guard var zone = zone(name) else { return nil }
        for index in saves.indices where isAccepted(index) && saves[index].place.zone == name {
            if index >= omitted, saves[index].type == .share, stored(saves[index].place) == nil { continue }
            zone.records[saves[index].place.name] = merged[index]
        }
        return zone
    }

    /// A new share (B309 to B312).
    private func refusalOfShare(_ index: Int) -> Refusal? {
        let save = saves[index]
        guard save.type == .share, stored(save.place) == nil, let others = after(save.place.zone, before: index) else {
            return nil
        }
        guard let root = save.sharing?.root.map({ ReferenceName($0) }) else {
            let hasHierarchies = others.shares.contains { others.records[$0]?.sharing?.root != nil }
            return hasHierarchies ? refused(.invalidArguments, "records of the zone are shared", "B311") : nil
        }
        if others.zoneShare != nil { return refused(.serverRejectedRequest, "the zone is shared", "B310") }
        guard !store.bends(.sharesOverlap) else { return nil }
        let near = others.ancestry(of: root) + others.descendants(of: root)
        return near.contains { others.share(ofRoot: $0) != nil }
            ? refused(.init(rawValue: 30), "it is shared already", "B312") : nil
    }

    /// B304.
    private func refusalOfLoneShare(_ index: Int) -> Refusal? {
        let save = saves[index]
        guard save.type == .share, stored(save.place) == nil, let root = save.sharing?.root.map({ ReferenceName($0) })
        else { return nil }
        let rootSave = saves.firstIndex { $0.place.zone == save.place.zone && $0.place.name == root }
        guard let rootSave, isAccepted(rootSave) || isAtomic(save.place.zone),
            case .set(let link?) = saves[rootSave].share, link == save.place
        else {
            return refused(.invalidArguments, "a share comes with its root", "B304")
        }
        return nil
    }

    /// B314.
    private func refusalOfRoot(_ index: Int) -> Refusal? {
        guard case .set(let share) = saves[index].share else { return nil }
        guard let share else { return refused(.invalidArguments, "a share in no zone", "B302") }
        let root = saves[index].place.name
        if let sharing = stored(share)?.sharing {
            let isOwn = sharing.root.map { ReferenceName($0) } == root
            return isOwn ? nil : refused(.referenceViolation, "a share of another record", "B314")
        }
        let isSaved = saves.indices.contains {
            saves[$0].place == share && saves[$0].type == .share && (isAccepted($0) || isAtomic(share.zone))
                && saves[$0].sharing?.root.map { ReferenceName($0) } == root
        }
        return isSaved ? nil : refused(.referenceViolation, "a share that is not there", "B314")
    }

    /// B372 and B374 for members: true if there was one more.
    mutating func failOutside() -> Bool {
        guard asker.isMember else { return false }
        let outside = refusals { index in
            let save = saves[index]
            if save.type == .share { return nil }
            let isSettled = stored(save.place)?.parent == merged[index]?.parent && stored(save.place) != nil
            if isSettled || mayWrite(at: save.place, merged[index]?.parent) { return nil }
            return refused(.permissionFailure, "it would be outside the shares", "B372")
        }
        return fail(outside)
    }

    /// B313.
    private func refusalOfMove(_ index: Int) -> Refusal? {
        let save = saves[index]
        let name = save.place.name
        guard case .set = save.parent, let zone = after(save.place.zone), !store.bends(.sharesOverlap) else {
            return nil
        }
        func isRoot(_ name: ReferenceName) -> Bool { zone.share(ofRoot: name) != nil }
        // A record that keeps its parent, and begins no share, goes nowhere by itself.
        if let old = stored(save.place), old.parent == merged[index]?.parent,
            self.zone(save.place.zone)?.share(ofRoot: name) == zone.share(ofRoot: name)
        {
            return nil
        }
        guard let above = zone.ancestry(of: name).dropFirst().first(where: isRoot) else { return nil }
        // A new record can only concern its own share.
        let below = stored(save.place) == nil ? [name] : zone.descendants(of: name)
        let hasOtherRoot = below.contains { $0 != above && isRoot($0) }
        return hasOtherRoot ? refused(.init(rawValue: 30), "one share under another", "B313") : nil
    }

    /// The roots of the shares that are deleted.
    var rootsOfEndingShares: [ReferencePlace] {
        going.compactMap { place in
            guard let root = stored(place)?.sharing?.root else { return nil }
            return ReferencePlace(owner: "", zone: place.zone, name: ReferenceName(root))
        }
    }
}

/// How the model names the URLs of shares: a store has hashes of the same.
package enum ReferenceShareToken {
    package static func text(_ owner: String, _ zone: ReferenceName, _ life: UInt64, _ root: String?) -> String {
        // Two names may look the same.
        let name = root.map { root in root.utf8.map { String($0, radix: 16) }.joined(separator: ".") }
        return "\(owner)/\(zone)/\(life)/\(name.map { "r" + $0 } ?? "")"
    }
}

extension ReferenceStore {
    /// B324: roots that stay after their shares went lose their link, which makes them anew.
    mutating func endShares(of judgement: Judgement, _ time: Int64) {
        for place in judgement.going where judgement.stored(place)?.sharing != nil {
            let zone = state.databases[judgement.asker.database]?.zones[place.zone]
            let roots = zone?.records.keys.filter { zone?.records[$0]?.share == place.name }.sorted() ?? []
            for root in roots {
                guard var record = zone?.records[root] else { continue }
                record.share = nil
                let actor = judgement.asker.actor
                if record.version.offset == commitCount, judgement.saves.contains(where: { $0.place.name == root }) {
                    state.databases[judgement.asker.database]?.zones[place.zone]?.records[root] = record
                    continue
                }
                record.modified = max(time, record.modified + 1_000)
                (record.modifiedBy, record.modifiedWith) = (actor.user, actor.device)
                record.version = nextVersion()
                put(record, ReferencePlace(owner: "", zone: place.zone, name: root), judgement.asker.database)
            }
        }
    }
}
