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
            try EventJSON.write(EventDetail(event), names, to: &json)
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
            write(deleted.record, deleted.type, to: &json)
            json.field("previous", version: deleted.previous)
            if deleted.isCascade { json.field("cascade", true) }
        case let erased as RecordErasedEvent:
            write(erased.record, erased.type, to: &json)
            json.field("previous", version: erased.previous)
            if !erased.reason.isEmpty { json.field("reason", erased.reason) }
        case let saved as ZoneSavedEvent: write(saved, to: &json)
        case let deleted as ZoneDeletedEvent:
            json.zone(deleted.zone, names)
            json.field("database", deleted.database)
            json.field("incarnation", version: deleted.incarnation)
            json.field("reason", deleted.reason.name)
            json.field("original", version: deleted.original)
        case let changed as SchemaChangedEvent: write(changed, to: &json)
        case let deleted as SubscriptionDeletedEvent:
            json.field("database", deleted.database)
            json.user(deleted.user, names)
            json.field("subscription", deleted.id)
            json.field("firedBy", version: deleted.firedBy)
        default: return writeOther(body, to: &json)
        }
        return true
    }

    private func writeOther(_ body: any EventBody, to json: inout JSONWriter) -> Bool {
        switch body {
        case let created as DatabaseCreatedEvent:
            json.field("database", created.database)
            json.field("original", version: created.original)
        case let seen as DeviceSeenEvent:
            json.device(seen.device, names)
            json.field("original", version: seen.original)
        case let changed as UserChangedEvent:
            json.user(changed.user, names)
            json.field("status", UInt64(changed.status.rawValue))
            json.field("quota", changed.quota)
            json.field("original", version: changed.original)
            json.write(changed.person)
        case let kept as ClientTokenEvent:
            json.zone(kept.zone, names)
            json.device(kept.device, names)
            json.field("token", Base64.text(kept.token))
            json.field("items", kept.items)
            json.field("original", version: kept.original)
        case let expired as TokensExpiredEvent:
            json.field("offset", expired.offset)
            json.field("database", expired.database)
            json.field("original", version: expired.original)
        case let delivered as NotificationDeliveredEvent:
            json.device(delivered.device, names)
            json.field("through", delivered.through)
            json.field("badge", delivered.badge)
            json.field("original", version: delivered.original)
        case let marker as BaseMarkerEvent:
            json.field("offset", marker.horizon.offset)
            json.field("chain", hexadecimal: marker.horizon.chain)
            json.field("stateDigest", hexadecimal(marker.stateDigest))
            json.field("contentDigest", hexadecimal(marker.contentDigest))
            json.field("payloads", marker.payloadCount)
            json.field("payloadHash", hexadecimal(marker.payloadHash))
        default: return false
        }
        return true
    }

    // MARK: Parts

    private func write(_ saved: RecordSavedEvent, to json: inout JSONWriter) throws {
        write(saved.record, saved.type, to: &json)
        json.field("change", saved.change.name)
        json.field("policy", saved.policy.name)
        json.field("full", saved.isFull)
        if saved.isErased { json.field("erased", true) }
        json.field("previous", version: saved.previous)
        json.field("base", version: saved.base)
        json.field("original", version: saved.original)
        if saved.eventsSinceFull > 0 { json.field("eventsSinceFull", saved.eventsSinceFull) }
        if let time = saved.modified { json.field("modified", time) }
        if let user = saved.modifiedBy { json.field("modifiedBy", user) }
        if let device = saved.modifiedWith { json.field("modifiedWith", device) }
        if let time = saved.created { json.field("created", time) }
        if let user = saved.createdBy { json.field("createdBy", user) }
        write("parent", saved.parent, isLoose: saved.isParentLoose, to: &json)
        write("share", saved.share, to: &json)
        let values = ExportedValue { [names] zone in names.zone(zone) ?? "\(zone)" }
        json.beginArray("fields")
        for change in saved.fields {
            json.beginObject()
            json.recordField(UInt64(change.field), names)
            if let value = change.value {
                json.key("set")
                try values.write(value, to: &json)
            } else {
                json.field("removed", true)
            }
            json.endObject()
        }
        json.endArray()
    }

    private func write(
        _ key: StaticString, _ link: LinkChange, isLoose: Bool = false, to json: inout JSONWriter
    ) {
        switch link {
        case .kept: break
        case .removed: json.null(key)
        case .set(let target):
            json.beginObject(key)
            json.zone(target.zone, names)
            json.field("record", target.name)
            if isLoose { json.field("loose", true) }
            json.endObject()
        }
    }

    private func write(_ saved: ZoneSavedEvent, to json: inout JSONWriter) {
        json.zone(saved.zone, names)
        json.field("database", saved.database)
        json.field("incarnation", version: saved.incarnation)
        json.field("capabilities", saved.capabilities.rawValue)
        json.field("encryptionScope", saved.encryptionScope == .zone ? "zone" : "record")
        if let share = saved.share { write("share", .set(share), to: &json) }
        json.field("original", version: saved.original)
        if let offset = saved.lastChanged { json.field("lastChanged", offset) }
    }

    private func write(_ changed: SchemaChangedEvent, to json: inout JSONWriter) {
        json.type(changed.type, names)
        json.beginArray("fields")
        for field in changed.fields {
            json.beginObject()
            json.recordField(UInt64(field.field), names)
            json.field("value", "\(field.kind)")
            json.field("encrypted", field.isEncrypted)
            json.field("indexes", UInt64(field.indexes.rawValue))
            json.endObject()
        }
        json.endArray()
        json.beginArray("grants")
        for grant in changed.grants {
            json.beginObject()
            json.field("role", grant.role)
            json.field("permissions", UInt64(grant.permissions.rawValue))
            json.endObject()
        }
        json.endArray()
        json.field("original", version: changed.original)
    }

    private func write(_ record: RecordKey, _ type: UInt64, to json: inout JSONWriter) {
        json.zone(record.zone, names)
        json.type(type, names)
        json.field("record", record.name)
    }
}

extension JSONWriter {
    /// Writes a version as a change tag, or nothing.
    fileprivate mutating func field(_ key: StaticString, version: Version?) {
        if let version { field(key, version.tag) }
    }
}
