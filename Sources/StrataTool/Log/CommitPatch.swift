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
    /// Returns the words for a step.
    static func title(of step: TimelineStep) -> String {
        switch step.kind {
        case .base: "as it was when the history before it was compacted"
        case .create, .update, .touch: step.kind.rawValue
        case .zoneDeleted: "zone deleted"
        case .delete: step.isCascade ? "delete, cascade" : "delete"
        case .erase: step.reason.isEmpty ? "erase" : "erase: \(Printable.escaped(step.reason))"
        }
    }

    /// Prints a line for each change, then the notes on the step.
    static func write(_ step: TimelineStep, indentation: Int, _ names: KnownNames, to output: Output) throws {
        let blanks = String(repeating: " ", count: indentation)
        for change in step.changes {
            for (line, ink) in lines(of: change, names) {
                output.write(blanks)
                try output.writeLine(line, ink)
            }
        }
        try write(notes(on: step), blanks, to: output)
    }

    private static func write(_ notes: [String], _ blanks: String, to output: Output) throws {
        for note in notes {
            output.write(blanks)
            try output.writeLine("(\(note))", .faint)
        }
    }

    /// Prints the changes of a save, and what it sent without a change, with `=`; each field with its kind and size.
    static func write(
        _ step: TimelineStep, sending fields: [SaveOutline.Field], indentation: Int, _ names: KnownNames,
        to output: Output
    ) throws {
        let blanks = String(repeating: " ", count: indentation)
        func put(_ text: String, _ ink: TextStyle?, _ field: SaveOutline.Field?) throws {
            output.write(blanks)
            if let ink { output.write(text, ink) } else { output.write(text) }
            if let field, let kind = field.kind { output.write("  (\(kind), \(field.bytes.counted("byte")))", .faint) }
            try output.endLine()
        }
        var rest = fields
        for change in step.changes {
            let place = rest.firstIndex { change.key == .field(UInt32(clamping: $0.ordinal)) }
            let field = place.map { rest.remove(at: $0) }
            for (line, ink) in lines(of: change, names) { try put(line, ink, field?.share == nil ? field : nil) }
            guard let share = field?.share else { continue }
            let known: ShareState? = if case .value(let value) = change.before { ShareState(value) } else { nil }
            let changed = ShareStateText.changes(from: known, to: share).map(\.name)
            for part in ShareStateText.changes(from: nil, to: share) where !changed.contains(part.name) {
                try put("= \(part.name): \(part.new ?? "")", nil, nil)
            }
        }
        let after = try step.after.decoded()?.fields ?? []
        for field in rest {
            let value = after.first { UInt64($0.field) == field.ordinal }?.value
            let text = field.share == nil ? value.map { ": \(ValueText.text(of: $0))" } ?? "" : ""
            try put("= \(names.shownField(field.ordinal))\(text)", nil, field)
            for part in field.share.map({ ShareStateText.changes(from: nil, to: $0) }) ?? [] {
                try put("= \(part.name): \(part.new ?? "")", nil, nil)
            }
        }
        try write(notes(on: step), blanks, to: output)
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
