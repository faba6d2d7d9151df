import StrataModel

extension ReferenceStore.Judgement {
    /// docs/rules.md §5, steps 1 to 9.
    mutating func judgeAlone(_ index: Int) {
        let save = saves[index]
        let refusal =
            store.missingZone(save.place.owner, save.place.zone, asker) ?? refusalOfNames(save) ?? refusalOfPlace(
                ofShare: save)
            ?? refusalOfRight(save) ?? refusalOfPolicy(save)
        guard refusal == nil else { return saveRefusals[index] = refusal }
        var fields: [(key: ReferenceName, value: FieldValue?)] = []
        for field in save.fields {
            switch fitted(field.value, key: field.key, type: save.type) {
            case .success(let value): fields.append((field.key, value))
            case .failure(let refusal): return saveRefusals[index] = refusal
            }
        }
        var record = merge(fields, of: save)
        if save.type == .share {
            switch changed(record.sharing, by: save) {
            case .success(let sharing): record.sharing = sharing
            case .failure(let refusal): return saveRefusals[index] = refusal
            }
        }
        if let refusal = refusalOfTargets(save) ?? refusalOfSize(record) ?? refusalOfQuota(record, save) {
            return saveRefusals[index] = refusal
        }
        if !store.bends(.firstSaveDoesNotBindInRequest) { bind(fields, save.type) }
        // Only now, so that no other answer tells whether the record is there.
        if asker.isMember, stored(save.place) != nil, seen(save.place) == nil {
            return saveRefusals[index] = ReferenceStore.shareRefusal(
                .permissionFailure, "a record outside the shares", "B372")
        }
        merged[index] = record
    }

    private func stored(_ name: ReferenceName?, _ place: ReferencePlace) -> ReferenceRecord? {
        name.flatMap { zone(place.zone)?.records[$0] }
    }

    private func isOwnUserRecord(_ place: ReferencePlace) -> Bool {
        place == asker.userRecord && asker.database.scope != .shared
    }

    /// Steps 2 to 4.
    private func refusalOfNames(_ save: ReferenceStore.SaveItem) -> Refusal? {
        let stored = seen(save.place)
        let isOwn = isOwnUserRecord(save.place)
        guard save.type.isLegalWord || save.type == .share || store.bends(.illegalTypeAccepted) else {
            return Refusal(.invalidArguments, "no name for a type", rule: .recordTypes)
        }
        if save.type == .users, !isOwn, stored?.type != .users, !store.bends(.usersTypeForAnyRecord) {
            return Refusal(.permissionFailure, "a type for user records", rule: .userRecords)
        }
        for field in save.fields where !field.key.isLegalWord && !store.bends(.illegalKeyAccepted) {
            return Refusal(.invalidArguments, "no name for a key", rule: .keys)
        }
        if let stored {
            guard stored.type == save.type || store.bends(.typeMayChange) else {
                return Refusal(.invalidArguments, "a record keeps its type", rule: .recordTypes)
            }
        } else if isOwn {
            guard save.type == .users || store.bends(.userRecordOfAnyType) else {
                return Refusal(.invalidArguments, "a user record has the type Users", rule: .recordTypes)
            }
        } else {
            guard save.place.name.isLegalForNew || store.bends(.illegalNameAccepted) else {
                return Refusal(.invalidArguments, "no name for a record", rule: .recordNames)
            }
        }
        return nil
    }

    /// Step 5.
    private func refusalOfRight(_ save: ReferenceStore.SaveItem) -> Refusal? {
        if asker.isMember { return refusalOfMember(save) }
        guard asker.database.scope == .public else { return nil }
        guard let stored = stored(save.place) else {
            let user = asker.actor.user
            let may = store.state.permits(.create, on: save.type, of: user, to: user)
            return may || store.bends(.everybodyCreates)
                ? nil : Refusal(.permissionFailure, "nothing to be made here", rule: .grants)
        }
        guard store.mayWrite(stored.type, of: stored.createdBy, asker) || store.bends(.publicRecordWritableByOthers)
        else {
            return Refusal(
                .permissionFailure, "a record of somebody else", rule: stored.type == .users ? .userRecords : .grants)
        }
        return nil
    }

    /// Step 6.
    private func refusalOfPolicy(_ save: ReferenceStore.SaveItem) -> Refusal? {
        let stored = seen(save.place)
        let looks =
            request.policy == .ifServerRecordUnchanged
            || request.policy == .changedKeys && store.bends(.changedKeysChecksTag) || isJudgedByTag(save)
        guard looks else { return nil }
        let isBare = store.bends(.refusalNamesNoVersions)
        let isForced = request.policy != .ifServerRecordUnchanged && isJudgedByTag(save)
        let forced = isForced ? Rule(rawValue: "B379") : nil
        switch (stored, save.base) {
        case (nil, nil): return nil
        case (nil, let base?):
            guard !store.bends(.deletedWithTagCreates) else { return nil }
            return Refusal(
                .unknownItem, "the record is gone", rule: .tagOfMissingRecord, baseVersion: isBare ? nil : base)
        case (let stored?, nil):
            guard !store.bends(.insertsOverExisting) else { return nil }
            return Refusal(
                .serverRecordChanged, "exists", rule: forced ?? .newRecordOnly,
                serverVersion: isBare ? nil : stored.version)
        case (let stored?, let base?):
            guard stored.version != base, !store.bends(.staleTagIgnored) else { return nil }
            return Refusal(
                .serverRecordChanged, "changed since", rule: forced ?? .staleTag,
                serverVersion: isBare ? nil : stored.version,
                baseVersion: isBare ? nil : base)
        }
    }

    /// The record as it would be, without its times, users and version.
    private func merge(
        _ fields: [(key: ReferenceName, value: FieldValue?)], of save: ReferenceStore.SaveItem
    ) -> ReferenceRecord {
        var record =
            seen(save.place)
            ?? ReferenceRecord(
                type: save.type, created: 0, createdBy: "", modified: 0, modifiedBy: "", modifiedWith: "",
                version: Version(offset: 0, eventIndex: 0))
        record.type = save.type
        if request.policy == .allKeys, store.bends(.allKeysRemovesOthers) { record.fields = [:] }
        for field in fields where field.value != nil || !store.bends(.removedKeyStays) {
            record.fields[field.key] = field.value
        }
        switch save.parent {
        case .set(let place?): record.parent = place.name
        case .removed: record.parent = nil
        default: if store.bends(.keptParentIsLost) { record.parent = nil }
        }
        switch save.share {
        case .set(let place?): record.share = place.name
        case .removed: if stored(record.share, save.place)?.sharing == nil { record.share = nil }
        default: break
        }
        return record
    }

    /// Step 8.
    private func refusalOfTargets(_ save: ReferenceStore.SaveItem) -> Refusal? {
        for value in save.fields.compactMap(\.value) {
            for case .reference(let reference) in value.parts {
                guard reference.target.zone == 0 || store.bends(.referenceToOtherZoneAccepted) else {
                    return Refusal(.invalidArguments, "a reference to another zone", rule: .referencesWithinZone)
                }
                guard ReferenceName(reference.target.name).isOfLegalLength || store.bends(.longTargetAccepted) else {
                    return Refusal(.invalidArguments, "no name of a target", rule: .referenceNames)
                }
                if save.type == .share, reference.action == .deleteSelf {
                    return Refusal(.invalidArguments, "a share that would go with a record", rule: .shareReferences)
                }
            }
        }
        if case .set(let parent) = save.parent {
            guard let parent else {
                return Refusal(.invalidArguments, "a parent in no zone", rule: .referencesWithinZone)
            }
            let isSameZone = parent.zone == save.place.zone && parent.owner == save.place.owner
            guard isSameZone || store.bends(.referenceToOtherZoneAccepted) else {
                return Refusal(.invalidArguments, "a parent in another zone", rule: .referencesWithinZone)
            }
            guard parent.name.isOfLegalLength else {
                return Refusal(.invalidArguments, "no name of a parent", rule: .referenceNames)
            }
        }
        if case .set(let share) = save.share {
            guard let share, share.zone == save.place.zone, share.owner == save.place.owner else {
                return Refusal(.invalidArguments, "a share in another zone", rule: .referencesWithinZone)
            }
            guard share.name.isOfLegalLength else {
                return Refusal(.invalidArguments, "no name of a share", rule: .referenceNames)
            }
        }
        return nil
    }

    /// Step 9, its end.
    private mutating func refusalOfQuota(_ record: ReferenceRecord, _ save: ReferenceStore.SaveItem) -> Refusal? {
        let quota = store.state.accounts[asker.database.owner]?.quota ?? 0
        guard asker.database.scope == .private, quota > 0, !store.bends(.quotaIgnored) else { return nil }
        let growth = record.usedBytes - (seen(save.place)?.usedBytes ?? 0)
        if growth <= 0, !store.bends(.quotaHoldsForSmaller) { return nil }
        let used = (store.state.databases[asker.database]?.usedBytes ?? 0) + added
        guard used + growth <= Int(quota) else {
            return Refusal(.quotaExceeded, "no room", rule: .recordLimits)
        }
        added += max(0, growth)
        return nil
    }

    /// Step 9.
    private func refusalOfSize(_ record: ReferenceRecord) -> Refusal? {
        let bytes = record.fields.reduce(0) { $0 + $1.key.text.utf8.count + $1.value.countedBytes }
        let most = store.limit(store.limits.recordBytes, less: .recordOneByteLess, more: .recordOneByteMore)
        return bytes <= most ? nil : Refusal(.limitExceeded, "a record that is too large", rule: .byteLimit)
    }
}
