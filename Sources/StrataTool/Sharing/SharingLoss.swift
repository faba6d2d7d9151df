import StrataLog
import StrataModel
import StrataStore
import StrataViews

/// Finds the acts that took a record out of its shares: the end of a share, or a change of a parent.
struct SharingLoss {
    /// The number of a record's last events that are searched for a change of its parent.
    private static let maximumEvents = 256

    let state: ContainerState
    /// The ordinal of the database.
    let database: UInt64

    /// Returns a sentence for each loss.
    ///
    /// - Parameter chain: the record and its ancestors.
    func notes(on chain: [RecordKey]) throws -> [String] {
        try chain.compactMap { try parentNote(on: $0) } + shareNotes(on: chain)
    }

    private func shareNotes(on chain: [RecordKey]) throws -> [String] {
        var notes: [String] = []
        for number in 1..<(try state.trees.shareCount()) + 1 {
            guard let share = try state.trees.share(number), share.isEnded, share.record.zone == chain.first?.zone,
                share.root.map({ root in chain.contains { LogFilter.isSame($0.name, root) } }) ?? true,
                let ending = try Ending.of(share.record, in: database, state)
            else { continue }
            let covered = share.root.map { "'\($0)'" } ?? "the whole zone"
            notes.append("share \(share.record.name) of \(covered) \(ending.predicate(ofZone: false))")
        }
        return notes
    }

    /// Returns a sentence for the last change by which a record lost a parent, or got another.
    private func parentNote(on record: RecordKey) throws -> String? {
        guard let (event, change) = try lastParentChange(of: record), case .value(.reference(let old)) = change.before
        else { return nil }
        let number = try state.trees.hierarchicalShare(of: old.target)
        let share = try number.flatMap { try state.trees.share($0) }
        let shared = share.map { ", which belongs to share \($0.record.name)," } ?? ""
        let verb: String
        if case .reference(let new)? = change.after {
            verb = "moved from '\(old.target.name)'\(shared) to '\(new.target.name)'"
        } else {
            verb = "lost its parent '\(old.target.name)'\(shared)"
        }
        let actor = try state.actorText(user: event.place.user, device: event.place.device)
        return "'\(record.name)' \(verb) with commit \(event.version.offset) (\(actor))"
    }

    private func lastParentChange(of record: RecordKey) throws -> (event: TimelineEvent, change: TimelineChange)? {
        let version = try state.trees.withRecord(record) { try RecordStateView($0, in: 0..<$0.count).version }
        let steps = try ChangeTimeline(of: state.log).steps(
            of: record, through: version, after: nil, atMost: Self.maximumEvents)
        return steps.reversed().lazy.compactMap { event, step in
            step.changes.first { $0.key == .parent }.map { (event, $0) }
        }.first
    }
}
