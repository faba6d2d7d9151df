import StrataModel
import StrataTree

extension Fold {
    func applyName(_ body: UnsafeRawBufferPointer) throws {
        let interned = try InternedName(decoding: ArraySlice(body))
        let namespace = interned.name.namespace
        if let known = try fork.name(namespace, interned.ordinal) {
            guard known == interned.name else { throw Self.doubleName(expected: "\(known)", found: "\(interned.name)") }
            return
        }
        guard !used.has(interned) else {
            throw StrataError(
                .malformed, "A name comes behind an event that uses its ordinal.",
                .init(found: "\(namespace.noun) ordinal \(interned.ordinal)"))
        }
        guard try interned.ordinal == 1 || fork.name(namespace, interned.ordinal - 1) != nil else {
            throw StrataError(
                .malformed, "A name leaves out an ordinal.",
                .init(expected: "a name for \(interned.ordinal - 1)", found: "ordinal \(interned.ordinal)"))
        }
        let place = ViewKeys.ordinal(of: interned.name)
        let other = try place.withUnsafeBytes { key in
            try fork.get(ViewTree.ordinals, key) { row in
                var reader = ByteReader(row)
                return try reader.readVarint("an ordinal")
            }
        }
        if let other {
            throw Self.doubleName(expected: "ordinal \(other)", found: "\(interned.name) as \(interned.ordinal)")
        }
        try ViewKeys.name(namespace, interned.ordinal).withUnsafeBytes { try fork.put(ViewTree.names, $0, body) }
        var ordinal = ByteWriter(reserving: 10)
        ordinal.appendVarint(interned.ordinal)
        try place.withUnsafeBytes { key in
            try ordinal.bytes.withUnsafeBytes { try fork.put(ViewTree.ordinals, key, $0) }
        }
    }

    private static func doubleName(expected: String, found: String) -> StrataError {
        StrataError(.malformed, "A name is interned twice.", .init(expected: expected, found: found))
    }

    func applyOther(_ kind: EventKind, _ body: UnsafeRawBufferPointer, at place: EventPlace) throws {
        var reader = ByteReader(body)
        switch kind {
        case .zoneSaved: try applyZoneSaved(try ZoneSavedEvent(from: &reader), at: place)
        case .zoneDeleted: try applyZoneDeleted(try ZoneDeletedEvent(from: &reader), at: place)
        case .databaseCreated:
            let event = try DatabaseCreatedEvent(from: &reader)
            _ = try records.names.hash(.database, event.database, in: fork)
            try putRow(ViewTree.databases, ViewKeys.numbers(event.database), event, body, at: place)
        case .userChanged: try applyUser(try UserChangedEvent(from: &reader), body, at: place)
        case .deviceSeen:
            let event = try DeviceSeenEvent(from: &reader)
            _ = try records.names.hash(.device, event.device, in: fork)
            try putRow(ViewTree.devices, ViewKeys.numbers(event.device), event, body, at: place)
        case .schemaChanged: try applySchema(try SchemaChangedEvent(from: &reader), at: place)
        case .clientTokenKept: try applyToken(try ClientTokenEvent(from: &reader), body, at: place)
        case .tokensExpired:
            let event = try TokensExpiredEvent(from: &reader)
            _ = try records.names.hash(.database, event.database, in: fork)
            try putRow(ViewTree.expiredTokens, ViewKeys.numbers(event.database), event, body, at: place)
        case .subscriptionSaved: try applySubscription(try SubscriptionSavedEvent(from: &reader), body, at: place)
        case .subscriptionDeleted: try applyDeletion(of: try SubscriptionDeletedEvent(from: &reader))
        case .notificationDelivered:
            let event = try NotificationDeliveredEvent(from: &reader)
            _ = try records.names.hash(.device, event.device, in: fork)
            try putRow(ViewTree.deliveries, ViewKeys.numbers(event.device), event, body, at: place)
        default:
            throw StrataError(
                .newerFormat, "There is an event that this release must know and does not.",
                .init(offset: place.version.offset, found: "\(kind)"))
        }
        try reader.expectEnd("an event")
    }

    private func applyUser(_ event: UserChangedEvent, _ body: UnsafeRawBufferPointer, at place: EventPlace) throws {
        let seed = Self.seed(ViewTree.users, try records.names.hash(.user, event.user, in: fork))
        let content = DigestHash.hash(seed, words: [UInt64(event.status.rawValue), event.quota])
        try putRow(ViewTree.users, ViewKeys.numbers(event.user), event, body, at: place, content)
    }

    private func applyToken(_ event: ClientTokenEvent, _ body: UnsafeRawBufferPointer, at place: EventPlace) throws {
        let seed = Self.seed(
            ViewTree.clientTokens, try records.names.hash(.zone, event.zone, in: fork),
            try records.names.hash(.device, event.device, in: fork))
        let content = event.token.withUnsafeBytes { DigestHash.hash(seed, $0) }
        try putRow(
            ViewTree.clientTokens, ViewKeys.numbers(event.zone, event.device), event, body, at: place, content)
    }

    /// Declarations of fields that the event does not name stay, and grants if it has none. Indexes follow.
    private func applySchema(_ event: SchemaChangedEvent, at place: EventPlace) throws {
        let key = ViewKeys.numbers(event.type)
        var fields: [UInt32: SchemaField] = [:]
        let before = try fork.declaration(of: event.type)
        for field in (before?.fields ?? []) + event.fields { fields[field.field] = field }
        var merged = event
        if merged.grants.isEmpty { merged.grants = before?.grants ?? [] }
        merged.fields = fields.values.sorted { $0.field < $1.field }
        var sum: UInt128 = 0
        for field in merged.fields {
            let kind = UInt64(field.kind.rawValue) | (field.isEncrypted ? 0x80 : 0)
            let name = try records.names.hash(.field, UInt64(field.field), in: fork)
            sum &+= DigestHash.hash(name, words: [kind, UInt64(field.indexes.rawValue)])
        }
        for grant in merged.grants {
            // A role has no ordinal, so that its text is hashed like that of a name in no namespace.
            let role = DigestHash.hash(0, text: grant.role)
            sum &+= DigestHash.hash(role, words: [UInt64(grant.permissions.rawValue)])
        }
        let seed = Self.seed(ViewTree.schema, try records.names.hash(.recordType, event.type, in: fork))
        let content = DigestHash.hash(seed, words: [sum.low, sum.high])
        try Array(try merged.event().body).withUnsafeBytes { body in
            try putRow(ViewTree.schema, key, merged, body, at: place, content)
        }
        try IndexCatalog.follow(merged.fields, of: event.type, in: fork)
    }

    private func applySubscription(
        _ event: SubscriptionSavedEvent, _ body: UnsafeRawBufferPointer, at place: EventPlace
    ) throws {
        let subscription = event.subscription
        let seed = Self.seed(
            ViewTree.subscriptions, try records.names.hash(.database, event.database, in: fork),
            try records.names.hash(.user, event.user, in: fork), DigestHash.hash(0, text: subscription.id))
        let zone = try records.names.hash(.zone, subscription.zone, in: fork)
        let type = try records.names.hash(.recordType, subscription.recordType, in: fork)
        let chosen = DigestHash.hash(
            seed,
            words: [
                UInt64(subscription.kind.rawValue), subscription.options.rawValue,
                subscription.notification == nil ? 0 : 1, zone.low, zone.high, type.low, type.high,
            ])
        let named = DigestHash.hash(chosen, text: subscription.predicate)
        let content = try (subscription.notification?.encoded() ?? []).withUnsafeBytes { DigestHash.hash(named, $0) }
        let key = ViewKeys.subscription(event.database, event.user, subscription.id)
        try removeContent(ofSubscription: key)
        try forgetFired(event)
        try putRow(ViewTree.subscriptions, key, event, body, at: place, content)
        let none = UnsafeRawBufferPointer(start: nil, count: 0)
        try ViewKeys.subscriptionContent(of: event).withUnsafeBytes {
            try fork.put(ViewTree.subscriptionContents, $0, none)
        }
    }

    /// The row by which duplicates are found, of a subscription that is about to change or to go.
    private func removeContent(ofSubscription key: [UInt8]) throws {
        guard let before = try key.withUnsafeBytes({ try fork.subscription(key: $0) }) else { return }
        _ = try ViewKeys.subscriptionContent(of: before.event).withUnsafeBytes {
            try fork.delete(ViewTree.subscriptionContents, $0)
        }
    }

    private func applyDeletion(of event: SubscriptionDeletedEvent) throws {
        let key = ViewKeys.subscription(event.database, event.user, event.id)
        if let by = event.firedBy, let before = try key.withUnsafeBytes({ try fork.subscription(key: $0) }) {
            try keepFired(before.event, by: by)
        }
        try removeContent(ofSubscription: key)
        guard try key.withUnsafeBytes({ try fork.delete(ViewTree.subscriptions, $0) }) else {
            throw StrataError(
                .brokenSequence, "A subscription was deleted that is not there.", .init(found: event.id))
        }
    }

    private static func seed(_ id: TreeID, _ owner: UInt128...) -> UInt128 {
        let words = owner.flatMap { [$0.low.littleEndian, $0.high.littleEndian] }
        return words.withUnsafeBytes { DigestHash.hash(UInt128(id.rawValue), $0) }
    }

    /// Writes a row that is an event's body, with its contributions to the digests.
    ///
    /// - Parameter content: made of names, not of the body, whose ordinals another store may not share; nil for what
    ///   is in no digest.
    private func putRow(
        _ id: TreeID, _ key: [UInt8], _ event: some StatedEvent, _ body: UnsafeRawBufferPointer, at place: EventPlace,
        _ content: UInt128? = nil
    ) throws {
        let version = event.original ?? place.version
        let state = content.map { DigestHash.hash($0, words: [version.packed]) }
        var row = ByteWriter(reserving: RowLayout.body + body.count)
        row.append(version.packed)
        row.append(state ?? 0)
        row.append(content ?? 0)
        if event.original == nil {
            row.append(bytes: body)
        } else {
            // The row does not tell whether it comes of a base.
            var event = event
            event.original = nil
            try event.encode(into: &row)
        }
        try key.withUnsafeBytes { key in try row.bytes.withUnsafeBytes { try fork.put(id, key, $0) } }
    }
}
