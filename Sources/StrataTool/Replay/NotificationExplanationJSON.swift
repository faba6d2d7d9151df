import StrataModel
import StrataReplay
import StrataStore

/// Writes the subscriptions considered for a commit as JSON.
enum NotificationExplanationJSON {
    static func write(_ why: NotificationExplanation, to output: Output) throws {
        var json = JSONWriter(output)
        json.beginObject()
        json.explained(why.offset, why.time, why.actor)
        json.beginArray("changes")
        for change in why.changes { write(change, to: &json) }
        json.endArray()
        json.beginArray("subscriptions")
        for one in why.subscriptions { write(one, to: &json) }
        json.endArray()
        json.beginArray("devices")
        for device in why.devices {
            json.beginObject()
            json.field("userName", device.user)
            json.field("deviceName", device.name)
            json.field("origin", device.isOrigin)
            json.field("known", device.isKnown)
            if let through = device.toldThrough { json.field("toldThrough", through) }
            json.endObject()
        }
        json.endArray()
        json.field("notes", why.notes)
        json.endObject()
        try output.endLine()
    }

    private static func write(_ change: SubscriptionEvaluation.Change, to json: inout JSONWriter) {
        json.beginObject()
        json.field("changeTag", change.version.tag)
        json.field("scope", change.database.scope.name)
        json.field("ownerName", change.database.owner)
        json.field("zoneName", change.zone.name)
        if let record = change.record { json.field("record", record) }
        if let type = change.type { json.field("typeName", type) }
        json.field("change", change.reason.map { "\($0)" } ?? (change.isOfZone ? "zone" : "tag"))
        json.endObject()
    }

    private static func write(_ one: SubscriptionEvaluation, to json: inout JSONWriter) {
        let subscription = one.subscription
        json.beginObject()
        json.field("subscription", subscription.id)
        json.field("userName", one.user)
        json.field("scope", one.database.scope.name)
        json.field("ownerName", one.database.owner)
        json.field("kind", subscription.kind.name)
        if let type = subscription.recordType { json.field("typeName", type) }
        if let zone = subscription.zone { json.field("zoneName", zone.name) }
        if !subscription.predicate.isEmpty { json.field("predicate", subscription.predicate) }
        json.field("options", subscription.options.names.joined(separator: " "))
        if let saved = one.saved { json.field("saved", saved.tag) }
        if let fired = one.firedBy { json.field("firedBy", fired.tag) }
        json.field("fires", one.fires)
        json.beginArray("findings")
        for finding in one.findings {
            json.beginObject()
            json.field("change", finding.change)
            json.field("verdict", finding.verdict.rawValue)
            if let holds = finding.heldBefore { json.field("heldBefore", holds) }
            if let holds = finding.holdsAfter { json.field("holdsAfter", holds) }
            json.endObject()
        }
        json.endArray()
        json.endObject()
    }
}
