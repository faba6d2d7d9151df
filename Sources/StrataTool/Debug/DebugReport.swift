import StrataLog
import StrataModel
import StrataReplay
import StrataStore

/// Prints the output of a debugger session, as text or JSON.
struct DebugReport {
    /// At a stop, a commit with more events is summarized in one line.
    private static let shownEvents = 13

    let state: ContainerState
    let names: KnownNames
    private let asJSON: Bool
    let output: Output

    init(_ state: ContainerState, _ names: KnownNames, asJSON: Bool, _ output: Output) {
        (self.state, self.names, self.asJSON, self.output) = (state, names, asJSON, output)
    }

    /// - Parameter text: text that is safe to print.
    func say(_ text: String) throws {
        if asJSON { try output.writeJSON(text, as: Self.note) } else { try output.writeLine(text) }
    }

    func sayAbsent(_ text: String, _ offset: UInt64) throws {
        try say(offset == 0 ? text : "\(text), after commit \(offset)")
    }

    // MARK: Stops

    func write(_ stop: Stepper.Stop, of stepper: Stepper, wanted: Breakpoint? = nil) throws {
        if asJSON { return try writeJSON(stop.reason, stop.changes, of: stepper) }
        try writeReason(stop, stepper, wanted)
        if let commit = try stepper.commit() { try writeShort(commit) }
        for change in stop.changes { try write(change) }
    }

    private func writeReason(_ stop: Stepper.Stop, _ stepper: Stepper, _ wanted: Breakpoint?) throws {
        switch stop.reason {
        case .arrived:
            if stop.offset == stepper.floor { try output.writeLine(startText(stepper), .place) }
        case .stopped(let numbers):
            for number in numbers {
                guard let mark = stepper.marks[number] else { continue }
                try output.writeLine(Self.text(of: mark, number), .place)
            }
        case .found:
            if let question = wanted?.question {
                try output.writeLine("it holds: \(DebugBreakpoint.text(of: question))", .place)
            }
        case .ended:
            try output.writeLine(
                stop.offset == stepper.floor ? startText(stepper) : "the end: there are no more commits", .place)
        case .interrupted: try output.writeLine("interrupted", .place)
        }
    }

    private func startText(_ stepper: Stepper) -> String {
        stepper.floor == 0
            ? "the beginning: there is no commit yet"
            : "the beginning: the history up to offset \(stepper.floor) was compacted"
    }

    private func writeShort(_ commit: Commit) throws {
        let envelope = commit.decoded
        if case .success(let envelope) = envelope, envelope.events.count > Self.shownEvents {
            try CommitLine().write(commit, .success(envelope), names, to: output)
        } else {
            try CommitText().write(commit, envelope, names, to: output)
        }
    }

    private func write(_ change: WatchChange) throws {
        try output.writeLine(Self.text(of: .watch(change.watch), change.number), .place)
        if change.watch.field != nil {
            try output.writeLine("    old  \(text(of: try change.before, change.difference.before))", .removed)
            return try output.writeLine("    new  \(text(of: try change.after, change.difference.after))", .added)
        }
        for (title, record, ink) in [
            ("old", change.difference.before, TextStyle.removed), ("new", change.difference.after, .added),
        ] {
            let text = try record.map { try RecordDetail($0, in: state).tagAndValues() } ?? "no record"
            try output.writeLine("    \(title)  \(text)", ink)
        }
    }

    private func text(of value: FieldValue?, _ record: Record?) -> String {
        value.map { ValueText.text(of: $0) } ?? (record == nil ? "no record" : "nothing")
    }

    // MARK: Breakpoints and watches

    private static func text(of mark: Stepper.Mark, _ number: Int) -> String {
        switch mark {
        case .breakpoint(let breakpoint): "breakpoint \(number): \(DebugBreakpoint.text(of: breakpoint))"
        case .watch(let watch): "watch \(number): \(DebugBreakpoint.text(of: watch))"
        }
    }

    func write(_ mark: Stepper.Mark, _ number: Int) throws {
        if asJSON {
            try output.writeJSON((number, mark), as: Self.mark)
        } else {
            try output.writeLine(Self.text(of: mark, number))
        }
    }

    // MARK: Places

    func writePlace(of stepper: Stepper) throws {
        if asJSON { return try writeJSON(.arrived, [], of: stepper) }
        if stepper.offset == stepper.floor {
            try output.writeLine(startText(stepper), .place)
        } else {
            try output.writeLine("after commit \(stepper.offset); the last one is \(stepper.end)", .place)
        }
        if let commit = try stepper.commit() { try writeShort(commit) }
    }

    func writeCommit(of stepper: Stepper) throws {
        guard let commit = try stepper.commit() else { return try say(startText(stepper)) }
        let format: any CommitFormat = asJSON ? CommitJSON() : CommitText()
        try format.write(commit, commit.decoded, names, to: output)
    }

    func writeLine(_ commit: Commit, isHere: Bool) throws {
        if asJSON { return try CommitJSON().write(commit, commit.decoded, names, to: output) }
        output.write(isHere ? "> " : "  ")
        try CommitLine().write(commit, commit.decoded, names, to: output)
    }

    // MARK: Records

    func write(_ record: Record, _ secrets: Secrets?) throws {
        try RecordDetail(record, in: state, secrets).write(asJSON: asJSON, to: output)
    }

    func write(_ record: Record, field: String, _ secrets: Secrets?) throws {
        var fields = try record.fields
        try secrets?.reveal(&fields, of: record)
        guard let value = fields[field] else {
            return try say("\(Printable.escaped(record.id.name)) has no field \(Printable.escaped(field)) here")
        }
        if asJSON { return try output.writeJSON((record.id.name, field, value), as: Self.field) }
        let text = try ValueDetail(state: state, zone: record.id.zone.name).text(of: value)
        try output.writeLine("\(Printable.escaped(field)) = \(text)")
    }

    // MARK: Help

    func writeHelp() {
        let names = DebugVerb.all.map { $0.name + ($0.shortcuts.first.map { ", \($0)" } ?? "") }
        let width = (names.map(\.count).max() ?? 0) + 2
        for (name, verb) in zip(names, DebugVerb.all) {
            output.write("  \(name.padded(to: width))\(verb.summary)\n")
        }
        output.write("  An unambiguous prefix of a name is enough. An empty line repeats the last move.\n")
        output.write("  'help COMMAND' describes a command.\n")
    }

    func writeHelp(of verb: DebugVerb) {
        let shortcuts = verb.shortcuts.isEmpty ? "" : " (\(verb.shortcuts.joined(separator: ", ")))"
        output.write("\(verb.name)\(shortcuts): \(verb.summary)\nusage: \(verb.usage)\n")
        if !verb.details.isEmpty {
            for line in HelpText.wrapped(verb.details, indentation: 0) { output.write(line + "\n") }
        }
        let rows =
            verb.operands.map { ($0.name, $0.help) } + verb.options.map { ($0.usage, $0.help) }
        for (name, help) in rows { output.write("  \(name): \(help)\n") }
    }
}
