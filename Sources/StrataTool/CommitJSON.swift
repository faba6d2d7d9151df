import StrataLog
import StrataModel

/// Writes commits as JSON lines. Keys, their order and their meaning are a promise: docs/guide/tool.md.
struct CommitJSON: CommitFormat {
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
            for event in envelope.events { write(event, names, to: &json) }
            json.endArray()
        }
        json.endObject()
        try output.endLine()
    }

    private func write(_ header: EnvelopeHeader, _ names: KnownNames, to json: inout JSONWriter) {
        json.field("user", header.user)
        if let name = names.user(header.user) { json.field("userName", name) }
        json.field("device", header.device)
        if let name = names.device(header.device) { json.field("deviceName", name) }
        json.field("operationID", header.operationID)
        json.field("operationKind", header.operationKind.description)
        json.field("qualityOfService", header.qualityOfService.description)
        json.field("groupID", header.groupID)
        json.field("groupName", header.groupName)
        if !header.requestShape.isEmpty {
            json.field("requestShape", header.requestShape.map { hexadecimal($0) }.joined())
        }
        json.field("lazy", header.isLazy)
    }

    private func write(_ event: Event, _ names: KnownNames, to json: inout JSONWriter) {
        json.beginObject()
        json.field("kind", event.kind.rawValue)
        json.field("name", event.kind.description)
        json.field("bytes", event.body.count)
        switch EventDetail(event) {
        case .interned(let interned): write(interned, to: &json)
        case .record(let zone, let type, let name):
            json.field("zone", zone)
            if let name = names.zone(zone) { json.field("zoneName", name) }
            json.field("type", type)
            if let name = names.recordType(type) { json.field("typeName", name) }
            json.field("record", name)
        case .zone(let zone):
            json.field("zone", zone)
            if let name = names.zone(zone) { json.field("zoneName", name) }
        case .opaque: break
        case .malformed(let error): json.field("malformed", error.description)
        }
        json.endObject()
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
