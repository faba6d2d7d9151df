import StrataModel

extension ReferenceStore.Judgement {
    /// docs/rules.md §5, steps 10 and 11, until nothing more fails; what has failed stays failed.
    mutating func judgeTogether() {
        var hasFailed = true
        while hasFailed {
            hasFailed = failOutside() || failOverlapping()
            for fails in [failParentless(), failOverOwned(), failLoneShares()] where fails { hasFailed = true }
        }
    }

    func isAccepted(_ index: Int) -> Bool { saveRefusals[index] == nil }

    private mutating func failParentless() -> Bool {
        guard !store.bends(.parentNeedNotExist) else { return false }
        var hasFailed = false
        for (index, save) in saves.enumerated() where isAccepted(index) {
            guard case .set(let parent?) = save.parent, stored(parent) == nil else { continue }
            if let before = stored(save.place), before.parent == parent.name, !before.holdsParent { continue }
            let isSaved = saves.indices.contains {
                // A parent that failed in an atomic zone fails everything there anyway (B102).
                saves[$0].place == parent
                    && (isAccepted($0) || isAtomic(parent.zone) || store.bends(.failedParentSuffices))
            }
            if isSaved, !store.bends(.parentMustBeStored) { continue }
            let isTried = saves.contains { $0.place == parent }
            saveRefusals[index] = Refusal(
                .referenceViolation, "a parent that is not there", rule: isTried ? .failedParent : .existingParent)
            hasFailed = true
        }
        return hasFailed
    }

    /// One walk over the saves in order, each put into the records before the next is judged.
    private mutating func failOverOwned() -> Bool {
        let most = store.limit(store.limits.owningReferences, less: .oneOwnedLess, more: .oneOwnedMore)
        var hasFailed = false
        var records: [ReferenceName: [ReferenceName: ReferenceRecord]] = [:]
        for (index, save) in saves.enumerated() {
            guard isAccepted(index), let merged = withHolding(index) else { continue }
            let zone = save.place.zone
            if records[zone] == nil { records[zone] = counted(in: zone) }
            let name = save.place.name
            let before = records[zone]?[name].map { owners(of: name, $0, in: zone).held } ?? []
            let added = owners(of: name, merged, in: zone).held.subtracting(before)
            let isOver = added.contains { target in
                owned(by: target, in: records[zone] ?? [:], counted(in: zone), zone) + 1 > most
            }
            if isOver {
                saveRefusals[index] = Refusal(
                    .limitExceeded, "too many owning references to one record", rule: .referrerLimit)
                hasFailed = true
            } else {
                records[zone]?[name] = merged
            }
        }
        return hasFailed
    }

    /// The stored records whose references count: for members, those that they see.
    private func counted(in name: ReferenceName) -> [ReferenceName: ReferenceRecord] {
        guard let zone = zone(name) else { return [:] }
        return asker.isMember ? zone.visible(to: asker.actor.user) : zone.records
    }

    private func owned(
        by target: ReferenceName, in records: [ReferenceName: ReferenceRecord],
        _ before: [ReferenceName: ReferenceRecord], _ zone: ReferenceName
    ) -> Int {
        func holding(_ records: [ReferenceName: ReferenceRecord]) -> Set<ReferenceName> {
            Set(records.filter { owners(of: $0.key, $0.value, in: zone).held.contains(target) }.keys)
        }
        guard store.bends(.releasedOwnersCount) else { return holding(records).count }
        return holding(records).union(holding(before)).count
    }
}
