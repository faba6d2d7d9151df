import StrataModel

/// All that a member finds in the zones that others share with him.
package struct ReferenceSharedView: Sendable, Equatable {
    package struct Zone: Sendable, Hashable {
        package var owner: String
        package var name: ReferenceName

        package init(owner: String, name: ReferenceName) { (self.owner, self.name) = (owner, name) }
    }

    package var zones: [Zone: [ReferenceName: ReferenceRecord]] = [:]
    /// The member's own entries in the shares of these zones, also those that give no access.
    package var entries: [Zone: [ShareParticipant]] = [:]

    /// - Parameter only: the zone to look at; nil for all.
    package init(_ state: ReferenceState, user: String, of only: Zone? = nil) {
        for (id, database) in state.databases where id.scope == .private && id.owner != user {
            guard only.map({ $0.owner == id.owner }) ?? true else { continue }
            for zone in database.zones.values where only.map({ $0.name == zone.name }) ?? true {
                guard zone.isShared(with: user) else { continue }
                var records = zone.visible(to: user)
                for (name, record) in records {
                    records[name]?.sharing = record.sharing.map { Self.shown($0, to: user, owner: id.owner) }
                }
                let place = Zone(owner: id.owner, name: zone.name)
                zones[place] = records
                entries[place] = zone.shares.compactMap { zone.records[$0]?.sharing?.participant(ofUser: user) }
            }
        }
    }

    /// B337: those who accepted and oneself; the rest is for the owner and administrators.
    package static func shown(_ sharing: ShareState, to user: String, owner: String) -> ShareState {
        let own = sharing.participant(ofUser: user)
        if user == owner || own?.role == .administrator && own?.hasAccepted == true { return sharing }
        var shown = sharing
        shown.requesters = sharing.requesters.filter { $0 == user }
        shown.blockedUsers = []
        shown.participants = sharing.participants.filter { $0.hasAccepted || $0.user == user }
        for index in shown.participants.indices where shown.participants[index].user != user {
            shown.participants[index].address = nil
            shown.participants[index].oneTimeToken = ""
        }
        return shown
    }
}

extension ReferenceStore {
    /// What the feed of a shared zone must report since a commit, and what it may.
    package struct FeedExpectation: Sendable, Equatable {
        /// Records that became visible or got another version.
        package var modified: Set<ReferenceName> = []
        /// Records that the member saw then and does not now.
        package var deleted: Set<ReferenceName> = []
        /// Those, and the records that came and went meanwhile, also in one commit.
        package var gone: Set<ReferenceName> = []
        /// True if a share went and came back meanwhile.
        package var mayExpire = false
    }

    /// - Returns: nil if the zone's token has expired, as the member was out of the zone meanwhile.
    package func expectedFeed(
        of zone: ReferenceSharedView.Zone, to user: String, since commit: UInt64
    ) -> FeedExpectation? {
        var zones: [ReferenceZone?] = []
        for state in past[Int(commit)...] {
            let next = state.databases[DatabaseID(.private, owner: zone.owner)]?.zones[zone.name]
            // Most commits leave the zone alone.
            if zones.isEmpty || zones.last != next { zones.append(next) }
        }
        guard zones.allSatisfy({ $0?.isShared(with: user) == true }) else { return nil }
        let views = zones.map { $0?.visible(to: user) ?? [:] }
        guard let before = views.first, let now = views.last else { return nil }
        var feed = FeedExpectation()
        for (earlier, later) in zip(views, views.dropFirst()) {
            for (name, record) in later where earlier[name]?.version != record.version { feed.modified.insert(name) }
        }
        feed.modified.formIntersection(now.keys)
        feed.deleted = Set(before.keys).subtracting(now.keys)
        // Only where all of a zone is shared has the member seen what the model's states do not have.
        let shared = (zones.last ?? nil).flatMap { $0.zoneShare == nil ? nil : $0 }
        let changes = shared?.changes.filter { $0.version.offset > commit } ?? []
        let flashed = changes.filter { change in
            change.kind == .deleted
                && changes.contains {
                    $0.record == change.record && $0.version.offset == change.version.offset && $0.kind == .saved
                }
        }
        feed.gone = Set(views.flatMap(\.keys) + flashed.map(\.record)).subtracting(now.keys)
        let shares = Set(before.filter { $0.value.sharing != nil }.keys)
        feed.mayExpire = views.contains { view in !shares.isSubset(of: view.keys) }
        return feed
    }

    /// Which zones the feed of a member's shared database must report since a commit; it may report those that are
    /// touched. Of those that are gone, some may have come and gone meanwhile.
    package func expectedZones(of user: String, since commit: UInt64) -> (
        modified: Set<ReferenceSharedView.Zone>, touched: Set<ReferenceSharedView.Zone>,
        deleted: Set<ReferenceSharedView.Zone>, gone: Set<ReferenceSharedView.Zone>
    ) {
        let states = past[Int(commit)...].map { ReferenceSharedView($0, user: user) }
        let views = states.map(\.zones)
        guard let before = views.first, let now = views.last else { return ([], [], [], []) }
        var modified: Set<ReferenceSharedView.Zone> = []
        for (earlier, later) in zip(views, views.dropFirst()) {
            modified.formUnion(later.filter { zone, records in earlier[zone] != records }.keys)
        }
        var touched: Set<ReferenceSharedView.Zone> = []
        for (earlier, later) in zip(states, states.dropFirst()) {
            touched.formUnion(later.entries.filter { zone, entries in earlier.entries[zone] != entries }.keys)
        }
        let joined = state.memberships.filter { $0.user == user }
            .map { ReferenceSharedView.Zone(owner: $0.owner, name: $0.zone) }
        let gone = Set(views.flatMap(\.keys) + joined).subtracting(now.keys)
        return (
            modified.intersection(now.keys), touched.intersection(now.keys), Set(before.keys).subtracting(now.keys),
            gone
        )
    }
}
