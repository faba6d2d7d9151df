import StrataModel

/// `strata blame`: the commit that last set each field of a record.
enum BlameCommand: Command {
    static let name = "blame"
    static let summary = "show which commit last set each field of a record"
    static let details =
        "For each field, and for the links to parent and share, it prints the commit that set the current value, the "
        + "time, the user and device, and the value. A save that sends the same value again does not count. If history "
        + "was compacted, or an older version is not known, it prints the oldest commit known to have had the value, "
        + "and 'or before' after it. Without options that name the zone it searches all zones. Only commits that "
        + "touched the record are read. Exits with 1 if the record does not exist, or did not exist at that time."

    static let operands = [Operand.store, RecordTimelineTarget.operand]
    static let options: [any OptionDescription] = RecordTimelineTarget.options + [Option.at, Option.json]
    static let examples = [
        "strata blame Notes.strata note-1", "strata blame Notes.strata note-1 --user anna --zone Notes --at 2h --json",
    ]

    static func run(_ arguments: Arguments, _ output: Output) throws -> ExitCode {
        let target = try RecordTimelineTarget(arguments)
        let reader = target.store.reader
        let end: UInt64
        do { end = try arguments[Option.at]?.offset(in: reader) ?? reader.end.offset } catch let error as StrataError
            where error.code == .outOfRange
        {
            if let damage = target.damage { throw damage }
            Diagnostics.report("\(error)", by: name)
            return .no
        }
        var blame = RecordTimelineBlame()
        var damage = target.damage
        if let record = target.record {
            let told = try RecordTimelineBlame.of(record, in: target.store, through: end)
            blame = told.blame
            damage = damage ?? told.damage
        }
        if arguments[Option.json] {
            try writeJSON(blame.lines, target.names, to: output)
        } else {
            try write(blame.lines, target.names, to: output)
        }
        try output.flush()
        if let damage { throw damage }
        if let problem = blame.problem(target) {
            Diagnostics.report(problem, by: name)
            return .no
        }
        return .success
    }

    private static func write(
        _ lines: [RecordTimelineBlame.Line], _ names: KnownNames, to output: Output
    ) throws {
        let rows = lines.map { line in
            [
                CommitPatchText.name(of: line.key, names), "\(line.offset)" + (line.isExact ? "" : " or before"),
                "\(Timestamp(microseconds: line.time))", names.actorText(line.user, line.device),
                ValueText.text(of: line.value),
            ]
        }
        try Columns.write(rows, to: output)
    }

    private static func writeJSON(
        _ lines: [RecordTimelineBlame.Line], _ names: KnownNames, to output: Output
    ) throws {
        for line in lines {
            var json = JSONWriter(output)
            json.beginObject()
            json.field(line.key, names)
            json.field("value", line.value)
            json.field("offset", line.offset)
            json.field("exact", line.isExact)
            json.field("changeTag", line.version.tag)
            json.field("time", line.time)
            json.user(line.user, names)
            json.device(line.device, names)
            json.endObject()
            try output.endLine()
        }
    }
}
