import StrataLog
import StrataModel
import StrataStore

/// Writes commits as JSON lines. The keys, their order and their meaning are stable: docs/guide/tool.md.
struct CommitJSON: CommitFormat {
    /// The location of the commit in the store, if requested.
    var stored: CommitPlace?
    /// The changes made by the events of records, if requested.
    var patch: CommitPatch?

    func write(_ commit: Commit, _ envelope: DecodedEnvelope, _ names: KnownNames, to output: Output) throws {
        var json = JSONWriter(output)
        json.beginObject()
        writeFields(of: commit, envelope, names, to: &json)
        json.endObject()
        try output.endLine()
    }

    /// Writes the keys of docs/guide/tool.md, "A commit", into an open object.
    func writeFields(
        of commit: Commit, _ envelope: DecodedEnvelope, _ names: KnownNames, to json: inout JSONWriter
    ) {
        json.field("offset", commit.offset)
        json.field("id", commit.id)
        json.field("time", commit.time)
        json.field("chain", hexadecimal: commit.chain)
        json.field("bytes", commit.payload.count)
        switch envelope {
        case .failure(let error): json.field("malformed", error.description)
        case .success(let envelope):
            write(envelope.header, names, to: &json)
            writeEvents(of: commit, envelope, names, to: &json)
        }
        if let stored { json.field("stored", stored) }
    }

    /// Writes the key `events` and its array into an open object.
    func writeEvents(of commit: Commit, _ envelope: Envelope, _ names: KnownNames, to json: inout JSONWriter) {
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

    /// Writes the keys that a step adds to its event: docs/guide/tool.md, "A patch".
    private static func write(_ step: TimelineStep, _ names: KnownNames, to json: inout JSONWriter) {
        json.field("changes", step.changes, names)
        if let problem = step.problem { json.field("notAllKnown", problem.description) }
    }

    private func write(_ header: EnvelopeHeader, _ names: KnownNames, to json: inout JSONWriter) {
        json.user(header.user, names)
        json.device(header.device, names)
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
        case .interned(let interned): json.interned(interned, names)
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
            json.user(deleted.user, names)
            json.field("firedOnce", deleted.firedBy != nil)
            if let event = deleted.firedBy { json.field("firedBy", event.tag) }
        case .userChanged(let changed):
            json.user(changed.user, names)
            json.field("status", changed.status.name)
            json.field("quota", changed.quota)
            json.write(changed.person)
        case .notificationDelivered(let delivered):
            json.device(delivered.device, names)
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
        json.user(saved.user, names)
        if subscription.zone != 0 {
            json.zone(subscription.zone, names)
        }
        if subscription.recordType != 0 {
            json.type(subscription.recordType, names)
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

    private func write(_ place: EventDetail.Place, _ names: KnownNames, to json: inout JSONWriter) {
        json.zone(place.zone, names)
        json.type(place.type, names)
        json.field("record", place.name)
    }

    private func write(_ changed: SchemaChangedEvent, _ names: KnownNames, to json: inout JSONWriter) {
        json.type(changed.type, names)
        json.beginArray("fields")
        for field in changed.fields {
            json.beginObject()
            json.recordField(UInt64(field.field), names)
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
            json.recordField(field.ordinal, names)
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
        json.zone(zone, names)
        json.field("database", database)
        if let incarnation { json.field("incarnation", incarnation.tag) }
    }
}
