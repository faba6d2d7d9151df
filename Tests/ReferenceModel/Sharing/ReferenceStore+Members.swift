import StrataModel

/// What members ask of zones that others share with them.
extension ReferenceStore {
    static func shareRefusal(_ code: Refusal.Code, _ message: String, _ rule: String) -> Refusal {
        Refusal(code, message, rule: Rule(rawValue: rule))
    }

    /// Finds whose zones a request is about: those of one user, as two are not modelled.
    func enter(_ asker: inout Asker, _ names: RequestNames) throws(Refusal) {
        let actor = asker.actor.user
        asker.isMember = true
        var owners: [String: String] = [:]
        for zone in names.zones {
            guard let owner = state.user(named: zone.owner, userRecordName), owner != actor,
                state.memberships.contains(where: { $0.user == actor && $0.owner == owner })
            else { continue }
            owners[owner] = zone.owner
        }
        guard owners.count <= 1 else { throw Refusal(.internalError, "it is not modelled") }
        guard let (owner, recordName) = owners.first else { return }
        asker.sharer = ReferenceName(recordName)
        asker.database = DatabaseID(.private, owner: owner)
    }

    /// B30, B358.
    func missingSharedZone(
        _ owner: ReferenceName, _ name: ReferenceName, _ asker: Asker, rule: Rule
    ) -> Refusal? {
        if name == .defaultZone {
            return Refusal(.zoneNotFound, "no such zone", rule: rule)
        }
        let membership = ReferenceMembership(user: asker.actor.user, owner: asker.database.owner, zone: name)
        guard owner == "", asker.sharer != nil, state.memberships.contains(membership) else {
            return Self.shareRefusal(.invalidArguments, "Only shared zones can be accessed in the shared DB", "B358")
        }
        let zone = state.databases[asker.database]?.zones[name]
        if zone?.isShared(with: asker.actor.user) == true { return nil }
        if bends(.removedMembersStay), zone?.isAlive == true { return nil }
        return Self.shareRefusal(.zoneNotFound, "no such zone", "B358")
    }

    /// B367, B368.
    mutating func leaveZones(
        _ saves: [(owner: ReferenceName, name: ReferenceName)],
        _ deletes: [(owner: ReferenceName, name: ReferenceName)], _ asker: Asker, _ time: Int64
    ) -> RequestResult {
        var result = RequestResult()
        for (owner, name) in saves {
            if missingSharedZone(owner, name, asker, rule: .customZones) != nil {
                result.saves.append(
                    .failure(Refusal(.badDatabase, "zones are of private databases", rule: .customZones)))
            } else {
                let zone = state.databases[asker.database]?.zones[name]
                result.saves.append(.success(zone?.version ?? Version(offset: 0, eventIndex: 0)))
            }
        }
        result.deletes = deletes.map { missingSharedZone($0.owner, $0.name, asker, rule: .existingZone) }
        let user = asker.actor.user
        guard result.deletes.contains(where: { $0 == nil }) else { return result }
        beginCommit()
        if state.databases[DatabaseID(.private, owner: user)] == nil { createDatabases(asker, time, except: []) }
        for (index, (_, name)) in deletes.enumerated() where result.deletes[index] == nil {
            let zone = state.databases[asker.database]?.zones[name]
            for share in zone?.shares ?? [] {
                guard zone?.records[share]?.sharing?.participant(ofUser: user)?.hasAccepted == true else { continue }
                leave(name, share, asker, time)
            }
        }
        return result
    }

    /// B376: the member is no longer in the list, which makes a new version of the share.
    mutating func leave(_ zone: ReferenceName, _ share: ReferenceName, _ asker: Asker, _ time: Int64) {
        change(share, zone, asker.database, asker.actor, time) { sharing in
            sharing.participants.removeAll { $0.user == asker.actor.user }
        }
    }

    /// A new version of a share's record, without a client's save of it.
    mutating func change(
        _ share: ReferenceName, _ zone: ReferenceName, _ database: DatabaseID, _ actor: Actor, _ time: Int64,
        _ body: (inout ShareState) -> Void
    ) {
        guard var record = state.databases[database]?.zones[zone]?.records[share], var sharing = record.sharing else {
            return
        }
        body(&sharing)
        // Members do not learn who asks for access.
        let isAsking = sharing.requesters.count > record.sharing?.requesters.count ?? 0
        record.sharing = Self.dated(sharing, time)
        record.modified = max(time, record.modified + 1_000)
        if !isAsking { (record.modifiedBy, record.modifiedWith) = (actor.user, actor.device) }
        record.version = nextVersion()
        put(record, ReferencePlace(owner: "", zone: zone, name: share), database)
    }

    /// The time of a commit for those who are new.
    static func dated(_ sharing: ShareState, _ time: Int64) -> ShareState {
        var sharing = sharing
        for index in sharing.participants.indices where sharing.participants[index].added == 0 {
            sharing.participants[index].added = time
        }
        return sharing
    }
}

extension ReferenceStore.Judgement {
    /// The permission of the member for a stored record.
    func permission(_ place: ReferencePlace) -> SharePermission? {
        guard let zone = zone(place.zone) else { return nil }
        if store.bends(.removedMembersStay), zone.records[place.name] != nil { return .readWrite }
        let permission = zone.permission(of: asker.actor.user, for: place.name)
        return store.bends(.readOnlyMayWrite) && permission != nil ? .readWrite : permission
    }

    /// The stored record if the asker sees it.
    func seen(_ place: ReferencePlace) -> ReferenceRecord? {
        asker.isMember && permission(place) == nil ? nil : stored(place)
    }

    func mayTouch(_ place: ReferencePlace) -> Bool { !asker.isMember || permission(place) == .readWrite }

    /// docs/rules.md §5.5 for a member (B308, B369, B372, B374).
    func refusalOfMember(_ save: ReferenceStore.SaveItem) -> Refusal? {
        let denied = ReferenceStore.shareRefusal
        let zone = zone(save.place.zone)
        let mayWriteSomething = (zone?.shares ?? []).contains { share in
            var place = save.place
            place.name = share
            return permission(place) == .readWrite
        }
        if seen(save.place) == nil {
            return mayWriteSomething ? nil : denied(.permissionFailure, "it is read-only", "B369")
        }
        // B333: whatever the permission, as long as there is one.
        let own = stored(save.place)?.sharing?.participant(ofUser: asker.actor.user)
        let isAdministrator = own?.role == .administrator && own?.hasAccepted == true
        guard permission(save.place) == .readWrite || isAdministrator else {
            return denied(.permissionFailure, "it is read-only", "B369")
        }
        return nil
    }

    /// Whether the member may write where a record would be, as a child of what is there or comes with the request and
    /// has not failed.
    func mayWrite(at place: ReferencePlace, _ parent: ReferenceName?) -> Bool {
        guard let zone = zone(place.zone) else { return false }
        if zone.permission(of: asker.actor.user, inShare: .zoneShare) == .readWrite { return true }
        let isWritableRoot = zone.share(ofRoot: place.name) != nil && permission(place) == .readWrite
        if isWritableRoot, parent == nil { return true }
        var next = parent
        var walked: Set<ReferenceName> = []
        while let name = next, walked.insert(name).inserted {
            var above = place
            above.name = name
            let save = saves.firstIndex { $0.place == above }
            if zone.records[name] != nil {
                if permission(above) != .readWrite { return store.bends(.unseenParentAccepted) }
                if zone.share(ofRoot: name) != nil { return true }
                next = zone.records[name]?.parent
            } else if save == nil {
                return false
            }
            if let save {
                guard isAccepted(save) else {
                    if zone.records[name] == nil { return false }
                    continue
                }
                next = merged[save]?.parent
            }
        }
        return false
    }

    func refusal(ofMemberDeleting place: ReferencePlace) -> Refusal? {
        let denied = ReferenceStore.shareRefusal
        guard stored(place) != nil, let permission = permission(place), let zone = zone(place.zone) else { return nil }
        if stored(place)?.sharing != nil { return nil }
        let share = zone.zoneShare != nil ? .zoneShare : zone.share(containing: place.name)
        if let share, deletes.contains(where: { $0.zone == place.zone && $0.name == share }) {
            return denied(.permissionFailure, "access has ended", "B377")
        }
        guard permission == .readWrite else { return denied(.permissionFailure, "it is read-only", "B370") }
        guard zone.share(ofRoot: place.name) == nil || store.bends(.membersDeleteRoots) else {
            return denied(.permissionFailure, "the root is the owner's", "B370")
        }
        return nil
    }

    /// Whether a delete is how a member leaves.
    func isLeaving(_ place: ReferencePlace) -> Bool {
        asker.isMember && stored(place)?.sharing != nil
    }

    /// Whether a record of a place's zone may go with another.
    func mayDelete(_ name: ReferenceName, _ place: ReferencePlace) -> Bool {
        var place = place
        place.name = name
        guard asker.isMember, let stored = stored(place) else { return true }
        return permission(place) == .readWrite && zone(place.zone)?.share(ofRoot: name) == nil && stored.sharing == nil
    }

    /// B378: a member deletes nothing with what he deletes that he may not delete alone.
    mutating func failOutsideCascade() -> Bool {
        guard asker.isMember else { return false }
        for index in deletesThatHappen where !isLeaving(deletes[index]) {
            let isOutside = cascade(of: deletes[index]).contains { !mayDelete($0, deletes[index]) }
            guard isOutside, !store.bends(.membersDeleteRoots) else { continue }
            deleteRefusals[index] = ReferenceStore.shareRefusal(
                .permissionFailure, "more than the member may delete", "B378")
            return true
        }
        return false
    }
}
