import StrataModel
import StrataStore

/// `strata history`: every version of one record.
enum HistoryCommand: Command {
    static let name = "history"
    static let summary = "print every version of a record and what each changed"
    static let details =
        "Prints the versions oldest first: when each was saved, by whom and by which operation, its change tag, and "
        + "its changed fields. Deletions and erasures are listed too, and at the end the deletion of the zone. + marks "
        + "an added field, - a removed one, ~ one with another value. If history was compacted, the list begins with "
        + "the record as it was then. Without options that name the zone it searches all zones. Only commits that "
        + "touched the record are read. It can run while another program writes to the store. Exits with 1 if the log "
        + "does not have the record, and with 3 if damage hides part of its history."

    static let limit = Option.number("-n", "N", 0...UInt64.max, help: "print only the last N versions")

    static let operands = [Operand.store, RecordTimelineTarget.operand]
    static let options: [any OptionDescription] = RecordTimelineTarget.options + [limit, Option.json]
    static let examples = [
        "strata history Notes.strata note-1",
        "strata history Notes.strata note-1 --user anna --zone Notes -n 3 --json | jq .changes",
    ]

    static func run(_ arguments: Arguments, _ output: Output) throws -> ExitCode {
        let target = try RecordTimelineTarget(arguments)
        var damage = target.damage
        var isKnown = false
        if let record = target.record {
            var timeline = try Self.timeline(of: record, target, limit: arguments[limit], &isKnown)
            while let entry = try timeline.next() {
                isKnown = true
                try write(entry, of: record, target.names, asJSON: arguments[Option.json], to: output)
            }
            damage = damage ?? timeline.damage
        }
        if let damage { throw damage }
        if isKnown { return .success }
        Diagnostics.report(target.problem, by: name)
        return .no
    }

    /// - Parameter isKnown: set to true if a limit is given and the record has versions.
    private static func timeline(
        of record: RecordKey, _ target: RecordTimelineTarget, limit: UInt64?, _ isKnown: inout Bool
    ) throws -> RecordTimeline {
        let end = target.store.reader.end.offset
        guard let limit else { return RecordTimeline(record, in: target.store, through: end) }
        let last = try RecordTimeline.ofLast(Int(clamping: limit), of: record, in: target.store, through: end)
        isKnown = last.count > 0
        return last.timeline
    }

    private static func write(
        _ entry: RecordTimeline.Entry, of record: RecordKey, _ names: KnownNames, asJSON: Bool, to output: Output
    ) throws {
        if asJSON {
            writeJSON(entry, of: record, names, to: output)
        } else {
            try write(entry, names, to: output)
        }
        try output.endLine()
    }

    // MARK: For people

    private static func write(_ entry: RecordTimeline.Entry, _ names: KnownNames, to output: Output) throws {
        let step = entry.step
        output.write("commit \(step.version.offset)", .heading)
        output.write("  " as StaticString)
        output.write(Timestamp(microseconds: entry.time))
        output.write("  \(step.version.tag)  \(title(of: step))\n    ")
        if let header = entry.header {
            output.writeActor(of: header, names)
            output.write(", " as StaticString)
            output.writeOperation(of: header)
            output.write("\n" as StaticString)
            output.writeOperationTexts(of: header)
        } else {
            output.write(names.actorText(entry.user, entry.device) + "\n")
        }
        try CommitPatchText.write(step, indentation: 4, names, to: output)
    }

    private static func title(of step: TimelineStep) -> String {
        switch step.kind {
        case .base: "as it was when the history before it was compacted"
        case .create, .update, .touch: step.kind.rawValue
        case .zoneDeleted: "zone deleted"
        case .delete: step.isCascade ? "delete, cascade" : "delete"
        case .erase: step.reason.isEmpty ? "erase" : "erase: \(Printable.escaped(step.reason))"
        }
    }

    // MARK: For programs

    private static func writeJSON(
        _ entry: RecordTimeline.Entry, of record: RecordKey, _ names: KnownNames, to output: Output
    ) {
        let step = entry.step
        var json = JSONWriter(output)
        json.beginObject()
        json.field("offset", step.version.offset)
        json.field("event", UInt64(step.version.eventIndex))
        json.field("changeTag", step.version.tag)
        json.field("time", entry.time)
        json.user(entry.user, names)
        json.device(entry.device, names)
        if let header = entry.header { CommitJSON.writeOperation(of: header, to: &json) }
        json.field("record", record.name)
        json.zone(record.zone, names)
        json.type(step.type, names)
        json.field("change", step.kind.rawValue)
        if let previous = step.previous { json.field("previous", previous.tag) }
        if step.kind == .delete { json.field("cascade", step.isCascade) }
        if !step.reason.isEmpty { json.field("reason", step.reason) }
        json.field("changes", step.changes, names)
        if step.isErased { json.field("erased", true) }
        if let problem = step.problem { json.field("notAllKnown", problem.description) }
        json.endObject()
    }
}
