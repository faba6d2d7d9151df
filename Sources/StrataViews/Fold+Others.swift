import StrataModel
import StrataTree

extension Fold {
    func applyName(_ body: UnsafeRawBufferPointer) throws {
        let interned = try InternedName(decoding: ArraySlice(body))
        let key = ViewKeys.name(interned.name.namespace, interned.ordinal)
        let known = try key.withUnsafeBytes { key in try fork.get(ViewTree.names, key) { [UInt8]($0) } }
        if let known {
            guard try InternedName(decoding: known[...]) == interned else {
                throw StrataError(
                    .malformed, "A name is interned twice.",
                    .init(expected: "\(try InternedName(decoding: known[...]).name)", found: "\(interned.name)"))
            }
            return
        }
        try key.withUnsafeBytes { try fork.put(ViewTree.names, $0, body) }
        var ordinal = ByteWriter(reserving: 10)
        ordinal.appendVarint(interned.ordinal)
        try ViewKeys.ordinal(of: interned.name).withUnsafeBytes { key in
            try ordinal.bytes.withUnsafeBytes { try fork.put(ViewTree.ordinals, key, $0) }
        }
    }

    func applyOther(_ kind: EventKind, _ body: UnsafeRawBufferPointer, at place: EventPlace) throws {
        var reader = ByteReader(body)
        switch kind {
        case .zoneSaved: try applyZoneSaved(try ZoneSavedEvent(from: &reader), at: place)
        case .zoneDeleted: try applyZoneDeleted(try ZoneDeletedEvent(from: &reader), at: place)
        case .databaseCreated:
            let event = try DatabaseCreatedEvent(from: &reader)
            _ = try names.hash(3, event.database, in: fork)
            try putRow(ViewTree.databases, ViewKeys.numbers(event.database), body, event.original ?? place.version)
        case .userChanged: try applyUser(try UserChangedEvent(from: &reader), body, at: place)
        case .deviceSeen:
            let event = try DeviceSeenEvent(from: &reader)
            _ = try names.hash(2, event.device, in: fork)
            try putRow(ViewTree.devices, ViewKeys.numbers(event.device), body, event.original ?? place.version)
        case .schemaChanged: try applySchema(try SchemaChangedEvent(from: &reader), at: place)
        case .clientTokenKept: try applyToken(try ClientTokenEvent(from: &reader), body, at: place)
        case .tokensExpired:
            let event = try TokensExpiredEvent(from: &reader)
            _ = try names.hash(3, event.database, in: fork)
            try putRow(ViewTree.expiredTokens, ViewKeys.numbers(event.database), body, place.version)
        case .subscriptionSaved: try applySubscription(try SubscriptionSavedEvent(from: &reader), body, at: place)
        case .subscriptionDeleted: try applyDeletion(of: try SubscriptionDeletedEvent(from: &reader))
        // What it replaces is the events around it, which are folded like any others.
        case .baseMarker: _ = try BaseMarkerEvent(from: &reader)
        default:
            throw StrataError(
                .newerFormat, "There is an event that this release must know and does not.",
                .init(offset: place.version.offset, found: "\(kind)"))
        }
    }

    private func applyUser(_ event: UserChangedEvent, _ body: UnsafeRawBufferPointer, at place: EventPlace) throws {
        let seed = Self.seed(ViewTree.users, try names.hash(1, event.user, in: fork))
        let content = DigestHash.hash(seed, numbers: [UInt64(event.status.rawValue), event.quota])
        try putRow(ViewTree.users, ViewKeys.numbers(event.user), body, event.original ?? place.version, content)
    }

    private func applyToken(_ event: ClientTokenEvent, _ body: UnsafeRawBufferPointer, at place: EventPlace) throws {
        let seed = Self.seed(
            ViewTree.clientTokens, try names.hash(4, event.zone, in: fork), try names.hash(2, event.device, in: fork))
        let content = event.token.withUnsafeBytes { DigestHash.hash(seed, $0) }
        try putRow(
            ViewTree.clientTokens, ViewKeys.numbers(event.zone, event.device), body, event.original ?? place.version,
            content)
    }

    /// Declarations of fields that the event does not name stay.
    private func applySchema(_ event: SchemaChangedEvent, at place: EventPlace) throws {
        let key = ViewKeys.numbers(event.type)
        let known = try key.withUnsafeBytes { key in
            try fork.get(ViewTree.schema, key) { row in
                var reader = ByteReader(row, at: RowLayout.body)
                return try SchemaChangedEvent(from: &reader).fields
            }
        }
        var fields: [UInt32: SchemaField] = [:]
        for field in (known ?? []) + event.fields { fields[field.field] = field }
        var merged = event
        merged.fields = fields.values.sorted { $0.field < $1.field }
        var sum: UInt128 = 0
        for field in merged.fields {
            let kind = UInt64(field.kind.rawValue) | (field.isEncrypted ? 0x80 : 0)
            let name = try names.hash(6, UInt64(field.field), in: fork)
            sum &+= DigestHash.hash(name, numbers: [kind, UInt64(field.indexes.rawValue)])
        }
        let seed = Self.seed(ViewTree.schema, try names.hash(5, event.type, in: fork))
        let content = DigestHash.hash(seed, hashes: [sum])
        try Array(try merged.event().body).withUnsafeBytes { body in
            try putRow(ViewTree.schema, key, body, event.original ?? place.version, content)
        }
    }

    private func applySubscription(
        _ event: SubscriptionSavedEvent, _ body: UnsafeRawBufferPointer, at place: EventPlace
    ) throws {
        let subscription = event.subscription
        let seed = Self.seed(
            ViewTree.subscriptions, try names.hash(3, event.database, in: fork),
            try names.hash(1, event.user, in: fork), DigestHash.hash(0, text: subscription.id))
        let numbers = [
            UInt64(subscription.kind.rawValue), subscription.options.rawValue, subscription.notification == nil ? 0 : 1,
        ]
        let links = [
            try names.hash(4, subscription.zone, in: fork), try names.hash(5, subscription.recordType, in: fork),
        ]
        let chosen = DigestHash.hash(
            DigestHash.hash(seed, numbers: numbers, hashes: links), text: subscription.predicate)
        let content = try (subscription.notification?.encoded() ?? []).withUnsafeBytes { DigestHash.hash(chosen, $0) }
        try putRow(
            ViewTree.subscriptions, Self.subscriptionKey(event.database, event.user, subscription.id), body,
            event.original ?? place.version, content)
    }

    private func applyDeletion(of event: SubscriptionDeletedEvent) throws {
        let key = Self.subscriptionKey(event.database, event.user, event.id)
        _ = try key.withUnsafeBytes { try fork.delete(ViewTree.subscriptions, $0) }
    }

    private static func subscriptionKey(_ database: UInt64, _ user: UInt64, _ id: String) -> [UInt8] {
        var key = KeyWriter()
        key.append(number: database)
        key.append(number: user)
        key.append(lastText: id.utf8)
        return key.bytes
    }

    private static func seed(_ id: TreeID, _ owner: UInt128...) -> UInt128 {
        DigestHash.hash(UInt128(id.rawValue), hashes: owner)
    }

    /// Where the parts of a row are that is an event's body.
    private enum RowLayout {
        static let body = 40
    }

    /// Writes a row that is an event's body, with its contributions to the digests.
    ///
    /// - Parameter content: made of names, not of the body, whose ordinals another store may not share; nil for what
    ///   is in no digest.
    private func putRow(
        _ id: TreeID, _ key: [UInt8], _ body: UnsafeRawBufferPointer, _ version: Version, _ content: UInt128? = nil
    ) throws {
        let state = content.map { DigestHash.hash($0, numbers: [version.packed]) }
        var row = ByteWriter(reserving: RowLayout.body + body.count)
        row.append(version.packed)
        row.append(state ?? 0)
        row.append(content ?? 0)
        row.append(bytes: body)
        try key.withUnsafeBytes { key in try row.bytes.withUnsafeBytes { try fork.put(id, key, $0) } }
    }
}
