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
            try putRow(
                ViewTree.databases, ViewKeys.numbers(event.database), body, event.original ?? place.version,
                [try names.hash(3, event.database, in: fork)])
        case .userChanged:
            let event = try UserChangedEvent(from: &reader)
            try putRow(
                ViewTree.users, ViewKeys.numbers(event.user), body, event.original ?? place.version,
                [try names.hash(1, event.user, in: fork)])
        case .deviceSeen:
            let event = try DeviceSeenEvent(from: &reader)
            try putRow(
                ViewTree.devices, ViewKeys.numbers(event.device), body, event.original ?? place.version,
                [try names.hash(2, event.device, in: fork)])
        case .schemaChanged:
            let event = try SchemaChangedEvent(from: &reader)
            try putRow(
                ViewTree.schema, ViewKeys.numbers(event.type), body, event.original ?? place.version,
                [try names.hash(5, event.type, in: fork)])
        case .clientTokenKept:
            let event = try ClientTokenEvent(from: &reader)
            try putRow(
                ViewTree.clientTokens, ViewKeys.numbers(event.zone, event.device), body,
                event.original ?? place.version,
                [try names.hash(4, event.zone, in: fork), try names.hash(2, event.device, in: fork)])
        case .tokensExpired:
            let event = try TokensExpiredEvent(from: &reader)
            try putRow(
                ViewTree.expiredTokens, ViewKeys.numbers(event.database), body, place.version,
                [try names.hash(3, event.database, in: fork)])
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

    private func applySubscription(
        _ event: SubscriptionSavedEvent, _ body: UnsafeRawBufferPointer, at place: EventPlace
    ) throws {
        let owner = [try names.hash(3, event.database, in: fork), try names.hash(1, event.user, in: fork)]
        try putRow(
            ViewTree.subscriptions, Self.subscriptionKey(event.database, event.user, event.subscription.id), body,
            event.original ?? place.version, owner + [DigestHash.hash(0, text: event.subscription.id)])
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

    /// Writes a row that is an event's body with what the digests need.
    private func putRow(
        _ id: TreeID, _ key: [UInt8], _ body: UnsafeRawBufferPointer, _ version: Version, _ owner: [UInt128]
    ) throws {
        let seed = DigestHash.hash(UInt128(id.rawValue), hashes: owner)
        let content = DigestHash.hash(seed, body)
        let state = DigestHash.hash(content, numbers: [version.packed])
        var row = ByteWriter(reserving: 40 + body.count)
        row.append(version.packed)
        row.append(state)
        row.append(content)
        row.append(bytes: body)
        try key.withUnsafeBytes { key in try row.bytes.withUnsafeBytes { try fork.put(id, key, $0) } }
    }
}
