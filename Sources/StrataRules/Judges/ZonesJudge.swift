import StrataModel
import StrataViews

/// Judges requests for zones, and the service's actions on them (docs/rules.md §3).
struct ZonesJudge {
    private let rules: Rules
    private let request: Request
    private let view: RulesView
    private let context: RequestContext
    private let actor: ActorState
    private let scene: ResolvedRequest
    private var names: NameWriter
    private var trace: Trace?
    private var result = RequestResult()
    private var leftOut: [RequestShape.LeftOut] = []
    private var leftOutBody = ModifyZonesRequest()
    private var leftOutNames = RequestNames()

    static let capabilities: ZoneCapabilities = [.fetchChanges, .atomic, .sharing, .zoneWideSharing]

    init(_ rules: Rules, _ request: Request, _ view: RulesView, _ context: RequestContext) throws {
        self.rules = rules
        self.request = request
        self.view = view
        self.context = context
        actor = try ActorState(context.actor, view)
        scene = try ResolvedRequest(request, actor, view)
        names = NameWriter(view)
        trace = context.isTraced ? Trace() : nil
    }

    // MARK: Clients

    consuming func decide(_ body: ModifyZonesRequest) throws -> Decision {
        try rules.checkItemCount(body.saves.count + body.deletes.count)
        try rules.checkRoom(for: request, of: context.actor)
        try checkDuplicates(body)
        if body.saves.isEmpty, body.deletes.isEmpty { return Decision(.nothing, result, trace: trace) }
        guard scene.scope == .private else {
            throw Refusal(
                .badDatabase, "Zones can be saved and deleted in the private database only.", rule: .customZones)
        }
        var saves: [(place: Int, scope: EncryptionScope)] = []
        for (index, save) in body.saves.enumerated() {
            let place = try scene.place(save.zone)
            do {
                if let version = try judgeSave(save, place) {
                    leaveOut(.saves, index, nil, version, save.zone, save.encryptionScope)
                    result.saves.append(.success(version))
                } else {
                    result.saves.append(.success(.ofThisCommit(eventIndex: 0)))
                    saves.append((place, save.encryptionScope))
                }
            } catch let refusal as Refusal {
                trace?.add(refusal.rule, "save \(index)", refusal.message)
                leaveOut(.saves, index, refusal, nil, save.zone, save.encryptionScope)
                result.saves.append(.failure(refusal))
            }
        }
        var deletes: [Int] = []
        for (index, ordinal) in body.deletes.enumerated() {
            let place = try scene.place(ordinal)
            let refusal = judgeDelete(place)
            result.deletes.append(refusal)
            if let refusal {
                trace?.add(refusal.rule, "delete \(index)", refusal.message)
                leaveOut(.deletes, index, refusal, nil, ordinal, .record)
            } else {
                deletes.append(place)
            }
        }
        if saves.isEmpty, deletes.isEmpty { return Decision(.nothing, result, trace: trace) }
        return try commit(saves, deletes)
    }

    private func checkDuplicates(_ body: ModifyZonesRequest) throws {
        var known = Set<Int>()
        for ordinal in body.saves.map(\.zone) + body.deletes {
            guard known.insert(try scene.place(ordinal)).inserted else {
                throw Refusal(.invalidArguments, "A zone comes twice in one operation.", rule: .zonesOnce)
            }
        }
    }

    /// Judges a save. Returns the version of the zone if it needs no save; nil if it must be written.
    ///
    /// - Throws: ``Refusal`` if the save fails.
    private func judgeSave(_ save: ModifyZonesRequest.Save, _ place: Int) throws -> Version? {
        let zone = scene.zones[place]
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
                .invalidArguments, "The encryption scope of zone '\(zone.name)' cannot change any more.",
                rule: .zoneKeys)
        }
        return row.version
    }

    private func judgeDelete(_ place: Int) -> Refusal? {
        let zone = scene.zones[place]
        if zone.isDefault, zone.isOwn {
            return Refusal(.invalidArguments, "The default zone cannot be deleted.", rule: .zonesOnce)
        }
        return zone.answer?.ofMissingZone(.existingZoneOfDelete)
    }

    private mutating func leaveOut(
        _ list: RequestShape.List, _ index: Int, _ refusal: Refusal?, _ version: Version?, _ zone: UInt64,
        _ scope: EncryptionScope
    ) {
        leftOut.append(.init(list, index: index, refusal: refusal, version: version))
        let ordinal = request.names.zone(zone).map { leftOutNames.ordinal(of: $0) } ?? 0
        switch list {
        case .saves: leftOutBody.saves.append(.init(ordinal, encryptionScope: scope))
        case .deletes: leftOutBody.deletes.append(ordinal)
        }
    }

    private mutating func commit(_ saves: [(place: Int, scope: EncryptionScope)], _ deletes: [Int]) throws -> Decision {
        var commit = CommitBuilder()
        let first = try ActorBootstrap(actor, view, &names)
        let database = try names.ordinal(of: .database(.private, owner: first.user))
        var ordinals: [UInt64] = []
        for (place, _) in saves {
            ordinals.append(
                try names.ordinal(of: .zone(database: database, owner: first.user, scene.zones[place].name)))
        }
        for name in names.new { try commit.append(name) }
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
        for place in deletes { try appendDelete(place, database, .deleted, to: &commit) }
        shape.leaveOut(
            leftOut, request: Request(database: request.database, names: leftOutNames, .modifyZones(leftOutBody)))
        return try finish(commit, .modifyZones, first.user, first.device, shape)
    }

    private func appendDelete(
        _ place: Int, _ database: UInt64, _ reason: ZoneDeletedEvent.Reason, to commit: inout CommitBuilder
    ) throws {
        let zone = scene.zones[place]
        try commit.append(
            ZoneDeletedEvent(
                zone: zone.ordinal, database: database, incarnation: zone.row?.incarnation, reason: reason))
    }

    private func finish(
        _ commit: CommitBuilder, _ kind: EnvelopeHeader.OperationKind, _ user: UInt64, _ device: UInt64,
        _ shape: RequestShape
    ) throws -> Decision {
        let header = try context.header(kind, user: user, device: device, shape)
        var decision = Decision(.commit(commit.payload(header)), result, trace: trace)
        decision.names = names.new
        decision.eventCount = Int(commit.count)
        return decision
    }

    // MARK: The service

    consuming func decidePurge(of zone: UInt64) throws -> Decision {
        try requirePrivateDatabase()
        var commit = CommitBuilder()
        let place = try scene.place(zone)
        result.deletes = [judgeDelete(place)]
        if result.deletes[0] == nil { try appendDelete(place, scene.database, .purged, to: &commit) }
        return try finish(commit)
    }

    consuming func decideReset() throws -> Decision {
        try requirePrivateDatabase()
        var commit = CommitBuilder()
        for (zone, row) in try encryptedZones() {
            try commit.append(
                ZoneDeletedEvent(
                    zone: zone, database: scene.database, incarnation: row.incarnation, reason: .encryptedDataReset))
        }
        return try finish(commit)
    }

    private func requirePrivateDatabase() throws {
        guard scene.scope == .private else {
            throw Refusal(.badDatabase, "The private database of a user is named.", rule: .customZones)
        }
    }

    private func finish(_ commit: CommitBuilder) throws -> Decision {
        guard commit.count > 0 else { return Decision(.nothing, result, trace: trace) }
        let shape = RequestShape(
            .administer, firstItemEvent: 0, saveCount: 0, deleteCount: result.deletes.count)
        return try finish(commit, .console, 0, 0, shape)
    }

    private func encryptedZones() throws -> [(zone: UInt64, row: ZoneRow)] {
        guard scene.database != 0 else { return [] }
        let fork = try view.fold.whole()
        return try fork.zoneRows(of: scene.database).filter { zone, row in
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
