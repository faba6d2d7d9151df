import StrataModel

extension ReferenceStore {
    /// docs/rules.md §9: writes what a judgement accepted, and says what became of each item.
    mutating func write(_ judgement: Judgement, _ items: ReferenceItems, _ time: Int64) -> RequestResult {
        let asker = judgement.asker
        let accepted = judgement.saves.indices.filter { judgement.saveRefusals[$0] == nil }
        var versions: [Int: Version] = [:]
        if !accepted.isEmpty || !judgement.going.isEmpty || !judgement.left.isEmpty {
            beginCommit()
            let isFirstWrite = state.databases[DatabaseID(.private, owner: asker.actor.user)] == nil
            let saved = accepted.map { judgement.saves[$0].place }
            if isFirstWrite { createDatabases(asker, time, except: Set(saved)) }
            bind(judgement, accepted)
            for index in accepted { versions[index] = save(index, judgement, time) }
            if touchesParents, !bends(.parentIsNotTouched) { touchParents(judgement, saved, time) }
            for place in judgement.going { delete(place, asker) }
            endShares(of: judgement, time)
            for place in judgement.left { leave(place.zone, place.name, asker, time) }
        }
        let nothing = Version(offset: 0, eventIndex: 0)
        let result = RequestResult(
            saves: judgement.saveRefusals.enumerated().map { index, refusal in
                guard let refusal, !isHidden(refusal) else { return .success(versions[index] ?? nothing) }
                return .failure(refusal)
            },
            deletes: judgement.deleteRefusals.map { $0.flatMap { isHidden($0) ? nil : $0 } })
        if let token = judgement.request.clientToken {
            var changed = Set(
                accepted.map { judgement.saves[$0].place.zone } + (judgement.going + judgement.left).map(\.zone))
            if bends(.tokenKeptWhereNothingChanged) { changed = judgement.zonesWithItems }
            for zone in changed {
                state.databases[asker.database]?.zones[zone]?.tokens[asker.actor] = ReferenceToken(
                    token: token, commit: commitCount, items: items, result: result)
            }
        }
        return result
    }

    private func isHidden(_ refusal: Refusal) -> Bool {
        refusal.code == .batchRequestFailed && bends(.bystandersGetNoError)
    }

    /// The private database of a user and the public one if there is none, and user records that are not being saved.
    mutating func createDatabases(_ asker: Asker, _ time: Int64, except saved: Set<ReferencePlace>) {
        for scope in [InternedName.Scope.private, .public] {
            let database = DatabaseID(scope, owner: scope == .public ? "" : asker.actor.user)
            if state.databases[database] == nil {
                let version = nextVersion()
                let zone = ReferenceZone(
                    name: .defaultZone, ordinal: 0, version: version, incarnation: version, capabilities: [],
                    encryptionScope: .record)
                state.databases[database] = ReferenceDatabase()
                state.databases[database]?.zones[.defaultZone] = zone
                let change = ReferenceZoneChange(zone: .defaultZone, ending: nil, version: version)
                state.databases[database]?.zoneChanges.append(change)
            }
            let isSaved = database == asker.database && saved.contains(asker.userRecord)
            guard !isSaved || bends(.userRecordMadeOverSaved), !bends(.firstWriteMakesNoUserRecord) else { continue }
            let user = asker.actor.user
            let record = ReferenceRecord(
                type: .users, created: time, createdBy: user, modified: time, modifiedBy: user,
                modifiedWith: asker.actor.device, version: nextVersion())
            put(record, asker.userRecord, database)
        }
    }

    mutating func put(_ record: ReferenceRecord, _ place: ReferencePlace, _ database: DatabaseID) {
        let change = ReferenceChange(kind: .saved, record: place.name, version: record.version)
        state.databases[database]?.zones[place.zone]?.records[place.name] = record
        state.databases[database]?.zones[place.zone]?.changes.append(change)
    }

    private mutating func delete(_ place: ReferencePlace, _ asker: Asker) {
        let change = ReferenceChange(kind: .deleted, record: place.name, version: nextVersion())
        state.databases[asker.database]?.zones[place.zone]?.records[place.name] = nil
        state.databases[asker.database]?.zones[place.zone]?.changes.append(change)
    }

    /// A key is bound by what it was saved with, after it was fitted.
    private mutating func bind(_ judgement: Judgement, _ accepted: [Int]) {
        let binding = bends(.refusedSaveBinds) ? Array(judgement.saves.indices) : accepted
        for index in binding {
            let save = judgement.saves[index]
            for (key, sent) in save.fields {
                guard sent != nil, let kind = judgement.merged[index]?.fields[key]?.kind, binds(kind) else { continue }
                if state.schema[save.type]?[key] == nil {
                    state.schema[save.type, default: [:]][key] = ReferenceBinding(kind)
                }
            }
        }
    }

    private mutating func save(_ index: Int, _ judgement: Judgement, _ time: Int64) -> Version {
        let place = judgement.saves[index].place
        let actor = judgement.asker.actor
        let old = state.databases[judgement.asker.database]?.zones[place.zone]?.records[place.name]
        guard var record = judgement.merged[index] else { return Version(offset: 0, eventIndex: 0) }
        let isFresh = judgement.stored(place) == nil
        if isFresh {
            record.created = time
            record.createdBy = actor.user
            let earlier = earlierCreations[judgement.asker.database]?[place]
            if bends(.creationDateIsKept), let earlier { record.created = earlier }
            earlierCreations[judgement.asker.database, default: [:]][place] = record.created
        }
        let earliest = old.map { $0.modified + 1_000 } ?? time
        record.modified = bends(.modifiedMayStandStill) ? time : max(time, earliest)
        record.modifiedBy = actor.user
        record.modifiedWith = actor.device
        record.sharing = record.sharing.map { Self.dated($0, time) }
        record.version = nextVersion()
        put(record, place, judgement.asker.database)
        return record.version
    }

    private mutating func touchParents(_ judgement: Judgement, _ saved: [ReferencePlace], _ time: Int64) {
        var untouchable = Set(judgement.saves.map(\.place) + judgement.deletes + judgement.going)
        if bends(.savedParentIsTouched) { untouchable = Set(judgement.going) }
        // They get a new version when they lose their share.
        untouchable.formUnion(judgement.rootsOfEndingShares)
        for child in saved {
            var place = child
            for _ in 0..<(bends(.touchGoesTwoLevels) ? 2 : 1) {
                let records = state.databases[judgement.asker.database]?.zones[child.zone]?.records
                guard let saved = records?[place.name], saved.holdsParent, let parent = saved.parent,
                    var record = records?[parent]
                else { break }
                place.name = parent
                guard judgement.holdsParent(place), judgement.mayTouch(place) else { break }
                guard untouchable.insert(place).inserted else { continue }
                if bends(.touchChangesModification) {
                    record.modified = max(time, record.modified + 1_000)
                    record.modifiedBy = judgement.asker.actor.user
                }
                record.version = nextVersion()
                put(record, place, judgement.asker.database)
            }
        }
    }
}
