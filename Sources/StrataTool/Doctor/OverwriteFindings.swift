import StrataLog
import StrataModel
import StrataStore

/// Judges saves that were based on another version than the stored one: finds the values that they overwrote although
/// another author had changed them since that version.
struct OverwriteFindings {
    /// The number of versions between a base and a save that are examined.
    private static let mostVersions = 200

    private let log: LogReader
    private let history: RecordHistory
    private let timeline: ChangeTimeline
    private let names: KnownNames

    init(_ log: LogReader, _ names: KnownNames) {
        (self.log, self.names) = (log, names)
        history = RecordHistory(log)
        timeline = ChangeTimeline(of: log)
    }

    /// Returns nil if the save overwrote nothing unseen.
    func finding(_ save: FieldChanges.StaleSave) throws -> Finding? {
        guard let event = try history.event(of: save.record, at: save.version) else { return nil }
        let between = try versions(before: event, after: save.base)
        let step = timeline.step(of: event)
        let ancestor = try ancestor(of: save)
        let lost = step.changes.compactMap { lostValue($0, by: save, ancestor, between) }
        if lost.isEmpty { return nil }
        let others = Set(lost.map(\.author)).sorted().joined(separator: ", ")
        let base = save.base.map { "based on \($0.tag)" } ?? "without a version"
        var finding = Finding(
            .overwrite, save.commit, zone: save.record.zone, record: save.record.name,
            people: between.flatMap { names.people($0.author.user) },
            "\(names.text(of: save.commit.author)) overwrote \(lost.count.counted("value")) of \(others) unseen in "
                + "\(names.shownPlace(ofZone: save.record.zone)) / \(Printable.escaped(save.record.name)): "
                + "\(save.policy.name), \(base)",
            count: UInt64(lost.count), next: ["explain", "\(save.commit.offset)"], names)
        finding.lost = lost.sorted { ($0.field, $0.offset) < ($1.field, $1.offset) }
        return finding
    }

    /// A change of the record between the base and the save.
    private struct Between {
        let author: ScannedCommit.Author
        let offset: UInt64
        let keys: Set<TimelineChange.Key>
    }

    /// Returns the changes in order.
    private func versions(before event: TimelineEvent, after base: Version?) throws -> [Between] {
        var events: [TimelineEvent] = []
        var next = event.previous
        while let version = next, base.map({ $0 < version }) ?? true, version.offset > history.floor,
            events.count < Self.mostVersions, let earlier = try history.event(of: event.record, at: version)
        {
            events.append(earlier)
            next = earlier.previous
        }
        return events.reversed().map { earlier in
            Between(
                author: ScannedCommit.Author(user: earlier.place.user, device: earlier.place.device),
                offset: earlier.version.offset, keys: Set(timeline.step(of: earlier).changes.map(\.key)))
        }
    }

    private func ancestor(of save: FieldChanges.StaleSave) throws -> RecordState?? {
        guard let base = save.base else { return nil }
        let state = try history.state(of: save.record, at: base) { try history.event(of: save.record, at: $0) }
        return try state.decoded().map { .some($0) } ?? nil
    }

    /// Returns nil if the value was not changed since the base, or by the author of the save.
    private func lostValue(
        _ change: TimelineChange, by save: FieldChanges.StaleSave, _ ancestor: RecordState??, _ between: [Between]
    ) -> Finding.LostValue? {
        guard case .field(let field) = change.key,
            let last = between.last(where: { $0.keys.contains(change.key) }), last.author != save.commit.author
        else { return nil }
        var overwritten: FieldValue?
        if case .value(let value) = change.before { overwritten = value }
        var known = Finding.TimelineValue.unknown
        if let ancestor {
            let value = ancestor?.fields.first { $0.field == field }?.value
            // Changed, and changed back.
            if FieldValue.isSame(value, overwritten) { return nil }
            known = .known(value)
        }
        return Finding.LostValue(
            field: names.field(UInt64(field)) ?? "field \(field)", ancestor: known, overwritten: overwritten,
            written: change.after, offset: last.offset, author: names.text(of: last.author))
    }
}
