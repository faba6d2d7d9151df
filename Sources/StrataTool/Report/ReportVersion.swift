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
            "\(Timestamp(microseconds: entry.time))", names.actorText(entry.user, entry.device), step.kind.rawValue,
            operation, step.version.tag,
        ] {
            json.append(raw: ",")
            json.append(text)
        }
        json.append(raw: ",")
        json.append(array: notes) { $1.append($0) }
        json.append(raw: ",")
        json.append(array: step.changes.prefix(Self.mostChanges)) { append($0, to: &$1) }
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
        if step.isCascade { notes.append("deleted with another record") }
        if !step.reason.isEmpty { notes.append("reason: " + Printable.escaped(step.reason)) }
        if step.isErased { notes.append("its content was erased later") }
        if let problem = step.problem { notes.append("incomplete: " + Printable.escaped(problem.description)) }
        let rest = step.changes.count - Self.mostChanges
        if rest > 0 { notes.append("\(rest) more fields changed") }
        return notes
    }

    private func append(_ change: TimelineChange, to json: inout ReportJSON) {
        json.append(raw: "[")
        json.append(CommitPatchText.name(of: change.key, names))
        json.append(raw: ",")
        let after = change.after.map { ValueText.text(of: $0) }
        var shown = after.map { ReportExcerpt.text($0) }
        switch change.before {
        case .unknown: json.append(raw: "0")
        case .none: json.append(raw: "null")
        case .value(let value):
            let before = ValueText.text(of: value)
            let pair = after.map { ReportExcerpt.pair(before, $0) }
            shown = pair?.1
            json.append(pair?.0 ?? ReportExcerpt.text(before))
        }
        json.append(raw: ",")
        if let shown { json.append(shown) } else { json.append(raw: "null") }
        json.append(raw: "]")
    }
}
