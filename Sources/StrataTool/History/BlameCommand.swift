import StrataModel

/// `strata blame`: the commit that last set each field of a record.
enum BlameCommand: Command {
    static let name = "blame"
    static let summary = "show which commit last set each field of a record"
    static let details =
        "For each field, and for the links to parent and share, it prints the commit that set the current value, the "
        + "time, the user and device, and the value. For a share: the commits that set its URL's token, its public "
        + "permission and access requests, and that invited each participant, set the permission, and accepted. A save "
        + "that sends the same value again does not count. If history was compacted, or an older version is not known, "
        + "it prints the oldest commit known to have had the value, and 'or before' after it. Without options that "
        + "name the zone it searches all zones. Only commits that touched the record are read. Exits with 1 if the "
        + "record does not exist, or did not exist at that time."

    static let operands = [Operand.store, RecordTimelineTarget.operand]
    static let options: [any OptionDescription] =
        RecordTimelineTarget.options + [
            Option.at, QueryCommand.reveal, Option.json,
        ]
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
            return Diagnostics.refuse("\(error)", code: error.code, by: name)
        }
        var blame = RecordTimelineBlame(target.names)
        var damage = target.damage
        if let record = target.record {
            let told = try RecordTimelineBlame.of(record, in: target.store, through: end, target.names)
            blame = told.blame
            damage = damage ?? told.damage
        }
        var lines = blame.lines
        let secrets = try arguments[QueryCommand.reveal] ? HistorySecrets(arguments.store, target.names) : nil
        if let secrets, let record = target.record {
            for index in lines.indices {
                lines[index].value = try secrets.revealed(lines[index].value, lines[index].key, of: record)
            }
        }
        if arguments[Option.json] {
            for line in lines { try output.writeJSON((line, target.names), as: shape) }
        } else {
            try write(lines, target.names, to: output)
        }
        try output.flush()
        if let damage { throw damage }
        if let problem = blame.problem(target) {
            return Diagnostics.refuse(problem, by: name)
        }
        return try secrets?.secrets.reportClosed(by: name, output) ?? .success
    }

    private static func write(
        _ lines: [RecordTimelineBlame.Line], _ names: KnownNames, to output: Output
    ) throws {
        let rows = lines.map { line in
            [
                line.part?.text ?? CommitPatchText.name(of: line.key, names),
                "\(line.offset)" + (line.isExact ? "" : " or before"),
                "\(Timestamp(microseconds: line.time))", names.actorText(line.user, line.device),
                line.part?.valueText ?? ValueText.text(of: line.value),
            ]
        }
        try Columns.write(rows, to: output)
    }

    static let shape = Shape<(line: RecordTimelineBlame.Line, names: KnownNames)>("Who set a field") {
        Key(of: CommitPatchText.key) { ($0.line.key, $0.names) }
        Key(
            "part",
            "the part of a share's state: `token`, `publicPermission`, `accessRequests`, or `role`, `permission` or "
                + "`acceptance` of a participant, or `requester` or `blocked` for a user who asks for access, or may "
                + "not",
            if: "the state of a share"
        ) { $0.line.part?.id.kind.rawValue }
        Key("participant", "the user, or the address of the invitation", if: "a part of a participant or user") {
            $0.line.part?.subject
        }
        Key("value", "the value. Links are references, and parts of a share are texts") { $0.line.value }
        Key("offset", "of the commit that set it") { $0.line.offset }
        Key("exact", "true if it certainly did. If false, the field may have had the value earlier") { $0.line.isExact }
        Key("changeTag", "of the version that the commit made") { $0.line.version }
        Key("time", "of the commit, or if that was compacted, when the record was last changed") { $0.line.time }
        Key("user", name: "userName", "ordinal, 0 for the system") { ($0.line.user, $0.names.user($0.line.user)) }
        Key("device", name: "deviceName", "ordinal, 0 for none") { ($0.line.device, $0.names.device($0.line.device)) }
    }
}
