import StrataModel

/// Requests that meet each other, drawn for one state: for threads that ask at the same time.
extension RequestGenerator {
    /// A meeting of those who write in one zone.
    package struct Meeting: Sendable {
        package var zone: ReferenceSharedView.Zone
        /// A user who may write in the zone at first.
        package var member: String
        /// What each thread asks, in its order. Each request is about one zone.
        package var threads: [[Step]]
    }

    /// Draws a member's writes, the end of the membership by the member or the owner, and what others ask meanwhile.
    ///
    /// - Returns: nil while nobody may write what another user shares.
    package mutating func meeting(for store: ReferenceStore) -> Meeting? {
        let living = store.state.memberships.sorted { ($0.user, $0.owner, $0.zone) < ($1.user, $1.owner, $1.zone) }
            .filter { membership in
                let zone = store.state.databases[DatabaseID(.private, owner: membership.owner)]?.zones[membership.zone]
                return zone?.isAlive == true && !writable(membership, zone).isEmpty
            }
        guard !living.isEmpty else { return nil }
        let membership = dice.pick(living)
        let owner = Actor(user: membership.owner, device: dice.pick(Self.devices))
        let writes = (0..<2 + dice.number(below: 4)).map { _ in memberWriting(store, membership) }
        var ends = dice.chance(30) ? [memberWriting(store, membership)] : []
        ends.append(ofMembership(membership, by: owner, store))
        if dice.chance(50) { ends.append((joining(store).0, Actor(user: membership.user, device: "tablet"))) }
        if dice.chance(50) { ends.append(memberWriting(store, membership)) }
        let others = (0..<dice.number(below: 4)).flatMap { _ -> [(Request, Actor)] in
            switch dice.number(below: 5) {
            case 0: changedShare(store, owner)
            case 1: [joining(store)]
            // Without the joins: nobody knows the URL before the answer.
            case 2: Array(newShare(store, owner, membership.zone.text).prefix(1))
            default: [moving(store, owner, membership.zone.text)]
            }
        }
        let zone = ReferenceSharedView.Zone(owner: membership.owner, name: membership.zone)
        let threads = [writes, ends, others].map { asked in
            asked.map { Step(request: $0.0, actor: $0.1, time: time) }
        }
        return Meeting(zone: zone, member: membership.user, threads: threads)
    }

    /// The shares in which a member may write.
    private func writable(_ membership: ReferenceMembership, _ zone: ReferenceZone?) -> [ReferenceName] {
        zone?.shares.filter { zone?.permission(of: membership.user, inShare: $0) == .readWrite } ?? []
    }

    /// The end of a membership, or of the right to write.
    private mutating func ofMembership(
        _ membership: ReferenceMembership, by owner: Actor, _ store: ReferenceStore
    ) -> (Request, Actor) {
        let zone = store.state.databases[DatabaseID(.private, owner: owner.user)]?.zones[membership.zone]
        let shares = writable(membership, zone)
        let kind = dice.number(below: 100)
        guard kind >= 45, !shares.isEmpty else { return leaving(store, membership) }
        if kind >= 85 { return ending(store, owner, membership.zone.text) }
        let name = dice.pick(shares)
        guard let sharing = zone?.records[name]?.sharing else { return leaving(store, membership) }
        var change = ShareChange(root: sharing.root)
        let others = sharing.participants.filter { $0.role != .owner && $0.user != membership.user }
        change.participants = entries(of: others, store)
        if kind >= 70 {
            let own = sharing.participants.filter { $0.user == membership.user }
            let limited: SharePermission = kind >= 78 ? .none : .readOnly
            change.participants? += entries(of: own, store).map { entry in
                var entry = entry
                if entry.role != .publicUser { entry.permission = limited }
                return entry
            }
            if sharing.publicPermission != .none, dice.chance(60) { change.publicPermission = limited }
        }
        var draft = draft(store, owner, owner: owner.user)
        draft.content.saves = [
            .init(
                RecordKey(zone: draft.names.ordinal(of: ZoneID(membership.zone.text)), name: name.text),
                type: draft.names.ordinal(ofType: "cloudkit.share"),
                base: draft.stored(membership.zone.text, name.text)?.version, sharing: change)
        ]
        return (request(draft, in: .private), owner)
    }
}
