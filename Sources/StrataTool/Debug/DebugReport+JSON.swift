import StrataModel
import StrataReplay
import StrataStore

/// Writes a stop as JSON: the keys of docs/guide/tool.md, "A stop of a debugger".
extension DebugReport {
    func writeJSON(_ reason: Stepper.Reason, _ changes: [WatchChange], of stepper: Stepper) throws {
        var json = JSONWriter(output)
        json.beginObject()
        json.field("offset", stepper.offset)
        json.field("reason", Self.name(of: reason))
        if case .stopped(let numbers) = reason {
            json.beginArray("stoppedBy")
            for number in numbers { json.value(Int64(number)) }
            json.endArray()
        }
        json.beginArray("watches")
        for change in changes { try write(change, to: &json) }
        json.endArray()
        if let commit = try stepper.commit() {
            json.beginObject("commit")
            CommitJSON().writeFields(of: commit, Self.envelope(of: commit), names, to: &json)
            json.endObject()
        } else {
            json.null("commit")
        }
        json.endObject()
        try output.endLine()
    }

    private static func name(of reason: Stepper.Reason) -> String {
        switch reason {
        case .arrived: "arrived"
        case .stopped: "stopped"
        case .found: "found"
        case .ended: "ended"
        case .interrupted: "interrupted"
        }
    }

    private func write(_ change: WatchChange, to json: inout JSONWriter) throws {
        json.beginObject()
        json.field("number", change.number)
        json.field("record", change.watch.record.name)
        json.field("zone", change.watch.record.zone.name)
        json.field("database", change.watch.database.scope.name)
        json.field("owner", change.watch.database.owner)
        if let field = change.watch.field {
            json.field("fieldName", field)
            if let before = try change.before { json.field("old", before) } else { json.null("old") }
            if let after = try change.after { json.field("new", after) } else { json.null("new") }
        } else {
            try write("before", change.difference.before, to: &json)
            try write("after", change.difference.after, to: &json)
        }
        json.endObject()
    }

    private func write(_ key: StaticString, _ record: Record?, to json: inout JSONWriter) throws {
        guard let record else { return json.null(key) }
        json.beginObject(key)
        try RecordDetail(record, in: state).writeFields(to: &json)
        json.endObject()
    }
}
