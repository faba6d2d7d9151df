import StrataModel

extension ReferenceStore {
    /// Where a zone is, within a database.
    private struct ZonePlace: Hashable {
        var owner: ReferenceName
        var name: ReferenceName
    }

    mutating func modifyZones(
        _ request: ModifyZonesRequest, _ names: RequestNames, _ asker: Asker, _ time: Int64
    ) throws(Refusal) -> RequestResult {
        let count = request.saves.count + request.deletes.count
        try checkItemCount(count)
        var saves: [ZonePlace] = []
        var deletes: [ZonePlace] = []
        for save in request.saves { saves.append(try Self.place(of: save.zone, names, asker)) }
        for zone in request.deletes { deletes.append(try Self.place(of: zone, names, asker)) }
        guard Set(saves + deletes).count == count || bends(.duplicateAccepted) else {
            throw Refusal(.invalidArguments, "a zone twice in one request", rule: .zonesOnce)
        }
        guard count > 0 else { return RequestResult() }
        if asker.isMember {
            return leaveZones(saves.map { ($0.owner, $0.name) }, deletes.map { ($0.owner, $0.name) }, asker, time)
        }
        try checkZonesMayChange(asker)

        let saved = zip(saves, request.saves).map { zoneRefusal(saving: $0, $1.encryptionScope, asker) }
        let deleted = deletes.map { zoneRefusal(deleting: $0, asker) }
        let writes =
            deleted.contains { $0 == nil }
            || saves.indices.contains { saved[$0] == nil && isWritten(saves[$0].name, asker) }
        let isFirstWrite = writes && state.databases[asker.database] == nil
        let before = state
        if writes { beginCommit() }
        if isFirstWrite { createDatabases(asker, time, except: []) }
        var result = RequestResult()
        for index in saves.indices {
            let name = saves[index].name
            if let refusal = saved[index] {
                result.saves.append(.failure(refusal))
            } else if isWritten(name, asker) {
                result.saves.append(.success(writeZone(name, request.saves[index].encryptionScope, asker)))
            } else {
                let zone = before.databases[asker.database]?.zones[name]
                result.saves.append(.success(zone?.version ?? Version(offset: 0, eventIndex: 0)))
            }
        }
        for index in deletes.indices where deleted[index] == nil {
            endZone(deletes[index].name, .deleted, asker.database)
        }
        result.deletes = deleted
        return result
    }

    mutating func administer(
        _ request: AdministerRequest, _ names: RequestNames, _ asker: Asker
    ) throws(Refusal) -> RequestResult {
        switch request {
        case .purgeZone, .resetEncryptedData: try checkZonesMayChange(asker)
        case .setAccountStatus(let status, let user):
            let forgetsQuota = bends(.statusResetsQuota)
            return try setAccount(of: user) { account in
                account.status = status
                if forgetsQuota { account.quota = 0 }
            }
        case .setQuota(let bytes, let user): return try setAccount(of: user) { $0.quota = bytes }
        case .note(let note): return try keepNote(note)
        case .setPerson(let person, let user, _): return try setPerson(person, of: user)
        case .addAddress(let address, let user): return try addAddress(address, to: user)
        case .setRole(let role, let users): return try setRole(role, of: users)
        case .setDiscoverability(let answer, let user):
            return try setAccount(of: user) { $0.person.discoverability = answer }
        case .expireTokens, .eraseRecords, .drawSecret: throw Refusal(.internalError, "it is not modelled")
        }
        switch request {
        case .purgeZone(let ordinal):
            let place = try Self.place(of: ordinal, names, asker)
            let refusal = zoneRefusal(deleting: place, asker)
            if refusal == nil {
                beginCommit()
                endZone(place.name, .purged, asker.database)
            }
            return RequestResult(deletes: [refusal])
        case .resetEncryptedData:
            let zones = state.databases[asker.database]?.zones.values.sorted { $0.ordinal < $1.ordinal } ?? []
            let ending = zones.filter { zone in
                guard zone.isAlive, zone.name != .defaultZone, !bends(.resetSparesZones) else { return false }
                return bends(.resetEndsPlainZones) || zone.records.values.contains(where: \.hasEncryptedValue)
            }
            if !ending.isEmpty { beginCommit() }
            for zone in ending { endZone(zone.name, .encryptedDataReset, asker.database) }
            return RequestResult()
        default: return RequestResult()
        }
    }

    private func checkZonesMayChange(_ asker: Asker) throws(Refusal) {
        guard asker.database.scope == .private || bends(.zonesInEveryDatabase) else {
            throw Refusal(.badDatabase, "zones are of private databases", rule: .customZones)
        }
    }

    private static func place(
        of ordinal: UInt64, _ names: RequestNames, _ asker: Asker
    ) throws(Refusal) -> ZonePlace {
        guard let zone = names.zone(ordinal) else {
            throw Refusal(.invalidArguments, "no such name", rule: .requestNames)
        }
        return ZonePlace(owner: asker.owner(zone), name: ReferenceName(zone.name))
    }

    private func zoneRefusal(saving place: ZonePlace, _ scope: EncryptionScope, _ asker: Asker) -> Refusal? {
        guard place.owner == "" || bends(.foreignOwnerAccepted) else {
            return Refusal(.zoneNotFound, "a zone of somebody else", rule: .ownZone)
        }
        if place.name == .defaultZone { return nil }
        let isLegal = place.name.isLegalForNew || (bends(.illegalZoneNameAccepted) && place.name.isOfLegalLength)
        guard isLegal else { return Refusal(.invalidArguments, "no name for a zone", rule: .zoneNames) }
        guard let zone = state.databases[asker.database]?.zones[place.name], zone.isAlive else { return nil }
        guard zone.encryptionScope == scope || bends(.encryptionScopeMayChange) else {
            return Refusal(.invalidArguments, "the encryption scope is settled", rule: .zoneKeys)
        }
        return nil
    }

    private func zoneRefusal(deleting place: ZonePlace, _ asker: Asker) -> Refusal? {
        guard place.owner == "" || bends(.foreignOwnerAccepted) else {
            return Refusal(.zoneNotFound, "a zone of somebody else", rule: .ownZone)
        }
        if place.name == .defaultZone {
            let isWritten = state.databases[asker.database] != nil
            return bends(.defaultZoneMayGo) && isWritten
                ? nil : Refusal(.invalidArguments, "the default zone stays", rule: .zonesOnce)
        }
        guard let refusal = missingZone(place.owner, place.name, asker, rule: .existingZoneOfDelete) else { return nil }
        return bends(.missingZoneMayBeDeleted) && state.databases[asker.database]?.zones[place.name] != nil
            ? nil : refusal
    }

    /// Whether an accepted save of the zone writes anything.
    private func isWritten(_ name: ReferenceName, _ asker: Asker) -> Bool {
        guard name != .defaultZone else { return false }
        guard let zone = state.databases[asker.database]?.zones[name], zone.isAlive else { return true }
        return bends(.savedZoneIsWrittenAgain) || bends(.encryptionScopeMayChange)
    }

    /// What a request is told of a zone that is not there (docs/rules.md §4); nil if it is.
    ///
    /// - Parameter rule: that of a zone which simply is not there.
    func missingZone(
        _ owner: ReferenceName, _ name: ReferenceName, _ asker: Asker, rule: Rule = .existingZone
    ) -> Refusal? {
        if asker.isMember { return missingSharedZone(owner, name, asker, rule: rule) }
        guard owner == "" || bends(.foreignOwnerAccepted) else {
            return Refusal(.zoneNotFound, "a zone of somebody else", rule: .ownZone)
        }
        if name == .defaultZone, asker.database.scope != .shared {
            let zone = state.databases[asker.database]?.zones[name]
            return zone?.isAlive == false ? Refusal(.zoneNotFound, "no such zone", rule: rule) : nil
        }
        guard let zone = state.databases[asker.database]?.zones[name] else {
            return Refusal(.zoneNotFound, "no such zone", rule: rule)
        }
        switch zone.ending {
        case nil: return nil
        case .deleted?: return Refusal(.zoneNotFound, "no such zone", rule: rule)
        case .purged?:
            return Refusal(
                bends(.purgedZoneIsNotFound) ? .zoneNotFound : .userDeletedZone, "purged", rule: .zonesTakenByService)
        case .encryptedDataReset?:
            return Refusal(
                .zoneNotFound, "reset", rule: .zonesTakenByService, didResetEncryptedData: !bends(.resetZoneHasNoMark))
        }
    }

    // MARK: Writing

    mutating func writeZone(_ name: ReferenceName, _ scope: EncryptionScope, _ asker: Asker) -> Version {
        let version = nextVersion()
        var database = state.databases[asker.database] ?? ReferenceDatabase()
        let old = database.zones[name]
        var zone = ReferenceZone(
            name: name, ordinal: old?.ordinal ?? database.zones.count, version: version, incarnation: version,
            capabilities: name == .defaultZone ? [] : [.fetchChanges, .atomic, .sharing, .zoneWideSharing],
            encryptionScope: scope)
        if let old {
            let isSameLife = old.isAlive
            if isSameLife { zone.incarnation = old.incarnation }
            if isSameLife { zone.changes = old.changes }
            if isSameLife || bends(.recreatedZoneKeepsRecords) { zone.records = old.records }
            if isSameLife || bends(.recreatedZoneKeepsTokens) { zone.tokens = old.tokens }
            if bends(.recreatedZoneKeepsEnding) { zone.ending = old.ending }
        }
        database.zones[name] = zone
        database.zoneChanges.append(ReferenceZoneChange(zone: name, ending: nil, version: version))
        state.databases[asker.database] = database
        return version
    }

    private mutating func endZone(_ name: ReferenceName, _ ending: ZoneDeletedEvent.Reason, _ database: DatabaseID) {
        let version = nextVersion()
        if bends(.subscriptionsGoWithTheirZone) { dropSubscriptions(to: name, database) }
        state.databases[database]?.zones[name]?.ending = ending
        state.databases[database]?.zones[name]?.version = version
        if !bends(.recreatedZoneKeepsRecords) { state.databases[database]?.zones[name]?.records = [:] }
        if !bends(.recreatedZoneKeepsTokens) { state.databases[database]?.zones[name]?.tokens = [:] }
        let change = ReferenceZoneChange(zone: name, ending: ending, version: version)
        state.databases[database]?.zoneChanges.append(change)
    }

    private mutating func dropSubscriptions(to zone: ReferenceName, _ database: DatabaseID) {
        for (user, subscriptions) in state.databases[database]?.subscriptions ?? [:] {
            state.databases[database]?.subscriptions[user] = subscriptions.filter { _, subscription in
                subscription.content.zone.map { ReferenceName($0.name) } != zone
            }
        }
    }
}
