import StrataModel
import StrataStore

/// A version of a record in the page's data.
///
/// An array: offset, time, actor, action, operation, change tag, notes, and the changes, each with the key and the
/// values before (null: none, 0: unknown) and after.
struct ReportVersion {
    private static let mostChanges = 64

    private let entry: RecordTimeline.Entry
    private let names: KnownNames

    init(_ entry: RecordTimeline.Entry, _ names: KnownNames) { (self.entry, self.names) = (entry, names) }

    var json: ReportJSON {
        let step = entry.step
        var json = ReportJSON()
        json.append(raw: "[")
        json.append(step.version.offset)
        for text in [
            "\(Timestamp(microseconds: entry.time))", names.actorText(entry.user, entry.device),
            step.kind == .zoneDeleted ? "zone deleted" : step.kind.rawValue,
            operation, step.version.tag,
        ] {
            json.append(raw: ",")
            json.append(text)
        }
        json.append(raw: ",")
        json.append(array: notes) { $1.append($0) }
        json.append(raw: ",")
        json.append(array: changes.prefix(Self.mostChanges)) { append($0, to: &$1) }
        json.append(raw: "]")
        return json
    }

    private var operation: String {
        guard let header = entry.header else { return "" }
        var parts = [header.operationKind == .none ? "no operation" : header.operationKind.description]
        if !header.operationID.isEmpty { parts.append("operation " + Printable.escaped(header.operationID)) }
        let group = [header.groupID, header.groupName].filter { !$0.isEmpty }.map { Printable.escaped($0) }
        if !group.isEmpty { parts.append("group " + group.joined(separator: " ")) }
        return parts.joined(separator: ", ")
    }

    private var notes: [String] {
        let step = entry.step
        var notes: [String] = []
        if step.kind == .base { notes.append("as it was when the history before it was compacted") }
        if step.kind == .zoneDeleted { notes.append("deleted with its zone") }
        if step.isCascade { notes.append("deleted with another record") }
        if !step.reason.isEmpty { notes.append("reason: " + Printable.escaped(step.reason)) }
        if step.isErased { notes.append("its content was erased later") }
        if let problem = step.problem { notes.append("incomplete: " + Printable.escaped(problem.description)) }
        let rest = changes.count - Self.mostChanges
        if rest > 0 { notes.append("\(rest) more fields changed") }
        return notes
    }

    /// A change in words.
    private struct Change {
        enum Before {
            case unknown, none
            case text(String)
        }

        let key: String
        let before: Before
        let after: String?
    }

    /// The changes, of which each participant of a share is one.
    private var changes: [Change] {
        entry.step.changes.flatMap { change -> [Change] in
            var old: FieldValue?
            if case .value(let value) = change.before { old = value }
            if CommitPatchText.isShareState(change.key, names),
                let parts = ShareStateText.changes(from: old, to: change.after)
            {
                // With a token, every reader of the page could join.
                return parts.filter { $0.name != ShareStateText.tokenName }
                    .map { Change(key: $0.name, before: $0.old.map { .text($0) } ?? .none, after: $0.new) }
            }
            var earlier: FieldValue?
            if case .value(let value) = change.before { earlier = value }
            let texts = ValueText.change(from: earlier, to: change.after)
            let before: Change.Before =
                switch change.before {
                case .unknown: .unknown
                case .none: .none
                case .value: texts.before.map { .text($0) } ?? .none
                }
            return [Change(key: CommitPatchText.name(of: change.key, names), before: before, after: texts.after)]
        }
    }

    private func append(_ change: Change, to json: inout ReportJSON) {
        json.append(raw: "[")
        json.append(change.key)
        json.append(raw: ",")
        var shown = change.after.map { ReportExcerpt.text($0) }
        switch change.before {
        case .unknown: json.append(raw: "0")
        case .none: json.append(raw: "null")
        case .text(let before):
            let pair = change.after.map { ReportExcerpt.pair(before, $0) }
            shown = pair?.1
            json.append(pair?.0 ?? ReportExcerpt.text(before))
        }
        json.append(raw: ",")
        if let shown { json.append(shown) } else { json.append(raw: "null") }
        json.append(raw: "]")
    }
}
