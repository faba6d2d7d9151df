import StrataModel

/// The decoded body of an event, if the body can be rebuilt from it.
struct ExportedEvent: JSONValue {
    /// Longer bodies are exported only as bytes.
    private static let maximumBodyBytes = 1 << 20

    private let event: Event
    private let body: (any EventBody)?
    private let names: KnownNames

    /// Returns nil for an event that is exported as bytes.
    init?(_ event: Event, _ names: KnownNames) {
        (self.event, self.names) = (event, names)
        guard event.body.count <= Self.maximumBodyBytes else { return nil }
        if event.kind == .nameInterned {
            guard let name = try? InternedName(decoding: event.body), name.event.body == event.body else { return nil }
            body = nil
        } else {
            guard let body = Self.lossless(event) else { return nil }
            self.body = body
        }
    }

    static var jsonKind: JSONKind { "object" }

    func write(to json: inout JSONWriter) throws {
        json.beginObject()
        // Names and audits have a JSON form already.
        if try body.map({ try write($0, to: &json) }) != true {
            try EventJSON.write(event, names, to: &json)
        }
        json.endObject()
    }

    /// Returns the decoded body if it encodes to the same bytes and all of it has a JSON form.
    private static func lossless(_ event: Event) -> (any EventBody)? {
        // A notification has many optional parts, and later releases may add more.
        guard event.kind != .subscriptionSaved, let type = event.kind.body else { return nil }
        return lossless(event.body, as: type)
    }

    private static func lossless<Body: EventBody>(_ bytes: ArraySlice<UInt8>, as _: Body.Type) -> Body? {
        guard let body = try? Body(decoding: bytes), let again = try? body.event().body, again == bytes else {
            return nil
        }
        return body
    }

    /// Returns false for an audit, which has a JSON form already.
    private func write(_ body: any EventBody, to json: inout JSONWriter) throws -> Bool {
        switch body {
        case let saved as RecordSavedEvent: try write(saved, to: &json)
        case let deleted as RecordDeletedEvent:
            try write(deleted.record, deleted.type, to: &json)
            try json.field("previous", version: deleted.previous)
            if deleted.isCascade { try json.field("cascade", true) }
        case let erased as RecordErasedEvent:
            try write(erased.record, erased.type, to: &json)
            try json.field("previous", version: erased.previous)
            if !erased.reason.isEmpty { try json.field("reason", erased.reason) }
        case let saved as ZoneSavedEvent: try write(saved, to: &json)
        case let deleted as ZoneDeletedEvent:
            try json.zone(deleted.zone, names)
            try json.field("database", deleted.database)
            try json.field("incarnation", version: deleted.incarnation)
            try json.field("reason", deleted.reason.name)
            try json.field("original", version: deleted.original)
        case let changed as SchemaChangedEvent: try write(changed, to: &json)
        case let deleted as SubscriptionDeletedEvent:
            try json.field("database", deleted.database)
            try json.user(deleted.user, names)
            try json.field("subscription", deleted.id)
            try json.field("firedBy", version: deleted.firedBy)
        default: return try writeOther(body, to: &json)
        }
        return true
    }

    private func writeOther(_ body: any EventBody, to json: inout JSONWriter) throws -> Bool {
        switch body {
        case let created as DatabaseCreatedEvent:
            try json.field("database", created.database)
            try json.field("original", version: created.original)
        case let seen as DeviceSeenEvent:
            try json.device(seen.device, names)
            try json.field("original", version: seen.original)
        case let changed as UserChangedEvent:
            try json.user(changed.user, names)
            try json.field("status", UInt64(changed.status.rawValue))
            try json.field("quota", changed.quota)
            try json.field("original", version: changed.original)
            try json.fields(of: changed.person, as: Person.shape)
        case let kept as ClientTokenEvent:
            try json.zone(kept.zone, names)
            try json.device(kept.device, names)
            try json.field("token", Base64.text(kept.token))
            try json.field("items", kept.items)
            try json.field("original", version: kept.original)
        case let expired as TokensExpiredEvent:
            try json.field("offset", expired.offset)
            try json.field("database", expired.database)
            try json.field("original", version: expired.original)
        case let named as UserRecordNamedEvent:
            try json.user(named.user, names)
            try json.field("recordName", named.recordName)
            try json.field("original", version: named.original)
        case let drawn as SecretDrawnEvent:
            try json.field("secret", drawn.number)
            try json.field("original", version: drawn.original)
        case let delivered as NotificationDeliveredEvent:
            try json.device(delivered.device, names)
            try json.field("through", delivered.through)
            try json.field("badge", delivered.badge)
            try json.field("original", version: delivered.original)
        case let marker as BaseMarkerEvent:
            try json.field("offset", marker.horizon.offset)
            try json.field("chain", Hexadecimal(marker.horizon.chain))
            try json.field("stateDigest", hexadecimal(marker.stateDigest))
            try json.field("contentDigest", hexadecimal(marker.contentDigest))
            try json.field("payloads", marker.payloadCount)
            try json.field("payloadHash", hexadecimal(marker.payloadHash))
        default: return false
        }
        return true
    }

    // MARK: Parts

    private func write(_ saved: RecordSavedEvent, to json: inout JSONWriter) throws {
        try write(saved.record, saved.type, to: &json)
        try json.field("change", saved.change.name)
        try json.field("policy", saved.policy.name)
        try json.field("full", saved.isFull)
        if saved.isErased { try json.field("erased", true) }
        try json.field("previous", version: saved.previous)
        try json.field("base", version: saved.base)
        try json.field("original", version: saved.original)
        if saved.eventsSinceFull > 0 { try json.field("eventsSinceFull", saved.eventsSinceFull) }
        if let time = saved.modified { try json.field("modified", time) }
        if let user = saved.modifiedBy { try json.field("modifiedBy", user) }
        if let device = saved.modifiedWith { try json.field("modifiedWith", device) }
        if let time = saved.created { try json.field("created", time) }
        if let user = saved.createdBy { try json.field("createdBy", user) }
        try write("parent", saved.parent, isLoose: saved.isParentLoose, to: &json)
        try write("share", saved.share, to: &json)
        let values = ExportedValue { [names] zone in names.zone(zone) ?? "\(zone)" }
        json.beginArray("fields")
        for change in saved.fields {
            json.beginObject()
            try json.recordField(UInt64(change.field), names)
            if let value = change.value {
                json.key("set")
                try values.write(value, to: &json)
            } else {
                try json.field("removed", true)
            }
            json.endObject()
        }
        json.endArray()
    }

    private func write(
        _ key: StaticString, _ link: LinkChange, isLoose: Bool = false, to json: inout JSONWriter
    ) throws {
        switch link {
        case .kept: break
        case .removed: json.null(key)
        case .set(let target):
            json.beginObject(key)
            try json.zone(target.zone, names)
            try json.field("record", target.name)
            if isLoose { try json.field("loose", true) }
            json.endObject()
        }
    }

    private func write(_ saved: ZoneSavedEvent, to json: inout JSONWriter) throws {
        try json.zone(saved.zone, names)
        try json.field("database", saved.database)
        try json.field("incarnation", version: saved.incarnation)
        try json.field("capabilities", saved.capabilities.rawValue)
        try json.field("encryptionScope", saved.encryptionScope == .zone ? "zone" : "record")
        if let share = saved.share { try write("share", .set(share), to: &json) }
        try json.field("original", version: saved.original)
        if let offset = saved.lastChanged { try json.field("lastChanged", offset) }
    }

    private func write(_ changed: SchemaChangedEvent, to json: inout JSONWriter) throws {
        try json.type(changed.type, names)
        json.beginArray("fields")
        for field in changed.fields {
            json.beginObject()
            try json.recordField(UInt64(field.field), names)
            try json.field("value", "\(field.kind)")
            try json.field("encrypted", field.isEncrypted)
            try json.field("indexes", UInt64(field.indexes.rawValue))
            json.endObject()
        }
        json.endArray()
        json.beginArray("grants")
        for grant in changed.grants {
            json.beginObject()
            try json.field("role", grant.role)
            try json.field("permissions", UInt64(grant.permissions.rawValue))
            json.endObject()
        }
        json.endArray()
        try json.field("original", version: changed.original)
    }

    private func write(_ record: RecordKey, _ type: UInt64, to json: inout JSONWriter) throws {
        try json.zone(record.zone, names)
        try json.type(type, names)
        try json.field("record", record.name)
    }
}

extension JSONWriter {
    /// Writes a version as a change tag, or nothing.
    fileprivate mutating func field(_ key: StaticString, version: Version?) throws {
        if let version { try field(key, version) }
    }
}
