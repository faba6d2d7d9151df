import StrataModel

extension ReferenceStore.Judgement {
    /// docs/rules.md §7.
    mutating func judgeDeletes() {
        for (index, place) in deletes.enumerated() { deleteRefusals[index] = refusal(deleting: place) }
        let failed = deletes.indices.filter { deleteRefusals[$0] != nil && deletes[$0].owner == "" }
        failedZones = Set(failed.map { deletes[$0].zone }).filter(isAtomic)
        while failOutsideCascade() || failOrphaning() {}
        for index in deletesThatHappen {
            if isLeaving(deletes[index]) {
                left.append(deletes[index])
                continue
            }
            for name in cascade(of: deletes[index]) {
                var place = deletes[index]
                place.name = name
                if !going.contains(place) { going.append(place) }
            }
        }
    }

    private func refusal(deleting place: ReferencePlace) -> Refusal? {
        if let refusal = store.missingZone(place.owner, place.zone, asker, rule: .deleteInMissingZone) {
            return refusal
        }
        if asker.isMember { return refusal(ofMemberDeleting: place) }
        guard let record = records[place.zone]?[place.name] else {
            return store.bends(.missingRecordMayNotBeDeleted) ? Refusal(.unknownItem, "no such record") : nil
        }
        if place.zone == .defaultZone, record.type == .users, !store.bends(.userRecordMayGo) {
            return Refusal(.permissionFailure, "a user record stays", rule: .userRecords)
        }
        guard asker.database.scope == .public, !store.bends(.publicRecordDeletableByOthers) else { return nil }
        guard stored(place) != nil, !store.mayWrite(record.type, of: record.createdBy, asker) else { return nil }
        return Refusal(.permissionFailure, "a record of somebody else", rule: .grants)
    }

    /// Those that have not failed, of records that are there, in zones whose saves let them.
    var deletesThatHappen: [Int] {
        deletes.indices.filter {
            let place = deletes[$0]
            return deleteRefusals[$0] == nil && records[place.zone]?[place.name] != nil && !isBlocked(place.zone)
                && !failedZones.contains(place.zone)
                && (!asker.isMember || seen(place) != nil || stored(place) == nil)
        }
    }

    /// Returns the record and its cascade: nearest first, then by name; records with loose references come last.
    func cascade(of place: ReferencePlace) -> [ReferenceName] {
        let records = records[place.zone] ?? [:]
        var names = heldCascade(of: place.name, in: place.zone, records)
        var room = store.limits.owningReferences
        var next = 0
        while next < names.count, room > 0, !store.bends(.looseReferencesStay), !store.bends(.cascadeIgnored) {
            let target = names[next]
            next += 1
            let loose = records.filter { owners(of: $0.key, $0.value, in: place.zone).loose.contains(target) }.keys
                .sorted()
            for name in loose.prefix(store.limits.owningReferences) where room > 0 && !names.contains(name) {
                let branch = heldCascade(of: name, in: place.zone, records)
                let cost = min(branch.count, room)
                room -= cost
                guard branch.count <= cost else { continue }
                let isWhole = !records.contains { child, record in
                    guard let parent = record.parent, record.holdsParent else { return false }
                    return branch.contains(parent) && !branch.contains(child)
                }
                if !isWhole || branch.contains(where: { !mayDelete($0, place) }) { continue }
                names += branch.filter { !names.contains($0) }
            }
        }
        return names
    }

    private func heldCascade(
        of first: ReferenceName, in zone: ReferenceName, _ records: [ReferenceName: ReferenceRecord]
    ) -> [ReferenceName] {
        var names = [first]
        var next = 0
        while next < names.count, !store.bends(.cascadeIgnored) {
            let owner = names[next]
            next += 1
            if store.bends(.cascadeStopsAfterOneLevel), next > 1 { break }
            for (name, record) in records.sorted(by: { $0.key < $1.key }) where !names.contains(name) {
                if owners(of: name, record, in: zone).held.contains(owner) { names.append(name) }
            }
            if !asker.isMember, let share = self.zone(zone)?.share(ofRoot: owner), !names.contains(share) {
                names.append(share)
            }
        }
        return names
    }

    /// Fails each delete that would take the parent of a record that stays.
    private mutating func failOrphaning() -> Bool {
        guard !store.bends(.orphansAllowed) else { return false }
        let cascades = deletesThatHappen.filter { !isLeaving(deletes[$0]) }.map { ($0, cascade(of: deletes[$0])) }
        var going: [ReferenceName: Set<ReferenceName>] = [:]
        for (index, names) in cascades { going[deletes[index].zone, default: []].formUnion(names) }
        let asked = Set(cascades.map { deletes[$0.0] })
        var held: Set<ReferencePlace> = []
        for (zone, names) in going {
            for (name, record) in records[zone] ?? [:] {
                guard let parent = record.parent, record.holdsParent, names.contains(parent) else { continue }
                let place = ReferencePlace(owner: "", zone: zone, name: name)
                let goes = store.bends(.cascadedChildHoldsParent) ? asked.contains(place) : names.contains(name)
                if !goes { held.insert(ReferencePlace(owner: "", zone: zone, name: parent)) }
            }
        }
        var hasFailed = false
        for (index, names) in cascades {
            let zone = deletes[index].zone
            guard names.contains(where: { held.contains(ReferencePlace(owner: "", zone: zone, name: $0)) }) else {
                continue
            }
            deleteRefusals[index] = Refusal(
                .referenceViolation, "the parent of a record that stays", rule: .neededParent)
            hasFailed = true
        }
        return hasFailed
    }
}
