import StrataModel
import StrataStore

/// `strata history`: every version of one record.
enum HistoryCommand: Command {
    static let name = "history"
    static let summary = "print every version of a record and what each changed"
    static let details =
        "Prints the versions oldest first: when each was saved, by whom and by which operation, its change tag, and "
        + "its changed fields. Deletions and erasures are listed too, and deletions of the zone. + marks "
        + "an added field, - a removed one, ~ one with another value. If history was compacted, the list begins with "
        + "the record as it was then. Without options that name the zone it searches all zones. Only commits that "
        + "touched the record are read. It can run while another program writes to the store. Exits with 1 if the log "
        + "does not have the record, and with 3 if damage hides part of its history."

    static let limit = Option.limit("-n", help: "print only the last N versions")

    static let operands = [Operand.store, RecordTimelineTarget.operand]
    static let options: [any OptionDescription] =
        RecordTimelineTarget.options + [
            limit, QueryCommand.reveal, Option.json,
        ]
    static let examples = [
        "strata history Notes.strata note-1",
        "strata history Notes.strata note-1 --user anna --zone Notes -n 3 --json | jq .changes",
    ]

    static func run(_ arguments: Arguments, _ output: Output) throws -> ExitCode {
        let target = try RecordTimelineTarget(arguments)
        var damage = target.damage
        var isKnown = false
        let secrets = try arguments[QueryCommand.reveal] ? HistorySecrets(arguments.store, target.names) : nil
        if let record = target.record {
            var timeline = try Self.timeline(of: record, target, limit: arguments[limit], &isKnown)
            while var entry = try timeline.next() {
                isKnown = true
                if let secrets { entry.step = try secrets.revealed(entry.step, of: record) }
                try write(entry, of: record, target.names, asJSON: arguments[Option.json], to: output)
            }
            damage = damage ?? timeline.damage
        }
        if let damage { throw damage }
        if isKnown { return try secrets?.secrets.reportClosed(by: name, output) ?? .success }
        return Diagnostics.refuse(target.problem, by: name)
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
        if asJSON { return try output.writeJSON((entry, record, names), as: shape) }
        try write(entry, names, to: output)
        try output.endLine()
    }

    // MARK: For people

    private static func write(_ entry: RecordTimeline.Entry, _ names: KnownNames, to output: Output) throws {
        let step = entry.step
        output.write("commit \(step.version.offset)", .heading)
        output.write("  " as StaticString)
        output.write(Timestamp(microseconds: entry.time))
        output.write("  \(step.version.tag)  \(CommitPatchText.title(of: step))\n    ")
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

    // MARK: For programs

    static let shape = Shape<(entry: RecordTimeline.Entry, record: RecordKey, names: KnownNames)>("A version") {
        Key("offset", "of the commit") { $0.entry.step.version.offset }
        Key("event", "index of the event in the commit, from 0") { $0.entry.step.version.eventIndex }
        Key("changeTag", "of the version, or for a deletion or erasure the tag it would have") { $0.entry.step.version }
        Key("time", "when, or for a base when the record was last changed") { $0.entry.time }
        Key("user", name: "userName", "ordinal, 0 for the system") { ($0.entry.user, $0.names.user($0.entry.user)) }
        Key("device", name: "deviceName", "ordinal, 0 for none") { ($0.entry.device, $0.names.device($0.entry.device)) }
        Key(of: CommitJSON.Line.operation, if: "except for a base") { $0.entry.header }
        Key("record", "name of the record") { $0.record.name }
        Key("zone", name: "zoneName", "ordinal") { ($0.record.zone, $0.names.zone($0.record.zone)) }
        Key("type", name: "typeName", "ordinal") { ($0.entry.step.type, $0.names.recordType($0.entry.step.type)) }
        Key(
            "change",
            "`create`, `update`, `touch`, `delete`, `erase`, `zoneDeleted` if it was deleted with its zone, or `base` "
                + "for the record's state when history was compacted"
        ) { $0.entry.step.kind.rawValue }
        Key("previous", "of the previous version", if: "if there was one, not for a base") { $0.entry.step.previous }
        Key("cascade", "true if it was deleted with another record", if: "`delete`") {
            $0.entry.step.kind == .delete ? $0.entry.step.isCascade : nil
        }
        Key("reason", "the reason that was given", if: "`erase`: if there is one") { $0.entry.step.reason.nonempty }
        Key("changes", "as in a patch", each: CommitPatchText.shape) { version in
            version.entry.step.changes.map { ($0, version.names) }
        }
        Key("erased", "true: its content was erased later", if: "if so") { $0.entry.step.isErased ? true : nil }
        Key("notAllKnown", "why not all changes are known, in words", if: "if so") {
            $0.entry.step.problem?.description
        }
    }
}
