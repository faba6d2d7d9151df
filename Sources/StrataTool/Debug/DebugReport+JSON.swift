import StrataModel
import StrataReplay
import StrataStore

extension DebugReport {
    func writeJSON(_ reason: Stepper.Reason, _ changes: [WatchChange], of stepper: Stepper) throws {
        let commit = try stepper.commit().map {
            CommitJSON.Line(commit: $0, envelope: $0.decoded, names: names)
        }
        try output.writeJSON(
            (stepper.offset, reason, changes.map { (change: $0, state: state) }, commit), as: Self.stop)
    }

    static let stop = Shape<
        (
            offset: UInt64, reason: Stepper.Reason, changes: [(change: WatchChange, state: ContainerState)],
            commit: CommitJSON.Line?
        )
    >("A stop of a debugger", "The output of `strata debug --json` for each move, and for `where`.") {
        Key("offset", "of the last commit up to this position") { $0.offset }
        Key(
            "reason",
            "`arrived`, `stopped` (by breakpoints or watches), `found` (what `until` waits for), `ended` (there are no "
                + "more commits), `interrupted`"
        ) { name(of: $0.reason) }
        Key("stoppedBy", "numbers of the breakpoints and watches that stopped it", if: "if they did") {
            if case .stopped(let numbers) = $0.reason { Array(numbers) } else { nil }
        }
        Key("watches", "each watch whose value changed", each: watch) { $0.changes }
        Key("commit", "the commit there, or null before the first one") { $0.commit }
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

    private static let watch = Shape<(change: WatchChange, state: ContainerState)>("A watch that changed") {
        Key("number", "of the watch") { $0.change.number }
        Key("record", "the record's name") { $0.change.watch.record.name }
        Key("zone", "its zone's name") { $0.change.watch.record.zone.name }
        Key(of: DatabaseID.shape) { $0.change.watch.database }
        Key("fieldName", "the field's name", if: "a watch on a field") { $0.change.watch.field }
        Key("old", "the value before, or null for none", if: "a watch on a field") { line in
            try line.change.watch.field.map { _ in try line.change.before }
        }
        Key("new", "the value after, or null for none", if: "a watch on a field") { line in
            try line.change.watch.field.map { _ in try line.change.after }
        }
        Key("before", "the record before, or null for none", if: "a watch on a record") { line in
            try detail(line.change.difference.before, line)
        }
        Key("after", "the record after, or null for none", if: "a watch on a record") { line in
            try detail(line.change.difference.after, line)
        }
    }

    private static func detail(
        _ record: Record?, _ line: (change: WatchChange, state: ContainerState)
    ) throws -> RecordDetail?? {
        if line.change.watch.field != nil { return nil }
        return .some(try record.map { try RecordDetail($0, in: line.state) })
    }

    static let mark = Shape<(number: Int, mark: Stepper.Mark)>("A mark of a debugger") {
        Key("number", "of the breakpoint or watch") { $0.number }
        Key("breakpoint", "as it was entered", if: "for a breakpoint") {
            if case .breakpoint(let breakpoint) = $0.mark { DebugBreakpoint.text(of: breakpoint) } else { nil }
        }
        Key("watch", "the record or field that is watched", if: "for a watch") {
            if case .watch(let watch) = $0.mark { DebugBreakpoint.text(of: watch) } else { nil }
        }
    }

    static let field = Shape<(record: String, field: String, value: FieldValue)>(
        "A field in a debugger", "The output of `print RECORD FIELD`."
    ) {
        Key("record", "the record's name") { $0.record }
        Key("fieldName", "the field's name") { $0.field }
        Key("fieldValue", "its value") { $0.value }
    }

    static let note = Shape<String>("A note of a debugger") {
        Key("note", "in words, for example that no such record exists here") { $0 }
    }
}
