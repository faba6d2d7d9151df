import StrataModel

/// All that a member finds in the zones that others share with him.
package struct ReferenceSharedView: Sendable, Equatable {
    package struct Zone: Sendable, Hashable {
        package var owner: String
        package var name: ReferenceName

        package init(owner: String, name: ReferenceName) { (self.owner, self.name) = (owner, name) }
    }

    package var zones: [Zone: [ReferenceName: ReferenceRecord]] = [:]

    package init(_ state: ReferenceState, user: String) {
        for (id, database) in state.databases where id.scope == .private && id.owner != user {
            for zone in database.zones.values where zone.isShared(with: user) {
                var records = zone.visible(to: user)
                for (name, record) in records {
                    records[name]?.sharing = record.sharing.map { Self.shown($0, to: user, owner: id.owner) }
                }
                zones[Zone(owner: id.owner, name: zone.name)] = records
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
        /// Those, and the records that came and went meanwhile.
        package var gone: Set<ReferenceName> = []
        /// True if a share went and came back meanwhile.
        package var mayExpire = false
    }

    /// - Returns: nil if the zone's token has expired, as the member was out of the zone meanwhile.
    package func expectedFeed(
        of zone: ReferenceSharedView.Zone, to user: String, since commit: UInt64
    ) -> FeedExpectation? {
        let zones = past[Int(commit)...].map { state in
            state.databases[DatabaseID(.private, owner: zone.owner)]?.zones[zone.name]
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
        feed.gone = Set(views.flatMap(\.keys)).subtracting(now.keys)
        let shares = Set(before.filter { $0.value.sharing != nil }.keys)
        feed.mayExpire = views.contains { view in !shares.isSubset(of: view.keys) }
        return feed
    }

    /// Which zones the feed of a member's shared database must report since a commit; of those that are gone, some
    /// may have come and gone meanwhile.
    package func expectedZones(of user: String, since commit: UInt64) -> (
        modified: Set<ReferenceSharedView.Zone>, deleted: Set<ReferenceSharedView.Zone>,
        gone: Set<ReferenceSharedView.Zone>
    ) {
        let views = past[Int(commit)...].map { ReferenceSharedView($0, user: user).zones }
        guard let before = views.first, let now = views.last else { return ([], [], []) }
        var modified: Set<ReferenceSharedView.Zone> = []
        for (earlier, later) in zip(views, views.dropFirst()) {
            modified.formUnion(later.filter { zone, records in earlier[zone] != records }.keys)
        }
        let joined = state.memberships.filter { $0.user == user }
            .map { ReferenceSharedView.Zone(owner: $0.owner, name: $0.zone) }
        let gone = Set(views.flatMap(\.keys) + joined).subtracting(now.keys)
        return (modified.intersection(now.keys), Set(before.keys).subtracting(now.keys), gone)
    }
}
