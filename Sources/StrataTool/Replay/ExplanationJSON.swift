import StrataLog
import StrataModel
import StrataReplay

/// Writes the explanation of an answer as JSON.
enum ExplanationJSON {
    /// A commit with the names that its events need.
    typealias ToldCommit = (commit: Commit, envelope: Envelope, names: KnownNames)

    static func write(_ why: Explanation, _ told: ToldCommit?, to output: Output) throws {
        var json = JSONWriter(output)
        json.beginObject()
        json.explained(why.offset, why.time, why.actor)
        json.field("operationKind", "\(why.operation)")
        json.field("outcome", why.outcome.rawValue)
        if let database = why.database {
            json.field("scope", database.scope.name)
            json.field("ownerName", database.owner)
        }
        if let policy = why.policy { json.field("policy", policy.name) }
        if let isAtomic = why.isAtomic { json.field("atomic", isAtomic) }
        if let offset = why.judgedAt { json.field("judgedAt", offset) } else { json.null("judgedAt") }
        if let code = why.code { json.field("code", code.rawValue) }
        if let message = why.message { json.field("message", message) }
        write(why.rules, to: &json)
        write(why.facts, to: &json)
        json.beginArray("items")
        for item in why.items { write(item, to: &json) }
        json.endArray()
        json.field("notes", why.notes)
        if let told { CommitJSON().writeEvents(of: told.commit, told.envelope, told.names, to: &json) }
        json.endObject()
        try output.endLine()
    }

    private static func write(_ rules: [ExplanationRule], to json: inout JSONWriter) {
        json.beginArray("rules")
        for rule in rules {
            json.beginObject()
            json.field("number", rule.number)
            json.field("sentence", rule.sentence)
            if !rule.finding.isEmpty { json.field("finding", rule.finding) }
            json.endObject()
        }
        json.endArray()
    }

    private static func write(_ facts: [Explanation.Fact], to json: inout JSONWriter) {
        json.beginArray("facts")
        for fact in facts {
            json.beginObject()
            json.field("text", fact.text)
            if let offset = fact.offset { json.field("offset", offset) }
            json.endObject()
        }
        json.endArray()
    }

    private static func write(_ item: Explanation.Item, to json: inout JSONWriter) {
        json.beginObject()
        json.field("list", "\(item.list)")
        json.field("index", item.index)
        if let zone = item.zone { json.field("zoneName", zone.name) }
        json.field("name", item.name)
        if let code = item.code {
            json.field("code", code.rawValue)
            json.field("bystander", item.isBystander)
        }
        if let message = item.message { json.field("message", message) }
        write(item.rules, to: &json)
        write(item.facts, to: &json)
        if let base = item.base { json.field("base", base.tag) }
        if let stored = item.stored { json.field("stored", stored.tag) }
        if let made = item.made { json.field("made", made.tag) }
        if let conflict = item.conflict { write(conflict, to: &json) }
        json.endObject()
    }

    private static func write(_ conflict: RecordConflict, to json: inout JSONWriter) {
        json.beginObject("conflict")
        json.field("ancestor", conflict.ancestor.rawValue)
        json.field("serverKnown", conflict.isServerKnown)
        json.beginArray("fields")
        for field in conflict.fields {
            json.beginObject()
            json.field("fieldName", field.key)
            json.field("sent", field.isSent)
            json.field("side", field.side.rawValue)
            write("ancestor", field.ancestor, to: &json)
            write("client", field.client, to: &json)
            write("server", field.server, to: &json)
            json.endObject()
        }
        json.endArray()
        json.beginArray("changes")
        for change in conflict.changes {
            json.beginObject()
            json.field("offset", change.version.offset)
            json.field("changeTag", change.version.tag)
            json.field("time", change.time)
            json.field("userName", change.user)
            json.field("deviceName", change.device)
            json.field("change", change.kind.rawValue)
            if let keys = change.keys {
                json.beginArray("fieldNames")
                for key in keys { json.value(key) }
                json.endArray()
            }
            json.endObject()
        }
        json.endArray()
        json.field("earlierChanges", conflict.earlierChangeCount)
        json.beginArray("notes")
        for note in conflict.notes { json.value(note) }
        json.endArray()
        json.endObject()
    }

    private static func write(_ key: String, _ value: FieldValue?, to json: inout JSONWriter) {
        json.key(key)
        if let value { ValueText.write(value, to: &json) } else { json.nullValue() }
    }
}

extension JSONWriter {
    /// Writes the explained commit and its actor.
    mutating func explained(_ offset: UInt64, _ time: Int64, _ actor: Actor) {
        field("offset", offset)
        field("time", time)
        field("userName", actor.user)
        field("deviceName", actor.device)
    }

    mutating func field(_ key: StaticString, _ texts: [String]) {
        beginArray(key)
        for text in texts { value(text) }
        endArray()
    }
}
