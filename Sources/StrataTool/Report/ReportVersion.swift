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
        let texts = [
            "\(Timestamp(microseconds: entry.time))", names.actorText(entry.user, entry.device),
            step.kind == .zoneDeleted ? "zone deleted" : step.kind.rawValue, operation, step.version.tag,
        ]
        let changes = changes
        let notes = notes(besides: changes.count - Self.mostChanges)
        return .array(
            [.number(step.version.offset)] + texts.map(ReportJSON.text)
                + [.array(notes.map(ReportJSON.text)), .array(Array(changes.prefix(Self.mostChanges)))])
    }

    private var operation: String {
        guard let header = entry.header else { return "" }
        var parts = [header.operationKind == .none ? "no operation" : header.operationKind.description]
        if !header.operationID.isEmpty { parts.append("operation " + Printable.escaped(header.operationID)) }
        let group = [header.groupID, header.groupName].filter { !$0.isEmpty }.map { Printable.escaped($0) }
        if !group.isEmpty { parts.append("group " + group.joined(separator: " ")) }
        return parts.joined(separator: ", ")
    }

    /// - Parameter rest: the number of changes that are left out, if it is not negative.
    private func notes(besides rest: Int) -> [String] {
        let step = entry.step
        var notes: [String] = []
        if step.kind == .base { notes.append("as it was when the history before it was compacted") }
        if step.kind == .zoneDeleted { notes.append("deleted with its zone") }
        if step.isCascade { notes.append("deleted with another record") }
        if !step.reason.isEmpty { notes.append("reason: " + Printable.escaped(step.reason)) }
        if step.isErased { notes.append("its content was erased later") }
        if let problem = step.problem { notes.append("incomplete: " + Printable.escaped(problem.description)) }
        if rest > 0 { notes.append("\(rest) more fields changed") }
        return notes
    }

    /// The changes, of which each participant of a share is one.
    private var changes: [ReportJSON] {
        entry.step.changes.flatMap { change -> [ReportJSON] in
            var old: FieldValue?
            if case .value(let value) = change.before { old = value }
            if CommitPatchText.isShareState(change.key, names),
                let parts = ShareStateText.changes(from: old, to: change.after)
            {
                // With a token, every reader of the page could join.
                return parts.filter { $0.name != ShareStateText.tokenName }.map { json(of: $0.name, $0.old, $0.new) }
            }
            let texts = ValueText.change(from: old, to: change.after)
            let isUnknown = if case .unknown = change.before { true } else { false }
            return [
                json(of: CommitPatchText.name(of: change.key, names), texts.before, texts.after, isUnknown: isUnknown)
            ]
        }
    }

    /// - Parameter isUnknown: true if the log does not have the value before.
    private func json(of key: String, _ before: String?, _ after: String?, isUnknown: Bool = false) -> ReportJSON {
        var (left, right) = (before.map { ReportExcerpt.text($0) }, after.map { ReportExcerpt.text($0) })
        if let before, let after { (left, right) = ReportExcerpt.pair(before, after) }
        let old: ReportJSON = isUnknown ? .number(0) : left.map(ReportJSON.text) ?? .null
        return .array([.text(key), old, right.map(ReportJSON.text) ?? .null])
    }
}
