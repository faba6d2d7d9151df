import StrataModel
import StrataViews

/// Judges requests for zones, and the service's actions on them (docs/rules.md §3).
struct ZonesJudge: RequestJudge {
    let judging: Judging
    let body: ModifyZonesRequest
    var request: Request { judging.request }
    var view: RulesView { judging.view }
    var resolved: ResolvedRequest { judging.resolved }
    var names: NameWriter
    var trace: Trace?
    var result = RequestResult()
    var leftOut: [RequestShape.LeftOut] = []

    static let capabilities: ZoneCapabilities = [.fetchChanges, .atomic, .sharing, .zoneWideSharing]

    init(_ judging: Judging, _ body: ModifyZonesRequest) {
        self.judging = judging
        self.body = body
        names = NameWriter(judging.view)
        trace = judging.newTrace
    }

    // MARK: Clients

    consuming func decide() throws -> Decision {
        try judging.limits.checkItemCount(body.saves.count + body.deletes.count)
        try judging.checkRoomForRequest()
        try checkDuplicates()
        if body.saves.isEmpty, body.deletes.isEmpty { return Decision(.nothing, result, trace: trace) }
        if resolved.scope == .shared { return try decideShared() }
        guard resolved.scope == .private else {
            throw Refusal(
                .badDatabase, "Zones can be saved and deleted in the private database only.", rule: .customZones)
        }
        var saves: [(zoneIndex: Int, scope: EncryptionScope)] = []
        for (index, save) in body.saves.enumerated() {
            let zoneIndex = try resolved.zoneIndex(of: save.zone)
            do {
                if let version = try judgeSave(save, zoneIndex) {
                    leftOut.append(.init(.saves, index: index, version: version))
                    result.saves.append(.success(version))
                } else {
                    result.saves.append(.success(.ofThisCommit(eventIndex: 0)))
                    saves.append((zoneIndex, save.encryptionScope))
                }
            } catch let refusal as Refusal {
                trace?.add(refusal.rule, "save \(index)", refusal.message)
                leftOut.append(.init(.saves, index: index, refusal: refusal))
                result.saves.append(.failure(refusal))
            }
        }
        var deletes: [Int] = []
        for (index, ordinal) in body.deletes.enumerated() {
            let zoneIndex = try resolved.zoneIndex(of: ordinal)
            let refusal = judgeDelete(zoneIndex)
            result.deletes.append(refusal)
            if let refusal {
                trace?.add(refusal.rule, "delete \(index)", refusal.message)
                leftOut.append(.init(.deletes, index: index, refusal: refusal))
            } else {
                deletes.append(zoneIndex)
            }
        }
        if saves.isEmpty, deletes.isEmpty { return Decision(.nothing, result, trace: trace) }
        return try commit(saves, deletes)
    }

    private func checkDuplicates() throws {
        var known = Set<Int>()
        for ordinal in body.saves.map(\.zone) + body.deletes {
            guard known.insert(try resolved.zoneIndex(of: ordinal)).inserted else {
                throw Refusal(.invalidArguments, "A zone appears twice in one operation.", rule: .zonesOnce)
            }
        }
    }

    /// Judges a save. Returns the version of the zone if it needs no save; nil if it must be written.
    ///
    /// - Throws: ``Refusal`` if the save fails.
    private func judgeSave(_ save: ModifyZonesRequest.Save, _ zoneIndex: Int) throws -> Version? {
        let zone = resolved.zones[zoneIndex]
        guard zone.isOwn else {
            throw Refusal(.zoneNotFound, "Zone '\(zone.name)' belongs to another user.", rule: .ownZone)
        }
        if zone.isDefault { return zone.row?.version ?? Version(offset: 0, eventIndex: 0) }
        guard NameRules.isName(zone.name), zone.name.utf8.first != UInt8(ascii: "_") else {
            throw Refusal(
                .invalidArguments,
                """
                A zone name has 1 to 255 characters, no control characters, and no underscore in front: \
                '\(zone.name)'.
                """, rule: .zoneNames)
        }
        guard zone.isAlive, let row = zone.row else { return nil }
        guard row.encryptionScope == save.encryptionScope else {
            throw Refusal(
                .invalidArguments, "The encryption scope of zone '\(zone.name)' can no longer change.",
                rule: .zoneKeys)
        }
        return row.version
    }

    private func judgeDelete(_ zoneIndex: Int) -> Refusal? {
        let zone = resolved.zones[zoneIndex]
        if zone.isDefault, zone.isOwn {
            return Refusal(.invalidArguments, "The default zone cannot be deleted.", rule: .zonesOnce)
        }
        return zone.refusal?.ofMissingZone(.existingZoneOfDelete)
    }

    private mutating func commit(_ saves: [(zoneIndex: Int, scope: EncryptionScope)], _ deletes: [Int]) throws
        -> Decision
    {
        var commit = CommitBuilder()
        let first = try ActorBootstrap(judging.actor, view, &names)
        let database = try names.ordinal(of: .database(.private, owner: first.user))
        var ordinals: [UInt64] = []
        for (zoneIndex, _) in saves {
            ordinals.append(
                try names.ordinal(of: .zone(database: database, owner: first.user, resolved.zones[zoneIndex].name)))
        }
        try names.append(to: &commit)
        try first.append(to: &commit, sparing: nil)
        var shape = RequestShape(
            .modifyZones, firstItemEvent: commit.count, saveCount: result.saves.count,
            deleteCount: result.deletes.count)
        var versions: [Version] = []
        for ((_, scope), ordinal) in zip(saves, ordinals) {
            let event = try commit.append(
                ZoneSavedEvent(
                    zone: ordinal, database: database, capabilities: Self.capabilities, encryptionScope: scope))
            versions.append(.ofThisCommit(eventIndex: event))
        }
        var next = versions.makeIterator()
        for index in result.saves.indices where (try? result.saves[index].get())?.isOfThisCommit == true {
            result.saves[index] = .success(next.next() ?? versions[0])
        }
        for zoneIndex in deletes { try appendDelete(zoneIndex, database, .deleted, to: &commit) }
        try shape.keep(request, leavingOut: leftOut)
        return try finish(commit, .modifyZones, user: first.user, device: first.device, shape)
    }

    private func appendDelete(
        _ zoneIndex: Int, _ database: UInt64, _ reason: ZoneDeletedEvent.Reason, to commit: inout CommitBuilder
    ) throws {
        let zone = resolved.zones[zoneIndex]
        try endShares(of: zone.ordinal, in: &commit)
        try commit.append(
            ZoneDeletedEvent(
                zone: zone.ordinal, database: database, incarnation: zone.row?.incarnation, reason: reason))
    }

    func finish(
        _ commit: CommitBuilder, _ kind: EnvelopeHeader.OperationKind, user: UInt64 = 0, device: UInt64 = 0,
        _ shape: RequestShape
    ) throws -> Decision {
        let header = try judging.context.header(kind, user: user, device: device, shape)
        return Decision(commit, header, result, naming: names.new, trace: trace)
    }

    // MARK: The service

    consuming func decidePurge(of zone: UInt64) throws -> Decision {
        try requirePrivateDatabase()
        var commit = CommitBuilder()
        let zoneIndex = try resolved.zoneIndex(of: zone)
        result.deletes = [judgeDelete(zoneIndex)]
        if result.deletes[0] == nil { try appendDelete(zoneIndex, resolved.database, .purged, to: &commit) }
        return try finish(commit)
    }

    consuming func decideReset() throws -> Decision {
        try requirePrivateDatabase()
        var commit = CommitBuilder()
        for (zone, row) in try encryptedZones() {
            try endShares(of: zone, in: &commit)
            try commit.append(
                ZoneDeletedEvent(
                    zone: zone, database: resolved.database, incarnation: row.incarnation, reason: .encryptedDataReset))
        }
        return try finish(commit)
    }

    private func requirePrivateDatabase() throws {
        guard resolved.scope == .private else {
            throw Refusal(.badDatabase, "The request must name a user's private database.", rule: .customZones)
        }
    }

    private func finish(_ commit: CommitBuilder) throws -> Decision {
        guard commit.count > 0 else { return Decision(.nothing, result, trace: trace) }
        var shape = RequestShape(
            .administer, firstItemEvent: 0, saveCount: 0, deleteCount: result.deletes.count)
        try shape.keep(request)
        return try finish(commit, .console, shape)
    }

    private func encryptedZones() throws -> [(zone: UInt64, row: ZoneRow)] {
        guard resolved.database != 0 else { return [] }
        let fork = try view.fold.whole()
        return try fork.zoneRows(of: resolved.database).filter { zone, row in
            guard row.status == .alive, row.capabilities.contains(.fetchChanges) else { return false }
            var hasEncrypted = false
            try fork.forEachRecord(of: zone) { _, state in
                let table = try RecordStateView(state, in: 0..<state.count).fields()
                for index in 0..<table.count where try table.kind(at: index)?.isSealed == true { hasEncrypted = true }
                return !hasEncrypted
            }
            return hasEncrypted
        }
    }
}
