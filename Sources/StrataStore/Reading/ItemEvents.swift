import StrataLog
import StrataModel
import StrataTree
import StrataViews

/// The events of a commit that came from items of its request, and what the shape says about the other items.
final class ItemEvents {
    let header: EnvelopeHeader
    let shape: RequestShape
    let offset: UInt64
    /// The names that the commit interned.
    private(set) var names: [InternedName] = []
    var saves: [RecordSavedEvent] = []
    private(set) var deletes: [RecordKey] = []
    private(set) var zoneSaves: [ZoneSavedEvent] = []
    private(set) var zoneDeletes: [ZoneDeletedEvent] = []
    private(set) var subscriptionSaves: [SubscriptionSavedEvent] = []
    private(set) var subscriptionDeletes: [SubscriptionDeletedEvent] = []
    private(set) var schemaChanges: [SchemaChangedEvent] = []
    private(set) var deliveries: [NotificationDeliveredEvent] = []
    private(set) var userChanges: [UserChangedEvent] = []
    /// The names of the records of users whom the commit meets.
    private var recordNames: [UInt64: String] = [:]
    private(set) var expiry: TokensExpiredEvent?
    private(set) var secret: SecretDrawnEvent?
    private(set) var shareNumbers: [UInt64] = []
    private(set) var note: ConsoleNote?
    private(set) var erasures: [RecordErasedEvent] = []
    private(set) var clientToken: [UInt8]?
    /// The account of the first user in `userChanges` before the commit.
    private var accountBefore = Account()
    /// The users who had the role that the commit changed, by their ordinals.
    private var usersInRole: [UInt64] = []

    /// Returns nil for a commit without a request.
    static func read(_ commit: Commit) throws -> ItemEvents? {
        try commit.payload.withUnsafeBytes { payload in
            var walker = try EventWalker(payload)
            let header = try walker.header()
            guard !header.requestShape.isEmpty else { return nil }
            let events = ItemEvents(header, try RequestShape(decoding: header.requestShape), offset: commit.offset)
            var index = 0
            while let event = try walker.next() {
                var body = ByteReader(UnsafeRawBufferPointer(rebasing: payload[event.body]))
                let isOfItem = index >= Int(events.shape.firstItemEvent)
                if isOfItem || [.nameInterned, .userRecordNamed].contains(event.kind) {
                    try events.add(event.kind, &body)
                }
                index += 1
            }
            try events.dropConsequences()
            return events
        }
    }

    private init(_ header: EnvelopeHeader, _ shape: RequestShape, offset: UInt64) {
        self.header = header
        self.shape = shape
        self.offset = offset
    }

    private func add(_ kind: EventKind, _ body: inout ByteReader) throws {
        func read<Event: EventBody>(_: Event.Type) throws -> Event {
            let event = try Event(from: &body)
            try body.expectEnd("an event")
            return event
        }
        switch kind {
        case .nameInterned: names.append(try InternedName(decoding: body.readRemainingBytes()))
        case .recordSaved:
            let saved = try read(RecordSavedEvent.self)
            guard !saved.isErased else {
                throw StrataError(
                    .erased, "A value saved by the request has been erased, so the request cannot be rebuilt.",
                    .init(offset: offset))
            }
            if saved.change != .touch { saves.append(saved) }
        case .recordDeleted:
            let deleted = try read(RecordDeletedEvent.self)
            if !deleted.isCascade { deletes.append(deleted.record) }
        case .recordErased: erasures.append(try read(RecordErasedEvent.self))
        case .zoneSaved: zoneSaves.append(try read(ZoneSavedEvent.self))
        case .zoneDeleted: zoneDeletes.append(try read(ZoneDeletedEvent.self))
        case .subscriptionSaved: subscriptionSaves.append(try read(SubscriptionSavedEvent.self))
        case .subscriptionDeleted: subscriptionDeletes.append(try read(SubscriptionDeletedEvent.self))
        case .schemaChanged: schemaChanges.append(try read(SchemaChangedEvent.self))
        case .notificationDelivered: deliveries.append(try read(NotificationDeliveredEvent.self))
        case .userChanged: userChanges.append(try read(UserChangedEvent.self))
        case .userRecordNamed:
            let named = try read(UserRecordNamedEvent.self)
            recordNames[named.user] = named.recordName
        case .tokensExpired: expiry = try read(TokensExpiredEvent.self)
        case .secretDrawn: secret = try read(SecretDrawnEvent.self)
        case .shareSaved: shareNumbers.append(try read(ShareSavedEvent.self).share)
        case .consoleActed: note = try read(ConsoleActedEvent.self).note
        case .clientTokenKept: clientToken = try read(ClientTokenEvent.self).token
        default: break
        }
    }

    /// Drops the new versions of records that no item saved.
    private func dropConsequences() throws {
        guard shape.kind == .modifyRecords, shape.consequenceCount > 0 else { return }
        guard shape.consequenceCount <= saves.count else {
            throw RequestResult.mismatch(offset, "\(saves.count) saves and \(shape.consequenceCount) consequences")
        }
        saves.removeLast(shape.consequenceCount)
    }

    /// Returns the items of a list in the order of the request: those of events, and between them those left out.
    func items<Event, Item>(
        _ list: RequestShape.List, _ events: [Event], _ leftOut: [Item], _ item: (Event) throws -> Item
    ) throws -> [Item] {
        let count = list == .saves ? shape.saveCount : shape.deleteCount
        if shape.leftOut.isEmpty, leftOut.isEmpty, events.count == count { return try events.map(item) }
        let places = Set(shape.leftOut.filter { $0.list == list }.map(\.index))
        guard places.count == leftOut.count, events.count + leftOut.count == count, places.allSatisfy({ $0 < count })
        else {
            throw RequestResult.mismatch(
                offset, "\(events.count) events and \(leftOut.count) omitted items for \(count) \(list)")
        }
        var (nextEvent, nextLeftOut) = (events.makeIterator(), leftOut.makeIterator())
        var items: [Item] = []
        for index in 0..<count {
            if places.contains(index) {
                if let left = nextLeftOut.next() { items.append(left) }
            } else if let event = nextEvent.next() {
                items.append(try item(event))
            }
        }
        return items
    }

    // MARK: Zones

    func zonesRequest(_ names: OrdinalNames) throws -> Request {
        var request = Request(
            database: shape.request?.database ?? DatabaseID(.private), names: shape.request?.names ?? RequestNames(),
            .modifyZones(ModifyZonesRequest()))
        var left = ModifyZonesRequest()
        if case .modifyZones(let body)? = shape.request?.content { left = body }
        func place(_ zone: UInt64) throws -> UInt64 { request.names.ordinal(of: ZoneID(try names.text(.zone, zone))) }
        let saves = try items(.saves, zoneSaves, left.saves) { event in
            ModifyZonesRequest.Save(try place(event.zone), encryptionScope: event.encryptionScope)
        }
        let deletes = try items(.deletes, zoneDeletes, left.deletes) { try place($0.zone) }
        request.content = .modifyZones(ModifyZonesRequest(saves: saves, deletes: deletes))
        return request
    }

    /// Reads what the commit changed in accounts, in the state before it.
    func readAccounts(in trees: some TreeReading) throws {
        guard let change = userChanges.first else { return }
        accountBefore = try trees.account(of: change.user)
        if let role = changedRole { usersInRole = try trees.users(inRole: role) }
    }

    /// The role that the first user was given, or no longer has.
    private var changedRole: String? {
        guard let after = userChanges.first?.person.roles else { return nil }
        let before = accountBefore.person.roles
        return after.first { !before.contains($0) } ?? before.first { !after.contains($0) }
    }

    private func accountRequest(
        _ change: UserChangedEvent, _ names: OrdinalNames
    ) throws -> AdministerRequest {
        let user = try names.text(.user, change.user)
        let (before, after) = (accountBefore.person, change.person)
        if change.status != accountBefore.status { return .setAccountStatus(change.status, user: user) }
        if change.quota != accountBefore.quota { return .setQuota(bytes: change.quota, user: user) }
        if after.discoverability != before.discoverability {
            return .setDiscoverability(after.discoverability, user: user)
        }
        if let role = changedRole {
            let changed = Set(userChanges.map(\.user))
            let added = userChanges.filter { $0.person.roles.contains(role) }.map(\.user)
            let users = usersInRole.filter { !changed.contains($0) } + added
            return .setRole(role, users: try users.map { try names.text(.user, $0) })
        }
        // The name was derived from the secret, or chosen by this request.
        if let recordName = recordNames[change.user] { return .setPerson(after, user: user, recordName: recordName) }
        var appended = before
        if after.emails.count == before.emails.count + 1 {
            appended.emails = after.emails
        } else if after.phones.count == before.phones.count + 1 {
            appended.phones = after.phones
        }
        if appended != before, appended == after, after.emails.starts(with: before.emails, by: isSameText),
            after.phones.starts(with: before.phones, by: isSameText),
            let address = after.emails.count > before.emails.count ? after.emails.last : after.phones.last
        {
            return .addAddress(address, user: user)
        }
        return .setPerson(after, user: user)
    }

    func administerRequest(_ names: OrdinalNames) throws -> Request {
        if let change = userChanges.first {
            return Request(database: DatabaseID(.private), .administer(try accountRequest(change, names)))
        }
        if let expiry {
            let isInAll = expiry.database == 0
            return Request(
                database: try isInAll ? DatabaseID(.private) : names.requiredDatabase(expiry.database),
                .administer(.expireTokens(before: expiry.offset, inAll: isInAll)))
        }
        if let note { return Request(database: DatabaseID(.private), .administer(.note(note))) }
        if let first = erasures.first {
            var request = Request(
                database: try names.requiredZone(first.record.zone).database, .administer(.resetEncryptedData))
            let records = try erasures.map { event in
                let zone = request.names.ordinal(of: ZoneID(try names.text(.zone, event.record.zone)))
                return RecordToErase(
                    RecordKey(zone: zone, name: event.record.name),
                    type: request.names.ordinal(ofType: try names.text(.recordType, event.type)))
            }
            request.content = .administer(.eraseRecords(records, reason: first.reason))
            return request
        }
        // The first commit of a store draws its secret too, whatever its request is.
        if zoneDeletes.isEmpty, secret != nil || !shareNumbers.isEmpty {
            let from = shareNumbers.first ?? .max
            let before = secret != nil ? 0 : (shareNumbers.last ?? 0) + 1
            return Request(
                database: DatabaseID(.private), .administer(.drawSecret(from: from, before: before)))
        }
        // A reset names no zones, so its shape counts none.
        guard let first = zoneDeletes.first else { throw RequestResult.mismatch(offset, "no deletion of a zone") }
        var request = Request(
            database: try names.requiredZone(first.zone).database, .administer(AdministerRequest.resetEncryptedData))
        if first.reason == .purged {
            request.content = .administer(
                .purgeZone(request.names.ordinal(of: ZoneID(try names.text(.zone, first.zone)))))
        }
        return request
    }
}

extension ItemEvents {
    func subscriptionsRequest(_ names: OrdinalNames) throws -> Request {
        let asked = shape.request
        guard let database = subscriptionSaves.first?.database ?? subscriptionDeletes.first?.database else {
            throw RequestResult.mismatch(offset, "no event with a subscription")
        }
        // A client names its own database by the scope alone, unless the shape says otherwise.
        var request = Request(
            database: try asked?.database ?? DatabaseID(names.requiredDatabase(database).scope),
            names: asked?.names ?? RequestNames(), .modifySubscriptions(ModifySubscriptionsRequest()))
        var left = ModifySubscriptionsRequest()
        if case .modifySubscriptions(let body)? = asked?.content { left = body }
        let saves = try items(.saves, subscriptionSaves, left.saves) { event in
            var save = event.subscription
            if save.zone != 0 { save.zone = request.names.ordinal(of: ZoneID(try names.text(.zone, save.zone))) }
            if save.recordType != 0 {
                save.recordType = request.names.ordinal(ofType: try names.text(.recordType, save.recordType))
            }
            return save
        }
        let deletes = try items(.deletes, subscriptionDeletes, left.deletes) { $0.id }
        request.content = .modifySubscriptions(ModifySubscriptionsRequest(saves: saves, deletes: deletes))
        return request
    }

    /// Returns a request with the declarations that changed the schema; the rest was declared before.
    func schemaRequest(_ names: OrdinalNames) throws -> Request {
        var requestNames = RequestNames()
        let declarations = try schemaChanges.map { change in
            DeclareSchemaRequest.Declaration(
                requestNames.ordinal(ofType: try names.text(.recordType, change.type)),
                fields: try change.fields.map { field in
                    SchemaField(
                        requestNames.ordinal(ofKey: try names.text(.field, UInt64(field.field))), field.kind,
                        isEncrypted: field.isEncrypted, indexes: field.indexes)
                }, grants: change.grants)
        }
        return Request(
            database: DatabaseID(.public), names: requestNames, .declareSchema(DeclareSchemaRequest(declarations)))
    }
}

extension RecordSavedEvent {
    /// True if the event says what the record became rather than what was sent.
    var hidesWhatWasAsked: Bool { isFull && change == .update }

    /// Removes unchanged values from a full event: a request for the rest alone has the same result. The looseness of a
    /// link changes only if a request sets it.
    mutating func reduce(to before: RecordState) {
        let stored = Dictionary(before.fields.map { ($0.field, $0.value) }) { $1 }
        let kept = Set(fields.map(\.field))
        fields.removeAll { FieldValue.isSame($0.value, stored[$0.field]) }
        fields += before.fields.filter { !kept.contains($0.field) }.map { FieldChange($0.field, nil) }
        fields.sort { $0.field < $1.field }
        if isParentLoose == before.isParentLoose { parent = Self.asked(parent, before.parent) }
        share = Self.asked(share, before.share)
    }

    private static func asked(_ link: LinkChange, _ before: RecordKey?) -> LinkChange {
        switch link {
        case .set(let target): target == before ? .kept : link
        case .kept, .removed: before == nil ? .kept : .removed
        }
    }
}

extension ItemEvents {
    func notifyRequest(_ names: OrdinalNames) throws -> Request {
        var database = DatabaseID(.private)
        var body = NotifyRequest(user: "")
        for delivery in deliveries where delivery.device != 0 {
            guard case .device(let user, let device)? = try names.name(.device, delivery.device) else {
                throw StrataError.unnamed(.device, delivery.device)
            }
            body.user = try names.text(.user, user)
            body.deliveries.append(.init(device: device, through: delivery.through, badge: delivery.badge))
        }
        for delivery in deliveries where delivery.device == 0 {
            body.deliveries.append(.init(device: "", through: delivery.through, badge: delivery.badge))
        }
        for event in subscriptionDeletes {
            guard let by = event.firedBy else {
                throw RequestResult.mismatch(offset, "a subscription that did not fire")
            }
            database = try names.requiredDatabase(event.database)
            body.user = try names.text(.user, event.user)
            body.fired.append(.init(id: event.id, by: by))
        }
        if database.scope != .public { database.owner = body.user }
        return Request(database: database, .notify(body))
    }
}
