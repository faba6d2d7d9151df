import StrataModel

/// Shares, and what owners, members and strangers ask for.
extension RequestGenerator {
    mutating func sharing(_ store: ReferenceStore) -> [(Request, Actor)] {
        let owner = drawUser()
        let zones = livingZones(store, owner.user)
        guard !zones.isEmpty else { return [(savingAllZones(), owner)] }
        let zone = dice.pick(zones)
        switch dice.number(below: 100) {
        case ..<16: return newShare(store, owner, zone)
        case ..<20: return newZoneShare(store, owner, zone)
        case ..<34: return changedShare(store, owner)
        case ..<46: return [joining(store)]
        case ..<68: return [memberWriting(store)]
        case ..<74: return [limitedAdministrator(store)]
        case ..<82: return [leaving(store)]
        case ..<92: return [moving(store, owner, zone)]
        case ..<97: return [ending(store, owner, zone)]
        default: return [(knowingPeople(), .service)]
        }
    }

    private mutating func drawUser() -> Actor { Actor(user: dice.pick(Self.users), device: dice.pick(Self.devices)) }

    func request(_ draft: Draft, in scope: InternedName.Scope) -> Request {
        Request(database: DatabaseID(scope), names: draft.names, .modifyRecords(draft.content))
    }

    mutating func draft(_ store: ReferenceStore, _ actor: Actor, owner: String) -> Draft {
        var draft = Draft(store: store, actor: actor, database: DatabaseID(.private, owner: owner))
        draft.content.policy = dice.pick([.ifServerRecordUnchanged, .ifServerRecordUnchanged, .changedKeys, .allKeys])
        draft.content.isAtomic = dice.chance(60)
        return draft
    }

    // MARK: Owners

    /// A share with its root, and mostly the joins of those who are invited.
    mutating func newShare(_ store: ReferenceStore, _ owner: Actor, _ zone: String) -> [(Request, Actor)] {
        var draft = draft(store, owner, owner: owner.user)
        let stored = draft.storedNames(zone)
        let root = stored.isEmpty || dice.chance(15) ? dice.pick(Self.recordNames) : dice.pick(stored)
        let name = dice.chance(4) ? dice.pick(Self.recordNames) : "Share-\(root)\(dice.number(below: 2))"
        let home = dice.chance(3) ? "_defaultZone" : zone
        let ordinal = draft.names.ordinal(of: ZoneID(home))
        let record = RecordKey(zone: ordinal, name: name)
        guard root != name else { return [] }
        var change = ShareChange(root: root)
        if dice.chance(75) { change.participants = drawList(store, owner.user, []) }
        if dice.chance(12) { change.publicPermission = dice.pick(SharePermission.allCases) }
        if dice.chance(15) { change.allowsAccessRequests = true }
        let base = draft.stored(home, name)?.version
        let share = ModifyRecordsRequest.Save(
            record, type: draft.names.ordinal(ofType: "cloudkit.share"), base: base, sharing: change)
        if dice.chance(60) { draft.content.saves.append(share) }
        if dice.chance(93) {
            drawSave(of: RecordKey(zone: ordinal, name: root), in: home, into: &draft)
            let last = draft.content.saves.count - 1
            draft.content.saves[last].share = .set(record)
            // Under another share, either item may be the one that fails.
            if case .set(let parent) = draft.content.saves[last].parent,
                draft.zone(zone)?.share(containing: ReferenceName(parent.name)) != nil
            {
                draft.content.saves[last].parent = .kept
            }
            draft.content.saves[last].base = draft.stored(home, root)?.version
        }
        if !draft.content.saves.contains(share) { draft.content.saves.append(share) }
        let saved = request(draft, in: dice.chance(2) ? .public : .private)
        let life = draft.zone(zone)?.incarnation.packed ?? 0
        let token = ReferenceShareToken.text(owner.user, ReferenceName(zone), life, root)
        return [(saved, owner)] + joins(token, except: owner.user)
    }

    private mutating func newZoneShare(
        _ store: ReferenceStore, _ owner: Actor, _ zone: String
    ) -> [(Request, Actor)] {
        var draft = draft(store, owner, owner: owner.user)
        guard draft.stored(zone, "cloudkit.zoneshare") == nil else { return [] }
        var change = ShareChange()
        change.participants = drawList(store, owner.user, [])
        draft.content.saves = [
            .init(
                RecordKey(zone: draft.names.ordinal(of: ZoneID(zone)), name: "cloudkit.zoneshare"),
                type: draft.names.ordinal(ofType: "cloudkit.share"), sharing: change)
        ]
        let life = draft.zone(zone)?.incarnation.packed ?? 0
        let token = ReferenceShareToken.text(owner.user, ReferenceName(zone), life, nil)
        return [(request(draft, in: .private), owner)] + joins(token, except: owner.user)
    }

    private mutating func joins(_ token: String, except owner: String) -> [(Request, Actor)] {
        Self.users.filter { $0 != owner }.compactMap { user in
            guard dice.chance(65) else { return nil }
            let request = JoinSharesRequest(.accept, tokens: [token])
            return (Request(database: DatabaseID(.shared), .joinShares(request)), Actor(user: user, device: "phone"))
        }
    }

    /// A list that differs from the one that is there in an entry or two.
    private mutating func drawList(
        _ store: ReferenceStore, _ owner: String, _ stored: [ShareParticipant]
    ) -> [ShareChange.Participant] {
        var list = entries(of: stored, store)
        if !list.isEmpty, dice.chance(30) { list.remove(at: dice.number(below: list.count)) }
        if !list.isEmpty, dice.chance(40) {
            let index = dice.number(below: list.count)
            list[index].permission = dice.pick(SharePermission.allCases)
            if list[index].role != .publicUser, dice.chance(30) {
                list[index].role = dice.pick([.administrator, .privateUser, .owner])
            }
        }
        for _ in 0..<dice.number(below: 3) where stored.isEmpty || dice.chance(50) {
            let new = drawParticipant(store, owner)
            if !list.contains(where: { $0.id == new.id }) { list.append(new) }
        }
        return list
    }

    /// The list that changes nothing.
    func entries(of stored: [ShareParticipant], _ store: ReferenceStore) -> [ShareChange.Participant] {
        stored.filter { $0.role != .owner }.map { old in
            let subject: ShareChange.Participant.Subject
            if let address = old.address {
                subject = .address(address)
            } else if old.oneTimeToken.isEmpty {
                subject = .user(recordName: store.userRecordName(old.user))
            } else {
                subject = .oneTimeURL
            }
            return ShareChange.Participant(old.id, subject, role: old.role, permission: old.permission)
        }
    }

    private mutating func drawParticipant(_ store: ReferenceStore, _ owner: String) -> ShareChange.Participant {
        // Only of users who are known.
        let users = Self.users.filter {
            store.state.databases[DatabaseID(.private, owner: $0)] != nil && ($0 != owner || dice.chance(5))
        }
        let permission: SharePermission = dice.chance(55) ? .readWrite : dice.chance(80) ? .readOnly : .none
        let role: ShareRole = dice.chance(80) ? .privateUser : dice.chance(90) ? .administrator : .publicUser
        switch dice.number(below: 100) {
        case ..<65 where !users.isEmpty:
            let user = dice.pick(users)
            return .init(
                "p-\(user)", .user(recordName: store.userRecordName(user)), role: role, permission: permission)
        case ..<85:
            let address = dice.pick(Self.addresses)
            let sent: ShareParticipant.Address = address.kind == .email ? .email(address.text) : .phone(address.text)
            return .init("p-\(address.text)", .address(sent), role: role, permission: permission)
        default: return .init("p-once\(dice.number(below: 3))", .oneTimeURL, role: role, permission: permission)
        }
    }

    private struct Place {
        var owner: String
        var zone: String
        var share: String
        var sharing: ShareState
    }

    /// Every share there is.
    private func shares(_ store: ReferenceStore, of owner: String? = nil) -> [Place] {
        Self.users.flatMap { user -> [Place] in
            guard owner == nil || owner == user else { return [] }
            let zones = store.state.databases[DatabaseID(.private, owner: user)]?.zones.values.filter(\.isAlive) ?? []
            return zones.sorted { $0.ordinal < $1.ordinal }.flatMap { zone in
                zone.shares.compactMap { name in
                    zone.records[name]?.sharing.map {
                        Place(owner: user, zone: zone.name.text, share: name.text, sharing: $0)
                    }
                }
            }
        }
    }

    /// A save of a stored share: mostly of its list, by its owner.
    mutating func changedShare(_ store: ReferenceStore, _ someone: Actor) -> [(Request, Actor)] {
        let all = shares(store)
        guard !all.isEmpty else { return [] }
        let place = dice.pick(all)
        var actor = someone
        actor.user = dice.chance(70) ? place.owner : dice.pick(Self.users)
        let isOwner = actor.user == place.owner
        var draft = draft(store, actor, owner: place.owner)
        let zone = ZoneID(place.zone, owner: isOwner ? "" : store.userRecordName(place.owner))
        var change = ShareChange(root: place.sharing.root)
        switch dice.number(below: 100) {
        case ..<60: change.participants = drawList(store, place.owner, place.sharing.participants)
        case ..<75: change.publicPermission = dice.pick(SharePermission.allCases)
        case ..<82: change.allowsAccessRequests = dice.chance(70)
        case ..<92:
            let names = [store.userRecordName(dice.pick(Self.users.filter { $0 != place.owner }))]
            switch dice.number(below: 3) {
            case 0: change.denied = names
            case 1: change.blocked = names
            default: change.unblocked = names
            }
        default: break
        }
        var save = ModifyRecordsRequest.Save(
            RecordKey(zone: draft.names.ordinal(of: zone), name: place.share),
            type: draft.names.ordinal(ofType: "cloudkit.share"), sharing: change)
        let past = versions.past(draft.database, ReferenceName(place.zone), ReferenceName(place.share))
        save.base = dice.chance(85) || past.isEmpty ? draft.stored(place.zone, place.share)?.version : dice.pick(past)
        if dice.chance(40) {
            save.fields = [FieldChange(draft.names.ordinal(ofKey: "title"), .string(dice.pick(["list", "plan", ""])))]
        }
        draft.content.saves = [save]
        return [(request(draft, in: isOwner ? .private : .shared), actor)]
    }

    private static func isLimited(_ participant: ShareParticipant) -> Bool {
        participant.role == .administrator && participant.hasAccepted && participant.permission == .readOnly
    }

    /// What an administrator who may only read gives others; the owner appoints one if there is none.
    private mutating func limitedAdministrator(_ store: ReferenceStore) -> (Request, Actor) {
        let all = shares(store).filter { $0.sharing.publicPermission != .readWrite }
        let limited = all.filter { $0.sharing.participants.contains(where: Self.isLimited) }
        let joined = all.filter { $0.sharing.participants.contains { $0.role == .privateUser && $0.hasAccepted } }
        guard !limited.isEmpty || !joined.isEmpty else { return memberWriting(store) }
        let place = dice.pick(limited.isEmpty ? joined : limited)
        var list = entries(of: place.sharing.participants, store)
        var change = ShareChange(root: place.sharing.root)
        var actor = Actor(user: place.owner, device: dice.pick(Self.devices))
        if let administrator = place.sharing.participants.first(where: Self.isLimited) {
            actor.user = administrator.user
            let permission: SharePermission = dice.chance(75) ? .readWrite : .readOnly
            if place.sharing.publicPermission != .none || dice.chance(50) {
                change.publicPermission = permission
            } else {
                list.removeAll { $0.id == "p-given" }
                list.append(.init("p-given", .oneTimeURL, role: .privateUser, permission: permission))
                change.participants = list
            }
        } else if let new = place.sharing.participants.first(where: { $0.role == .privateUser && $0.hasAccepted }),
            let index = list.firstIndex(where: { $0.id == new.id })
        {
            (list[index].role, list[index].permission) = (.administrator, .readOnly)
            change.participants = list
        }
        let isOwner = actor.user == place.owner
        var draft = draft(store, actor, owner: place.owner)
        let zone = ZoneID(place.zone, owner: isOwner ? "" : store.userRecordName(place.owner))
        draft.content.saves = [
            .init(
                RecordKey(zone: draft.names.ordinal(of: zone), name: place.share),
                type: draft.names.ordinal(ofType: "cloudkit.share"),
                base: draft.stored(place.zone, place.share)?.version, sharing: change)
        ]
        return (request(draft, in: isOwner ? .private : .shared), actor)
    }

    /// A record with another parent, or none.
    mutating func moving(_ store: ReferenceStore, _ owner: Actor, _ zone: String) -> (Request, Actor) {
        var draft = draft(store, owner, owner: owner.user)
        for _ in 0...dice.number(below: 2) {
            let stored = draft.storedNames(zone)
            let name = stored.isEmpty || dice.chance(25) ? dice.pick(Self.recordNames) : dice.pick(stored)
            let place = ReferencePlace(owner: "", zone: ReferenceName(zone), name: ReferenceName(name))
            guard draft.taken.insert(place).inserted else { continue }
            let record = RecordKey(zone: draft.names.ordinal(of: ZoneID(zone)), name: name)
            drawSave(of: record, in: zone, into: &draft)
            let parent = stored.isEmpty ? dice.pick(Self.recordNames) : dice.pick(stored)
            draft.content.saves[draft.content.saves.count - 1].parent =
                dice.chance(20) ? .removed : .set(RecordKey(zone: record.zone, name: parent))
        }
        return (request(draft, in: .private), owner)
    }

    /// The end of a share, of its root, or of its zone.
    mutating func ending(_ store: ReferenceStore, _ owner: Actor, _ zone: String) -> (Request, Actor) {
        let all = shares(store, of: owner.user)
        guard !all.isEmpty, dice.chance(90) else {
            let ended = Request.zones(deleting: [ZoneID(zone)])
            return (ended, owner)
        }
        let place = dice.pick(all)
        var draft = draft(store, owner, owner: owner.user)
        let ordinal = draft.names.ordinal(of: ZoneID(place.zone))
        let isOfShare = dice.chance(60)
        if isOfShare { draft.content.deletes.append(RecordKey(zone: ordinal, name: place.share)) }
        if let root = place.sharing.root, !isOfShare || dice.chance(25) {
            draft.content.deletes.append(RecordKey(zone: ordinal, name: root))
        }
        // A save that would be right only after the deletes, which may fail.
        let stored = draft.storedNames(place.zone).filter { $0 != place.sharing.root }
        if !stored.isEmpty, dice.chance(30) {
            let record = RecordKey(zone: ordinal, name: dice.pick(stored))
            drawSave(of: record, in: place.zone, into: &draft)
            let parent = place.sharing.root.flatMap { dice.chance(70) ? $0 : nil } ?? dice.pick(stored)
            draft.content.saves[0].parent = .set(RecordKey(zone: ordinal, name: parent))
        }
        return (request(draft, in: .private), owner)
    }

    // MARK: Members and strangers

    mutating func joining(_ store: ReferenceStore) -> (Request, Actor) {
        let living = shares(store).map(\.sharing.urlToken)
        var tokens = [shareTokens.isEmpty ? "none" : dice.pick(shareTokens)]
        if !living.isEmpty, dice.chance(70) { tokens = [dice.pick(living)] }
        if dice.chance(6) { tokens.append("nothing") }
        let request = JoinSharesRequest(dice.chance(82) ? .accept : .requestAccess, tokens: tokens)
        return (Request(database: DatabaseID(.shared), .joinShares(request)), drawUser())
    }

    /// A zone that is shared with somebody, or was; now and then one that never was.
    private mutating func drawMembership(_ store: ReferenceStore) -> ReferenceMembership {
        let all = store.state.memberships.sorted { ($0.user, $0.owner, $0.zone) < ($1.user, $1.owner, $1.zone) }
        let living = all.filter {
            store.state.databases[DatabaseID(.private, owner: $0.owner)]?.zones[$0.zone]?.isShared(with: $0.user)
                == true
        }
        if !living.isEmpty, dice.chance(85) { return dice.pick(living) }
        if !all.isEmpty, dice.chance(60) { return dice.pick(all) }
        let zone = ReferenceName(dice.pick(Self.zones + ["_defaultZone"]))
        return ReferenceMembership(user: dice.pick(Self.users), owner: dice.pick(Self.users), zone: zone)
    }

    private mutating func memberWriting(_ store: ReferenceStore) -> (Request, Actor) {
        let membership = drawMembership(store)
        return memberWriting(store, membership)
    }

    /// Saves and deletes of a member, of which some are of what is not shared.
    mutating func memberWriting(_ store: ReferenceStore, _ membership: ReferenceMembership) -> (Request, Actor) {
        let actor = Actor(user: membership.user, device: dice.pick(Self.devices))
        var draft = draft(store, actor, owner: membership.owner)
        let name = membership.zone.text
        let ordinal = draft.names.ordinal(of: ZoneID(name, owner: store.userRecordName(membership.owner)))
        let visible = (draft.zone(name)?.visible(to: actor.user) ?? [:]).filter { $0.value.sharing == nil }.keys
            .sorted().map(\.text)
        let stored = draft.storedNames(name)
        for _ in 0...dice.number(below: 3) {
            var record = RecordKey(zone: ordinal, name: dice.pick(Self.recordNames))
            if !stored.isEmpty, dice.chance(30) { record.name = dice.pick(stored) }
            if !visible.isEmpty, dice.chance(50) { record.name = dice.pick(visible) }
            let place = ReferencePlace(owner: "", zone: membership.zone, name: ReferenceName(record.name))
            guard draft.taken.insert(place).inserted else { continue }
            if dice.chance(25) {
                draft.content.deletes.append(record)
                continue
            }
            drawSave(of: record, in: name, into: &draft)
            let last = draft.content.saves.count - 1
            let isNew = draft.stored(name, record.name) == nil
            if isNew ? dice.chance(80) : dice.chance(25) {
                var parent = dice.pick(Self.recordNames)
                if !stored.isEmpty { parent = dice.pick(stored) }
                if !visible.isEmpty, dice.chance(65) { parent = dice.pick(visible) }
                draft.content.saves[last].parent = .set(RecordKey(zone: ordinal, name: parent))
            }
            if dice.chance(15) { draft.content.saves[last].parent = .removed }
        }
        drawToken(&draft)
        return (request(draft, in: .shared), actor)
    }

    private mutating func leaving(_ store: ReferenceStore) -> (Request, Actor) {
        let membership = drawMembership(store)
        return leaving(store, membership)
    }

    /// The end of a membership in one share or in the zone.
    mutating func leaving(_ store: ReferenceStore, _ membership: ReferenceMembership) -> (Request, Actor) {
        let actor = Actor(user: membership.user, device: dice.pick(Self.devices))
        var draft = draft(store, actor, owner: membership.owner)
        let zone = ZoneID(membership.zone.text, owner: store.userRecordName(membership.owner))
        let shares = draft.zone(zone.name)?.shares ?? []
        guard !shares.isEmpty, dice.chance(60) else {
            let isSaved = dice.chance(25)
            let request = Request.zones(
                saving: isSaved ? [zone] : [], deleting: isSaved ? [] : [zone], in: DatabaseID(.shared))
            return (request, actor)
        }
        let ordinal = draft.names.ordinal(of: zone)
        draft.content.deletes = [RecordKey(zone: ordinal, name: dice.pick(shares).text)]
        let others = draft.storedNames(zone.name)
        if !others.isEmpty, dice.chance(25) {
            draft.content.deletes.append(RecordKey(zone: ordinal, name: dice.pick(others)))
        }
        return (request(draft, in: .shared), actor)
    }
}
