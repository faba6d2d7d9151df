import StrataModel

/// docs/rules.md §11.
extension ReferenceStore {
    mutating func modifySubscriptions(
        _ request: ModifySubscriptionsRequest, _ names: RequestNames, _ asker: Asker, _ time: Int64
    ) throws(Refusal) -> RequestResult {
        let ids = (request.saves.map(\.id) + request.deletes).map { ReferenceName($0) }
        try checkItemCount(ids.count)
        var saves: [NamedSubscription] = []
        for save in request.saves { saves.append(try Self.named(save, names)) }
        guard Set(ids).count == ids.count || bends(.duplicateAccepted) else {
            throw Refusal(.invalidArguments, "a subscription twice in one request", rule: .zonesOnce)
        }
        guard !ids.isEmpty else { return RequestResult() }
        guard !asker.isElsewhere else {
            throw Refusal(.permissionFailure, "a database of somebody else", rule: .subscriptions)
        }

        let owner = subscriber(asker)
        var mine = state.databases[asker.database]?.subscriptions[owner] ?? [:]
        let before = mine
        let deletes = request.deletes.map { ReferenceName($0) }
        if !bends(.deletedSubscriptionIsInTheWay) { for id in deletes { mine[id] = nil } }
        var refusals: [Refusal?] = []
        var written: [Int] = []
        for index in saves.indices {
            // What the answer of the whole is does not show in this copy.
            saves[index].zone?.owner = ""
            let refusal = refusal(saving: saves[index], request.saves[index], names, asker, mine)
            refusals.append(refusal)
            guard refusal == nil else { continue }
            let id = ReferenceName(saves[index].id)
            if before[id]?.content == saves[index], !bends(.unchangedSubscriptionIsWritten) { continue }
            written.append(index)
            mine[id] = ReferenceSubscription(content: saves[index], version: Version(offset: 0, eventIndex: 0))
        }
        let deleted = deletes.map { id -> Refusal? in
            before[id] != nil || bends(.missingSubscriptionMayBeDeleted)
                ? nil : Refusal(.unknownItem, "no such subscription", rule: .existingSubscription)
        }
        if written.isEmpty, !deleted.contains(where: { $0 == nil }) {
            return RequestResult(saves: results(refusals, saves, before), deletes: deleted)
        }
        beginCommit()
        if state.databases[DatabaseID(.private, owner: asker.actor.user)] == nil {
            createDatabases(asker, time, except: [])
        }
        var after = before
        for index in written {
            after[ReferenceName(saves[index].id)] = ReferenceSubscription(
                content: saves[index], version: nextVersion())
        }
        for (id, refusal) in zip(deletes, deleted) where refusal == nil { after[id] = nil }
        state.databases[asker.database, default: ReferenceDatabase()].subscriptions[owner] = after
        return RequestResult(saves: results(refusals, saves, after), deletes: deleted)
    }

    private func subscriber(_ asker: Asker) -> String {
        bends(.subscriptionsAreEverybodys) ? "" : asker.actor.user
    }

    private func results(
        _ refusals: [Refusal?], _ saves: [NamedSubscription], _ stored: [ReferenceName: ReferenceSubscription]
    ) -> [Result<Version, Refusal>] {
        zip(refusals, saves).map { refusal, save in
            if let refusal { return .failure(refusal) }
            return .success(stored[ReferenceName(save.id)]?.version ?? Version(offset: 0, eventIndex: 0))
        }
    }

    private static func named(_ save: Subscription, _ names: RequestNames) throws(Refusal) -> NamedSubscription {
        let (zone, type) = (names.zone(save.zone), names.recordType(save.recordType))
        guard save.zone == 0 || zone != nil, save.recordType == 0 || type != nil else {
            throw Refusal(.invalidArguments, "no such name", rule: .requestNames)
        }
        return NamedSubscription(
            save.id, save.kind, zone: zone, recordType: type, predicate: save.predicate, options: save.options,
            notification: save.notification)
    }

    private func refusal(
        saving save: NamedSubscription, _ asked: Subscription, _ names: RequestNames, _ asker: Asker,
        _ mine: [ReferenceName: ReferenceSubscription]
    ) -> Refusal? {
        func invalid(_ rule: Rule) -> Refusal { Refusal(.invalidArguments, "it cannot be saved", rule: rule) }
        let id = ReferenceName(save.id)
        guard id.isOfLegalLength, ReferenceName("x" + String(save.id.prefix(200))).isLegalForNew else {
            return invalid(.subscriptionIDs)
        }
        let isThere: Bool =
            switch save.kind {
            case .query: asker.database.scope != .shared
            case .recordZone: asker.database.scope == .private
            case .database: asker.database.scope != .public
            }
        guard isThere || bends(.subscriptionsInEveryDatabase) else {
            return Refusal(.badDatabase, "another kind of database", rule: .subscriptionScope)
        }
        if (save.notification?.desiredKeys?.count ?? 0) > 3, !bends(.fourDesiredKeysAccepted) {
            return invalid(.desiredKeyLimit)
        }
        if save.kind == .query {
            if save.predicate.isEmpty { return invalid(.subscriptionPredicate) }
            let isSilent = save.options.subtracting(.once).isEmpty
            if isSilent, !bends(.silentQueryAccepted) { return invalid(.subscriptionEvents) }
            guard let type = save.recordType, ReferenceName(type).isLegalWord else { return invalid(.recordTypes) }
            if type == "Users", !bends(.usersMayBeWatched) { return invalid(.queriesOfUsers) }
            let mayRead = asker.database.scope != .public || state.mayQuery(ReferenceName(type), asker.actor.user)
            guard mayRead || bends(.unreadableTypeIsWatched) else {
                return Refusal(.permissionFailure, "nothing to be read here", rule: .readGrants)
            }
        } else {
            if !save.options.isEmpty || !save.predicate.isEmpty { return invalid(.subscriptions) }
            if let type = save.recordType, !ReferenceName(type).isLegalWord { return invalid(.recordTypes) }
        }
        if let refusal = zoneRefusal(save.kind, names.zone(asked.zone), asker) { return refusal }
        if mine[id]?.content == save { return nil }
        let other = mine.first { $0.key != id && isSame($0.value, save) }
        guard other == nil || bends(.sameContentTwiceAccepted) else {
            return Refusal(.serverRejectedRequest, "a duplicate", rule: .subscriptionsOnce)
        }
        return nil
    }

    private func isSame(_ stored: ReferenceSubscription, _ save: NamedSubscription) -> Bool {
        stored.watches(save)
            && (!bends(.notificationMakesAnother) || stored.content.notification == save.notification)
    }

    private func zoneRefusal(_ kind: Subscription.Kind, _ zone: ZoneID?, _ asker: Asker) -> Refusal? {
        guard let zone else {
            return kind == .recordZone ? Refusal(.invalidArguments, "it has no zone", rule: .subscribedZone) : nil
        }
        if kind == .database { return Refusal(.invalidArguments, "it has a zone", rule: .subscriptions) }
        let (owner, name) = (asker.owner(zone), ReferenceName(zone.name))
        if kind == .recordZone, name == .defaultZone, owner == "" {
            return bends(.subscriptionsOfDefaultZone)
                ? nil : Refusal(.invalidArguments, "a default zone has no changes", rule: .subscribedZone)
        }
        return bends(.subscriptionsOfMissingZones) ? nil : missingZone(owner, name, asker, rule: .subscribedZone)
    }
}
