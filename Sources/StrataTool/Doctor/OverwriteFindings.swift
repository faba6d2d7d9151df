import StrataLog
import StrataModel
import StrataStore

/// Judges saves that were based on another version than the stored one: finds the values that they overwrote although
/// another author had changed them since that version.
struct OverwriteFindings {
    /// The number of versions between a base and a save that are examined.
    private static let mostVersions = 200

    private let timeline: ChangeTimeline
    private let names: KnownNames

    init(_ log: LogReader, _ names: KnownNames) {
        self.names = names
        timeline = ChangeTimeline(of: log)
    }

    /// Returns nil if the save overwrote nothing unseen.
    func finding(_ save: FieldChanges.StaleSave) throws -> Finding? {
        guard let event = try timeline.event(of: save.record, at: save.version) else { return nil }
        let between = try timeline.steps(
            of: save.record, through: event.previous, after: save.base, atMost: Self.mostVersions)
        let step = timeline.step(of: event)
        let ancestor = try save.base.flatMap { try timeline.state(of: save.record, at: $0).decoded() }
        let lost = step.changes.compactMap { lostValue($0, by: save, ancestor, between) }
        if lost.isEmpty { return nil }
        let others = Set(lost.map(\.author)).sorted().joined(separator: ", ")
        let base = save.base.map { "based on \($0.tag)" } ?? "without a version"
        var finding = Finding(
            .overwrite, save.commit, zone: save.record.zone, record: save.record.name,
            people: between.flatMap { names.people($0.event.place.user) },
            "\(names.text(of: save.commit.author)) overwrote \(lost.count.counted("value")) of \(others) unseen in "
                + "\(names.shownPlace(ofZone: save.record.zone)) / \(Printable.escaped(save.record.name)): "
                + "\(save.policy.name), \(base)",
            count: UInt64(lost.count), next: [save.base == nil ? "show" : "explain", "\(save.commit.offset)"], names)
        finding.lost = lost.sorted { ($0.field, $0.offset) < ($1.field, $1.offset) }
        return finding
    }

    /// Returns nil if the value was not changed since the base, or by the author of the save.
    ///
    /// - Parameter ancestor: the state that the client began with; nil if it is not known.
    private func lostValue(
        _ change: TimelineChange, by save: FieldChanges.StaleSave, _ ancestor: RecordState?,
        _ between: [(event: TimelineEvent, step: TimelineStep)]
    ) -> Finding.LostValue? {
        guard case .field(let field) = change.key,
            let last = between.last(where: { $0.step.changes.contains { $0.key == change.key } })?.event.place
        else { return nil }
        let author = ScannedCommit.Author(user: last.user, device: last.device)
        if author == save.commit.author { return nil }
        var overwritten: FieldValue?
        if case .value(let value) = change.before { overwritten = value }
        var known = Finding.TimelineValue.unknown
        if let ancestor {
            let value = ancestor.fields.first { $0.field == field }?.value
            // Changed, and changed back.
            if FieldValue.isSame(value, overwritten) { return nil }
            known = .known(value)
        }
        return Finding.LostValue(
            field: names.field(UInt64(field)) ?? "field \(field)", ancestor: known, overwritten: overwritten,
            written: change.after, offset: last.version.offset, author: names.text(of: author))
    }
}
