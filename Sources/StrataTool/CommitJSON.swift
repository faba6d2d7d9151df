import StrataLog
import StrataModel

/// Writes commits as JSON lines. Keys, their order and their meaning are a promise: docs/guide/tool.md.
struct CommitJSON: CommitFormat {
    /// Where the commit stands, if that is wanted.
    var stored: CommitPlace?
    /// What events of records changed, if that is wanted.
    var patch: CommitPatch?

    func write(_ commit: Commit, _ envelope: DecodedEnvelope, _ names: KnownNames, to output: Output) throws {
        var json = JSONWriter(output)
        json.beginObject()
        json.field("offset", commit.offset)
        json.field("id", commit.id)
        json.field("time", commit.time)
        json.field("chain", hexadecimal: commit.chain)
        json.field("bytes", commit.payload.count)
        switch envelope {
        case .failure(let error): json.field("malformed", error.description)
        case .success(let envelope):
            write(envelope.header, names, to: &json)
            json.beginArray("events")
            for (index, event) in envelope.events.enumerated() {
                json.beginObject()
                write(event, names, to: &json)
                if let step = patch?.step(of: event, at: index, in: commit, envelope.header, names) {
                    Self.write(step, names, to: &json)
                }
                json.endObject()
            }
            json.endArray()
        }
        if let stored { json.field("stored", stored) }
        json.endObject()
        try output.endLine()
    }

    /// What a step says beside its event: docs/guide/tool.md, "A patch".
    private static func write(_ step: RecordTimelineStep, _ names: KnownNames, to json: inout JSONWriter) {
        json.field("changes", step.changes, names)
        if let problem = step.problem { json.field("notAllKnown", problem.description) }
    }

    private func write(_ header: EnvelopeHeader, _ names: KnownNames, to json: inout JSONWriter) {
        Self.writeUser(header.user, names, to: &json)
        Self.writeDevice(header.device, names, to: &json)
        Self.writeOperation(of: header, to: &json)
        if !header.requestShape.isEmpty {
            json.field("requestShape", header.requestShape.map { hexadecimal($0) }.joined())
        }
        json.field("lazy", header.isLazy)
    }

    private func write(_ event: Event, _ names: KnownNames, to json: inout JSONWriter) {
        json.field("kind", event.kind.rawValue)
        json.field("name", event.kind.description)
        json.field("bytes", event.body.count)
        switch EventDetail(event) {
        case .interned(let interned): write(interned, to: &json)
        case .saved(let place, let save):
            write(place, names, to: &json)
            write(save, names, to: &json)
        case .deleted(let place, let deleted):
            write(place, names, to: &json)
            if let previous = deleted.previous { json.field("previous", previous.tag) }
            json.field("cascade", deleted.isCascade)
        case .erased(let place, let erased):
            write(place, names, to: &json)
            if let previous = erased.previous { json.field("previous", previous.tag) }
            if !erased.reason.isEmpty { json.field("reason", erased.reason) }
        case .zoneSaved(let saved):
            writeZone(saved.zone, saved.database, saved.incarnation, names, to: &json)
            json.field("capabilities", saved.capabilities.rawValue)
        case .zoneDeleted(let deleted):
            writeZone(deleted.zone, deleted.database, deleted.incarnation, names, to: &json)
            json.field("reason", deleted.reason.name)
        case .schemaChanged(let changed): write(changed, names, to: &json)
        case .subscriptionSaved(let saved): write(saved, names, to: &json)
        case .subscriptionDeleted(let deleted):
            json.field("subscription", deleted.id)
            json.field("database", deleted.database)
            Self.writeUser(deleted.user, names, to: &json)
            json.field("firedOnce", deleted.firedBy != nil)
            if let event = deleted.firedBy { json.field("firedBy", event.tag) }
        case .notificationDelivered(let delivered):
            Self.writeDevice(delivered.device, names, to: &json)
            json.field("through", delivered.through)
            json.field("badge", delivered.badge)
        case .refused, .fetched, .consoleActed, .nothingToDelete: CommitJSON.write(audit: EventDetail(event), to: &json)
        case .opaque: break
        case .malformed(let error): json.field("malformed", error.description)
        }
    }

    private func write(_ saved: SubscriptionSavedEvent, _ names: KnownNames, to json: inout JSONWriter) {
        let subscription = saved.subscription
        json.field("subscription", subscription.id)
        json.field("subscriptionKind", subscription.kind.name)
        json.field("database", saved.database)
        Self.writeUser(saved.user, names, to: &json)
        if subscription.zone != 0 {
            json.field("zone", subscription.zone)
            if let name = names.zone(subscription.zone) { json.field("zoneName", name) }
        }
        if subscription.recordType != 0 {
            json.field("type", subscription.recordType)
            if let name = names.recordType(subscription.recordType) { json.field("typeName", name) }
        }
        if !subscription.predicate.isEmpty { json.field("predicate", subscription.predicate) }
        json.field("options", subscription.options.names.joined(separator: " "))
        json.field("silent", subscription.notification == nil)
    }

    static func writeOperation(of header: EnvelopeHeader, to json: inout JSONWriter) {
        json.field("operationID", header.operationID)
        json.field("operationKind", header.operationKind.description)
        json.field("qualityOfService", header.qualityOfService.description)
        json.field("groupID", header.groupID)
        json.field("groupName", header.groupName)
    }

    static func writeUser(_ user: UInt64, _ names: KnownNames, to json: inout JSONWriter) {
        json.field("user", user)
        if let name = names.user(user) { json.field("userName", name) }
    }

    static func writeDevice(_ device: UInt64, _ names: KnownNames, to json: inout JSONWriter) {
        json.field("device", device)
        if let name = names.device(device) { json.field("deviceName", name) }
    }

    private func write(_ place: EventDetail.Place, _ names: KnownNames, to json: inout JSONWriter) {
        json.field("zone", place.zone)
        if let name = names.zone(place.zone) { json.field("zoneName", name) }
        writeType(place.type, names, to: &json)
        json.field("record", place.name)
    }

    private func writeType(_ type: UInt64, _ names: KnownNames, to json: inout JSONWriter) {
        json.field("type", type)
        if let name = names.recordType(type) { json.field("typeName", name) }
    }

    private func write(_ changed: SchemaChangedEvent, _ names: KnownNames, to json: inout JSONWriter) {
        writeType(changed.type, names, to: &json)
        json.beginArray("fields")
        for field in changed.fields {
            json.beginObject()
            json.field("field", UInt64(field.field))
            if let name = names.field(UInt64(field.field)) { json.field("fieldName", name) }
            json.field("value", field.kind.description)
            json.field("encrypted", field.isEncrypted)
            json.field("indexes", field.indexes.schemaNames)
            json.endObject()
        }
        json.endArray()
        json.beginArray("grants")
        for grant in changed.grants {
            json.beginObject()
            json.field("role", grant.role)
            json.field("permissions", grant.permissions.schemaNames)
            json.endObject()
        }
        json.endArray()
    }

    private func write(_ save: EventDetail.Save, _ names: KnownNames, to json: inout JSONWriter) {
        json.field("change", save.change.name)
        json.field("policy", save.policy.name)
        json.field("full", save.isFull)
        if let previous = save.previous { json.field("previous", previous.tag) }
        if let base = save.base { json.field("base", base.tag) }
        json.beginArray("fields")
        for field in save.fields {
            json.beginObject()
            json.field("field", field.ordinal)
            if let name = names.field(field.ordinal) { json.field("fieldName", name) }
            json.field("value", field.kind?.description ?? "removed")
            json.field("valueBytes", field.bytes)
            json.endObject()
        }
        json.endArray()
        if save.isErased { json.field("erased", true) }
    }

    private func writeZone(
        _ zone: UInt64, _ database: UInt64, _ incarnation: Version?, _ names: KnownNames, to json: inout JSONWriter
    ) {
        json.field("zone", zone)
        if let name = names.zone(zone) { json.field("zoneName", name) }
        json.field("database", database)
        if let incarnation { json.field("incarnation", incarnation.tag) }
    }

    private func write(_ interned: InternedName, to json: inout JSONWriter) {
        json.field("namespace", interned.name.namespaceName)
        json.field("ordinal", interned.ordinal)
        switch interned.name {
        case .user(let text), .recordType(let text), .field(let text): json.field("text", text)
        case .device(let user, let text):
            json.field("user", user)
            json.field("text", text)
        case .database(let scope, let owner):
            json.field("scope", scope.name)
            json.field("owner", owner)
        case .zone(let database, let owner, let text):
            json.field("database", database)
            json.field("owner", owner)
            json.field("text", text)
        }
    }
}
