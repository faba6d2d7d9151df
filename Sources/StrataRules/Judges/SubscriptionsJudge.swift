import StrataModel
import StrataViews

/// Judges requests for subscriptions (docs/rules.md §11).
struct SubscriptionsJudge: RequestJudge {
    private let judging: Judging
    private let body: ModifySubscriptionsRequest
    private var request: Request { judging.request }
    private var view: RulesView { judging.view }
    private var actor: ActorState { judging.actor }
    private var resolved: ResolvedRequest { judging.resolved }
    private var trace: Trace?
    private var result = RequestResult()
    private var leftOut: [RequestShape.LeftOut] = []
    /// The saves to write, as in the request.
    private var saves: [Subscription] = []
    private var deletes: [String] = []
    /// The contents of the saves so far, with their ids.
    private var saying: [Content: String] = [:]
    /// Ids whose stored subscriptions will be changed or deleted.
    private var replaced = Set<ExactName>()

    static let maximumDesiredKeys = 3

    /// The properties that determine when a subscription fires. Zones and types may have no ordinals yet.
    private struct Content: Hashable {
        var kind: Subscription.Kind
        var zone: Int?
        var recordType: ExactName?
        var predicate: ExactName
        var options: Subscription.Options
    }

    init(_ judging: Judging, _ body: ModifySubscriptionsRequest) {
        self.judging = judging
        self.body = body
        trace = judging.newTrace
    }

    consuming func decide() throws -> Decision {
        try check()
        if body.saves.isEmpty, body.deletes.isEmpty { return Decision(.nothing, result, trace: trace) }
        guard !resolved.isElsewhere else {
            throw Refusal(
                .permissionFailure, "You cannot subscribe to another user's database.",
                rule: .subscriptions)
        }
        // Subscriptions that this request deletes cannot conflict with its saves.
        replaced = Set(body.deletes.map { ExactName(text: $0) })
        for (index, save) in body.saves.enumerated() {
            do {
                let version = try judge(save)
                result.saves.append(.success(version ?? .ofThisCommit(eventIndex: 0)))
                if let version { leftOut.append(.init(.saves, index: index, version: version)) }
            } catch let refusal as Refusal {
                trace?.add(refusal.rule, "save \(index)", refusal.message)
                leftOut.append(.init(.saves, index: index, refusal: refusal))
                result.saves.append(.failure(refusal))
            }
        }
        for (index, id) in body.deletes.enumerated() {
            let refusal = try judgeDelete(id)
            result.deletes.append(refusal)
            guard let refusal else {
                deletes.append(id)
                continue
            }
            trace?.add(refusal.rule, "delete \(index)", refusal.message)
            leftOut.append(.init(.deletes, index: index, refusal: refusal))
        }
        if saves.isEmpty, deletes.isEmpty { return Decision(.nothing, result, trace: trace) }
        return try commit()
    }

    // MARK: The whole request

    private func check() throws {
        try judging.limits.checkItemCount(body.saves.count + body.deletes.count)
        try judging.checkRoomForRequest()
        var bytes = 0
        var ids = Set<ExactName>()
        for save in body.saves {
            if save.zone != 0 { _ = try resolved.zoneIndex(of: save.zone) }
            guard save.recordType == 0 || request.names.recordType(save.recordType) != nil else {
                throw Refusal(
                    .invalidArguments,
                    "The request uses ordinal \(save.recordType) as a type but does not define it.", rule: .requestNames
                )
            }
            bytes += save.id.utf8.count + save.predicate.utf8.count + (try save.notification?.encoded().count ?? 0)
        }
        try judging.limits.checkByteCount(bytes)
        for id in body.saves.map(\.id) + body.deletes {
            guard ids.insert(ExactName(text: id)).inserted else {
                throw Refusal(
                    .invalidArguments, "Subscription '\(id)' appears twice in one operation.", rule: .zonesOnce)
            }
        }
    }

    // MARK: Items

    /// Judges a save. Returns the version of the subscription if it is stored unchanged; nil if it must be written.
    ///
    /// - Throws: ``Refusal`` if the save fails.
    private mutating func judge(_ save: Subscription) throws -> Version? {
        try checkSelf(save)
        try checkRecordType(save)
        try checkZone(save)
        if save.kind == .query {
            do { try judging.checkPredicate(save.predicate) } catch let error as StrataError {
                throw Refusal(.invalidArguments, "The predicate cannot be used: \(error)", rule: .subscriptionPredicate)
            }
        }
        let stored = try storedForm(of: save)
        if let stored, let version = try unchangedVersion(stored) { return version }
        let content = Content(
            kind: save.kind, zone: save.zone == 0 ? nil : try resolved.zoneIndex(of: save.zone),
            recordType: request.names.recordType(save.recordType).map { ExactName(text: $0) },
            predicate: ExactName(text: save.predicate), options: save.options)
        if let other = try duplicate(of: save, stored, content) {
            throw Refusal(.serverRejectedRequest, "subscription is duplicate of '\(other)'", rule: .subscriptionsOnce)
        }
        saying[content] = save.id
        replaced.insert(ExactName(text: save.id))
        saves.append(save)
        return nil
    }

    private func checkSelf(_ save: Subscription) throws {
        guard NameRules.isName(save.id) else {
            throw Refusal(
                .invalidArguments,
                "A subscription's ID has 1 to 255 characters and no control characters: '\(save.id)'.",
                rule: .subscriptionIDs)
        }
        let scopes: [InternedName.Scope] =
            switch save.kind {
            case .query: [.public, .private]
            case .recordZone: [.private]
            case .database: [.private, .shared]
            }
        guard scopes.contains(resolved.scope) else {
            throw Refusal(
                .badDatabase, "Subscription '\(save.id)' is of a kind that this database does not have.",
                rule: .subscriptionScope)
        }
        let keys = save.notification?.desiredKeys?.count ?? 0
        guard keys <= Self.maximumDesiredKeys else {
            throw Refusal(
                .invalidArguments,
                "Subscription '\(save.id)' requests \(keys) desired keys; the maximum is three.",
                rule: .desiredKeyLimit)
        }
        guard save.kind == .query else {
            guard save.options.isEmpty, save.predicate.isEmpty else {
                throw Refusal(
                    .invalidArguments, "Only a query subscription has a predicate and options: '\(save.id)'.",
                    rule: .subscriptions)
            }
            return
        }
        guard !save.predicate.isEmpty else {
            throw Refusal(
                .invalidArguments, "Query subscription '\(save.id)' has no predicate.", rule: .subscriptionPredicate)
        }
        guard !save.options.isDisjoint(with: .events) else {
            throw Refusal(
                .invalidArguments, "Subscription '\(save.id)' fires on nothing: set its options.",
                rule: .subscriptionEvents)
        }
        guard save.options.subtracting([.events, .once]).isEmpty else {
            throw Refusal(
                .invalidArguments, "Subscription '\(save.id)' has unknown options.",
                rule: .subscriptionEvents)
        }
    }

    private func checkRecordType(_ save: Subscription) throws {
        guard let type = request.names.recordType(save.recordType) else {
            guard save.kind != .query else {
                throw Refusal(
                    .invalidArguments, "Query subscription '\(save.id)' names no record type.", rule: .recordTypes)
            }
            return
        }
        guard SchemaName.isIdentifier(type) || isSameText(type, ShareState.recordType) else {
            throw Refusal(
                .invalidArguments,
                "'\(type)' is not a valid record type name: use a letter followed by letters, digits, or underscores.",
                rule: .recordTypes
            )
        }
        let isUsers = isSameText(type, UserRecord.type)
        guard !isUsers || save.kind != .query else {
            throw Refusal(
                .invalidArguments, "User records cannot be queried, nor subscribed to.", rule: .queriesOfUsers)
        }
        guard try judging.schema == .open || isUsers || view.ordinal(of: .recordType(type)) != nil else {
            throw Refusal(
                .invalidArguments, "Cannot create new type \(type) in production schema", rule: .enforcedSchema)
        }
        guard save.kind == .query, resolved.scope == .public,
            let ordinal = try view.ordinal(of: .recordType(type))
        else { return }
        try actor.principal.readableRecords(isUserType: isUsers, grants: try view.grants(of: ordinal))
            .requireAny(of: type)
    }

    private func checkZone(_ save: Subscription) throws {
        guard save.zone != 0 else {
            guard save.kind != .recordZone else {
                throw Refusal(.invalidArguments, "Zone subscription '\(save.id)' names no zone.", rule: .subscribedZone)
            }
            return
        }
        guard save.kind != .database else {
            throw Refusal(.invalidArguments, "Database subscription '\(save.id)' names a zone.", rule: .subscriptions)
        }
        let zone = resolved.zones[try resolved.zoneIndex(of: save.zone)]
        if save.kind == .recordZone, zone.isDefault, zone.isOwn {
            throw Refusal(
                .invalidArguments, "The default zone has no changes to subscribe to: '\(save.id)'.",
                rule: .subscribedZone)
        }
        if let refusal = zone.refusal { throw refusal.ofMissingZone(.subscribedZone) }
        guard save.kind != .recordZone || zone.row?.capabilities.contains(.fetchChanges) == true else {
            throw Refusal(.zoneNotFound, "Zone '\(zone.name)' has no changes to subscribe to.", rule: .subscribedZone)
        }
    }

    /// The save with the store's ordinals; nil if one of its names has none, so that no stored subscription can match.
    private func storedForm(of save: Subscription) throws -> Subscription? {
        guard resolved.database != 0, actor.user != 0 else { return nil }
        var stored = save
        if save.zone != 0 {
            stored.zone = resolved.zones[try resolved.zoneIndex(of: save.zone)].ordinal
            guard stored.zone != 0 else { return nil }
        }
        if let type = request.names.recordType(save.recordType) {
            guard let ordinal = try view.ordinal(of: .recordType(type)) else { return nil }
            stored.recordType = ordinal
        }
        return stored
    }

    private func unchangedVersion(_ save: Subscription) throws -> Version? {
        guard let row = try view.fold.fork.subscription(resolved.database, actor.user, save.id) else { return nil }
        // Texts that are equal in Swift may differ in their bytes.
        let event = SubscriptionSavedEvent(
            database: resolved.database, user: actor.user, save, original: row.event.original)
        return try event.event().body.elementsEqual(row.event.event().body) ? row.version : nil
    }

    /// The id of another subscription of the user with the same content, after the items so far.
    private func duplicate(of save: Subscription, _ stored: Subscription?, _ content: Content) throws -> String? {
        if let id = saying[content] { return id }
        guard let stored else { return nil }
        var found: String?
        try view.fold.fork.forEachSubscriptionID(saying: stored, resolved.database, actor.user) { id in
            if !isSameText(id, save.id), !replaced.contains(ExactName(text: id)) { found = id }
            return found == nil
        }
        return found
    }

    private func judgeDelete(_ id: String) throws -> Refusal? {
        if resolved.database != 0, actor.user != 0,
            try view.fold.fork.subscription(resolved.database, actor.user, id) != nil
        {
            return nil
        }
        return Refusal(.unknownItem, "Subscription '\(id)' does not exist.", rule: .existingSubscription)
    }

    // MARK: The commit

    private mutating func commit() throws -> Decision {
        var commit = CommitBuilder()
        var names = NameWriter(view)
        let first = try ActorBootstrap(actor, view, &names)
        let owner = resolved.scope == .public ? 0 : first.user
        let database = try names.ordinal(of: .database(resolved.scope, owner: owner))
        // The other databases are created by the user's first write.
        let isNewShared = resolved.scope == .shared && resolved.database == 0
        for index in saves.indices {
            if saves[index].zone != 0 {
                let zone = resolved.zones[try resolved.zoneIndex(of: saves[index].zone)]
                saves[index].zone = try names.ordinal(of: .zone(database: database, owner: owner, zone.name))
            }
            if let type = request.names.recordType(saves[index].recordType) {
                saves[index].recordType = try names.ordinal(of: .recordType(type))
            }
        }
        try names.append(to: &commit)
        try first.append(to: &commit, sparing: nil)
        if isNewShared { try commit.append(DatabaseCreatedEvent(database: database)) }
        var shape = RequestShape(
            .modifySubscriptions, firstItemEvent: commit.count, saveCount: result.saves.count,
            deleteCount: result.deletes.count)
        var versions: [Version] = []
        for save in saves {
            let event = try commit.append(SubscriptionSavedEvent(database: database, user: first.user, save))
            versions.append(.ofThisCommit(eventIndex: event))
        }
        var next = versions.makeIterator()
        for index in result.saves.indices where (try? result.saves[index].get())?.isOfThisCommit == true {
            if let version = next.next() { result.saves[index] = .success(version) }
        }
        for id in deletes {
            try commit.append(SubscriptionDeletedEvent(database: database, user: first.user, id: id))
        }
        try shape.keep(request, leavingOut: leftOut)
        let header = try judging.context.header(.modifySubscriptions, user: first.user, device: first.device, shape)
        return Decision(commit, header, result, naming: names.new, trace: trace)
    }
}
