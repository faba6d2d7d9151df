import StrataLog
import StrataModel

/// Rebuilds earlier states of records from a log: back along the previous versions to a full event, then forward. For
/// compacted history it starts from the state in the base.
final class RecordTimelinePast {
    /// The maximum bytes of states kept as starting points for later events.
    private static let keptBytes = 16 << 20
    /// The number of small commits kept: records saved together were often saved together before.
    private static let keptCommits = 4
    private static let largeCommitBytes = 1 << 20

    private let reader: LogReader
    private let base: RecordTimelineBase
    private var states: [RecordKey: (version: Version, state: RecordTimelineState)] = [:]
    private var stateBytes = 0
    private var commits: [(commit: Commit, envelope: Envelope)] = []

    init(_ reader: LogReader) {
        self.reader = reader
        base = RecordTimelineBase(reader)
    }

    /// The horizon: the offset of the last compacted commit.
    var floor: UInt64 { reader.floor.offset }

    /// Returns the changes of an event. An error is reported in the step.
    func step(of event: RecordTimelineEvent) -> RecordTimelineStep {
        var problem: StrataError?
        var before = RecordTimelineState.unknown
        do { before = try state(before: event) } catch {
            problem = error as? StrataError ?? StrataError(.malformed, "A record cannot be rebuilt.", cause: error)
        }
        var step = RecordTimelineStep(event, from: before)
        step.problem = step.problem ?? problem
        keep(step.after, of: event.record, at: event.version)
        return step
    }

    /// Returns the state of the record before an event.
    func state(before event: RecordTimelineEvent) throws -> RecordTimelineState {
        switch (event.content, event.previous) {
        case (.saved(.create, _, _), _), (.deleted, nil), (.erased, nil): return .none
        case (.saved, nil): return .unknown
        case (_, let previous?): return try state(of: event.record, at: previous)
        }
    }

    /// Returns the state of the record at the horizon, and true if its values were erased later; nil if it did not
    /// exist, or there is no base.
    func base(of record: RecordKey) throws -> (state: RecordState, isErased: Bool)? {
        guard let bytes = try base.state(of: record) else { return nil }
        let state = try RecordState(decoding: bytes[...])
        return (state, try isErased(state, record))
    }

    /// Returns the state before the record's first event; nil if it did not exist, or the event itself shows it.
    func entryOfBase(_ record: RecordKey, before first: RecordTimelineEvent?) throws -> RecordTimeline.Entry? {
        if let first {
            guard let previous = first.previous, previous.offset <= floor else { return nil }
            if case .saved(.create, _, _) = first.content { return nil }
        }
        guard let (state, isErased) = try base(of: record) else { return nil }
        let header = state.header
        var step = RecordTimelineStep(.base, header.version, type: header.type)
        step.isErased = isErased
        if !isErased { step.changes = RecordTimelineChange.differences(from: nil, to: state) }
        return RecordTimeline.Entry(
            step: step, time: header.modified, header: nil, user: header.modifiedBy, device: header.modifiedWith)
    }

    private func stateOfBase(_ record: RecordKey, at version: Version) throws -> RecordTimelineState {
        guard let bytes = try base.state(of: record) else { return .unknown }
        let state = try RecordState(decoding: bytes[...])
        if try isErased(state, record) { return .erased }
        return state.header.version == version ? .known(bytes) : .unknown
    }

    // MARK: Versions

    private func state(of record: RecordKey, at version: Version) throws -> RecordTimelineState {
        var events: [RecordTimelineEvent] = []
        var state = RecordTimelineState.none
        var next: Version? = version
        while let wanted = next {
            if let known = states[record], known.version == wanted {
                state = known.state
                break
            }
            if wanted.offset <= floor {
                state = try stateOfBase(record, at: wanted)
                break
            }
            guard events.count <= RecordHeader.maximumEventsSinceFull, let event = try event(of: record, at: wanted),
                case .saved(_, let isFull, let isErased) = event.content
            else { return .unknown }
            if isErased { return .erased }
            events.append(event)
            if isFull { break }
            guard let previous = event.previous, previous < wanted else { return .unknown }
            next = previous
        }
        for event in events.reversed() { state = try event.applied(to: state) }
        return state
    }

    /// Returns nil if the log has no such event of that record.
    private func event(of record: RecordKey, at version: Version) throws -> RecordTimelineEvent? {
        guard let (commit, envelope) = try commit(at: version.offset) else { return nil }
        let index = Int(version.eventIndex)
        guard index < envelope.events.count else { return nil }
        let event = try RecordTimelineEvent(
            envelope.events[index], at: index, in: (commit.offset, commit.time), by: envelope.header)
        return event?.record == record ? event : nil
    }

    private func commit(at offset: UInt64) throws -> (commit: Commit, envelope: Envelope)? {
        if let known = commits.first(where: { $0.commit.offset == offset }) { return known }
        guard let commit = try reader.commit(at: offset) else { return nil }
        let found = (commit, try Envelope(decoding: commit.payload))
        if commit.payload.count < Self.largeCommitBytes {
            if commits.count >= Self.keptCommits { commits.removeFirst() }
            commits.append(found)
        }
        return found
    }

    private func keep(_ state: RecordTimelineState, of record: RecordKey, at version: Version) {
        let byteCount = if case .known(let bytes) = state { bytes.count } else { 0 }
        if stateBytes + byteCount > Self.keptBytes || states.count >= Self.keptBytes >> 8 {
            (states, stateBytes) = ([:], 0)
        }
        states[record] = (version, state)
        stateBytes += byteCount
    }

    // MARK: Erasure

    /// Returns true if the record was erased later: the base then has only its header.
    private func isErased(_ state: RecordState, _ record: RecordKey) throws -> Bool {
        guard state.fields.isEmpty, state.parent == nil, state.share == nil else { return false }
        var offset = floor
        while true {
            let page = try reader.touches(
                record: Array(record.name.utf8), in: record.zone, after: offset, limit: 1_000)
            for touch in page.touches where touch.kind == .recordDeleted {
                let version = Version(offset: touch.offset, eventIndex: touch.eventIndex)
                if case .erased? = try event(of: record, at: version)?.content { return true }
            }
            guard page.moreComing else { return false }
            offset = page.readThrough
        }
    }
}
