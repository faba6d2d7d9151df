import StrataLog
import StrataModel

/// The changes that the events of a log made to records: each record's state before an event and after it.
///
/// ```swift
/// let timeline = ChangeTimeline(of: log)
/// let event = try TimelineEvent(event, at: index, in: (commit.offset, commit.time), by: header)
/// for change in timeline.step(of: event).changes { print(change.key, change.before, change.after) }
/// ```
/// It keeps the last states and commits, so that the steps of one record are cheap in ascending order.
package final class ChangeTimeline {
    /// The maximum bytes of states kept as starting points for later events.
    private static let keptBytes = 16 << 20
    /// The number of small commits kept: records saved together were often saved together before.
    private static let keptCommits = 4
    private static let largeCommitBytes = 1 << 20

    private let log: any HistoryLog
    private let history: RecordHistory
    private var states: [RecordKey: (version: Version, state: TimelineState)] = [:]
    private var stateBytes = 0
    private var commits: [Commit] = []

    package init(of log: any HistoryLog & Sendable) {
        self.log = log
        history = RecordHistory(log)
    }

    /// Returns the changes of an event. An error is reported in the step.
    package func step(of event: TimelineEvent) -> TimelineStep {
        var problem: StrataError?
        var before = TimelineState.unknown
        do { before = try state(before: event) } catch {
            problem = error as? StrataError ?? StrataError(.malformed, "A record cannot be rebuilt.", cause: error)
        }
        var step = TimelineStep(event, from: before)
        step.problem = step.problem ?? problem
        keep(step.after, of: event.record, at: event.version)
        return step
    }

    /// Returns the state of the record before an event.
    package func state(before event: TimelineEvent) throws -> TimelineState {
        switch (event.content, event.previous) {
        case (.saved(.create, _, _), _), (.deleted, nil), (.erased, nil): return .none
        case (.saved, nil): return .unknown
        case (_, let previous?): return try state(of: event.record, at: previous)
        }
    }

    /// Returns the record as it was at the horizon, before its first event; nil if it did not exist then, or if the
    /// event itself shows it.
    package func base(
        of record: RecordKey, before first: TimelineEvent?
    ) throws -> (step: TimelineStep, header: RecordHeader)? {
        if let first {
            guard let previous = first.previous, previous.offset <= history.floor else { return nil }
            if first.isCreation { return nil }
        }
        guard let (bytes, isErased) = try history.stateOfBase(record) else { return nil }
        let state = try RecordState(decoding: bytes[...])
        var step = TimelineStep(.base, state.header.version, type: state.header.type)
        step.isErased = isErased
        if !isErased { step.changes = TimelineChange.differences(from: nil, to: state) }
        return (step, state.header)
    }

    /// Returns the events that led to a version, in order, each with its changes: from the record's creation, or from
    /// the first one after `base` or in the log, but at most the last `limit`.
    package func steps(
        of record: RecordKey, through version: Version?, after base: Version?, atMost limit: Int
    ) throws -> [(event: TimelineEvent, step: TimelineStep)] {
        var events: [TimelineEvent] = []
        var next = version
        while let version = next, base.map({ $0 < version }) ?? true, version.offset > history.floor,
            events.count < limit, let event = try event(of: record, at: version)
        {
            events.append(event)
            next = event.previous
        }
        return events.reversed().map { ($0, step(of: $0)) }
    }

    // MARK: Versions

    /// Returns the state that a version of a record made.
    package func state(of record: RecordKey, at version: Version) throws -> TimelineState {
        let kept = states[record]
        let state = try history.state(of: record, at: version) {
            kept?.version == $0 ? kept?.state : nil
        } _: {
            try event(of: record, at: $0)
        }
        if case .removed = state { return .unknown }
        return state
    }

    /// Returns nil if the log has no such event of that record.
    package func event(of record: RecordKey, at version: Version) throws -> TimelineEvent? {
        try commit(at: version.offset).flatMap { try RecordHistory.event(of: record, at: version, in: $0) }
    }

    private func commit(at offset: UInt64) throws -> Commit? {
        if let known = commits.first(where: { $0.offset == offset }) { return known }
        guard let commit = try log.commit(at: offset) else { return nil }
        if commit.payload.count < Self.largeCommitBytes {
            if commits.count >= Self.keptCommits { commits.removeFirst() }
            commits.append(commit)
        }
        return commit
    }

    private func keep(_ state: TimelineState, of record: RecordKey, at version: Version) {
        let byteCount = if case .known(let bytes) = state { bytes.count } else { 0 }
        if stateBytes + byteCount > Self.keptBytes || states.count >= Self.keptBytes >> 8 {
            (states, stateBytes) = ([:], 0)
        }
        states[record] = (version, state)
        stateBytes += byteCount
    }
}
