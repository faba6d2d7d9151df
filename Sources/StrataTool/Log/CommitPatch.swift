import StrataLog
import StrataModel
import StrataStore

/// Finds the changes of each record event: its fields before and after.
struct CommitPatch {
    let timeline: ChangeTimeline
    /// Selects the events to report; all of them if it asks for no events.
    let filter: LogFilter
    /// Decrypts values; nil to leave them encrypted.
    var secrets: HistorySecrets?

    /// Returns nil for events that are not of a record, do not fit or cannot be decoded.
    func step(of event: Event, at index: Int, in commit: Commit, _ header: EnvelopeHeader, _ names: KnownNames)
        -> TimelineStep?
    {
        guard event.kind.isOfRecord else { return nil }
        if filter.asksEvents {
            guard case .fits = filter.judge(event, of: header, at: commit.time, names) else { return nil }
        }
        let found = try? TimelineEvent(event, at: index, in: (commit.offset, commit.time), by: header)
        guard let found else { return nil }
        let step = timeline.step(of: found)
        return (try? secrets?.revealed(step, of: found.record)) ?? step
    }
}

/// Prints the changes of a record's fields.
enum CommitPatchText {
    /// Prints a line for each change, then the notes on the step.
    static func write(_ step: TimelineStep, indentation: Int, _ names: KnownNames, to output: Output) throws {
        let blanks = String(repeating: " ", count: indentation)
        for change in step.changes {
            for (line, ink) in lines(of: change, names) {
                output.write(blanks)
                try output.writeLine(line, ink)
            }
        }
        for note in notes(on: step) {
            output.write(blanks)
            try output.writeLine("(\(note))", .faint)
        }
    }

    /// Returns one line, except for the participants of a share.
    private static func lines(of change: TimelineChange, _ names: KnownNames) -> [(String, TextStyle)] {
        if isShareState(change.key, names) {
            var before: FieldValue?
            if case .value(let value) = change.before { before = value }
            if let lines = ShareStateText.lines(from: before, to: change.after) { return lines }
        }
        return [line(of: change, names)]
    }

    private static func line(of change: TimelineChange, _ names: KnownNames) -> (String, TextStyle) {
        let after = change.after.map { ValueText.text(of: $0) }
        let (old, new): (String?, String?) =
            switch change.before {
            case .none: (nil, after ?? "nothing")
            case .unknown: ("?", after)
            case .value(let before): ValueText.change(from: before, to: change.after)
            }
        return ChangeText(name: name(of: change.key, names), old: old, new: new).line
    }

    static func name(of key: TimelineChange.Key, _ names: KnownNames) -> String {
        switch key {
        case .parent: "parent"
        case .share: "share"
        case .field(let ordinal): names.shownField(UInt64(ordinal))
        }
    }

    /// Returns true for the key under which a share's record keeps its participants.
    static func isShareState(_ key: TimelineChange.Key, _ names: KnownNames) -> Bool {
        guard case .field(let ordinal) = key else { return false }
        return names.field(UInt64(ordinal)) == ShareState.key
    }

    private static func notes(on step: TimelineStep) -> [String] {
        var notes: [String] = []
        if step.isErased { notes.append("its content was erased later") }
        if step.changes.contains(where: { if case .unknown = $0.before { true } else { false } }) {
            notes.append("?: the earlier value is not in the log")
        }
        if let problem = step.problem { notes.append("incomplete: \(Printable.escaped(problem.description))") }
        return notes
    }
}

extension CommitPatchText {
    static let shape = Shape<(change: TimelineChange, names: KnownNames)>("A change") {
        Key(of: key) { ($0.change.key, $0.names) }
        Key("old", "the value before, or null if there was none. Links are references", if: "if known") {
            value -> FieldValue?? in
            switch value.change.before {
            case .unknown: nil
            case .none: .some(nil)
            case .value(let value): value
            }
        }
        Key("new", "the value after the change, or null if there is none") { $0.change.after }
        Key("oldShare", "the state before, decoded", if: "the state of a share, if known") { value -> ShareState? in
            guard case .value(let before) = value.change.before, isShareState(value.change.key, value.names) else {
                return nil
            }
            return ShareState(before)
        }
        Key("newShare", "the state after, decoded", if: "the state of a share") {
            isShareState($0.change.key, $0.names) ? ShareState($0.change.after) : nil
        }
    }

    /// The link or field that changed.
    static let key = Shape<(key: TimelineChange.Key, names: KnownNames)>("A changed key") {
        Key("link", "`parent` or `share`", if: "links") {
            switch $0.key {
            case .parent: "parent"
            case .share: "share"
            case .field: nil
            }
        }
        Key("field", name: "fieldName", "ordinal", if: "fields") { value in
            guard case .field(let field) = value.key else { return nil }
            return (UInt64(field), value.names.field(UInt64(field)))
        }
    }
}
