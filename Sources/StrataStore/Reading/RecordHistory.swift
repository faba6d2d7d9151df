import StrataLog
import StrataModel
import StrataTree
import StrataViews

/// Rebuilds past states of records from the log: back along the previous versions to a full event, then forward. If
/// history was compacted, the base has the state that the first event after it changes.
final class RecordHistory: Sendable {
    private let log: any EventLog
    private let base: BaseRecords

    var floor: UInt64 { log.floor.offset }

    init(_ log: any EventLog) {
        self.log = log
        base = BaseRecords(log)
    }

    private struct Step {
        var payload: ArraySlice<UInt8>
        var body: Range<Int>
        var place: EventPlace
    }

    /// The state with which a rebuild begins.
    private enum Beginning {
        case fullEvent
        case base([UInt8])
    }

    /// Returns the encoded state that a version made; nil if the log has no such version of the record, or it was
    /// erased.
    ///
    /// A change tag may come from anywhere, so an unknown one is not an error.
    ///
    /// - Throws: ``StrataError`` `outOfRange` if the state was removed with the log's beginning.
    func state(of record: RecordKey, at version: Version, _ trees: Snapshot) throws -> [UInt8]? {
        let isCurrent = try trees.withRecord(record) { bytes in
            try RecordStateView(bytes, in: 0..<bytes.count).version == version ? [UInt8](bytes) : nil
        }
        if let current = isCurrent.flatMap({ $0 }) { return current }
        guard version.offset > 0, version.offset <= trees.foldedOffset(ViewTree.records) else { return nil }
        do { return try rebuilt(record, version) } catch let error as StrataError where error.code == .outOfRange {
            throw StrataError(
                .outOfRange, "The record's past was removed by compaction.",
                .init(offset: version.offset, expected: "a version after \(log.floor.offset)", found: version.tag),
                cause: error)
        }
    }

    /// Like ``state(of:at:_:)``, but returns nil for a state that was removed.
    func stateIfKept(of record: RecordKey, at version: Version, _ trees: Snapshot) throws -> [UInt8]? {
        do { return try state(of: record, at: version, trees) } catch let error as StrataError
            where error.code == .outOfRange
        { return nil }
    }

    private func rebuilt(_ record: RecordKey, _ version: Version) throws -> [UInt8]? {
        guard let (steps, beginning) = try steps(of: record, to: version) else { return nil }
        var merger = RecordMerger()
        var state: [UInt8]?
        if case .base(let bytes) = beginning { state = bytes }
        for step in steps.reversed() {
            var writer = ByteWriter(reserving: 512)
            try step.payload.withUnsafeBytes { payload in
                let event = try RecordSavedView(payload, in: step.body)
                if let state {
                    try state.withUnsafeBytes { try merger.apply(event, at: step.place, to: $0, into: &writer) }
                } else {
                    try merger.apply(event, at: step.place, to: nil, startsHere: true, into: &writer)
                }
            }
            state = writer.bytes
        }
        return state
    }

    /// Returns the events from a version back to the last full one, newest first.
    private func steps(of record: RecordKey, to version: Version) throws -> ([Step], Beginning)? {
        var steps: [Step] = []
        var next = version
        while steps.count <= RecordHeader.maximumEventsSinceFull {
            if next.offset <= log.floor.offset {
                return try stateOfBase(record, at: next).map { (steps, .base($0)) }
            }
            guard let step = try step(of: record, at: next) else { return nil }
            steps.append(step)
            let (isFull, previous) = try step.payload.withUnsafeBytes { payload in
                let event = try RecordSavedView(payload, in: step.body)
                return (event.isFull, event.previous)
            }
            if isFull { return (steps, .fullEvent) }
            guard let previous, previous < next else { return nil }
            next = previous
        }
        return nil
    }

    /// Returns nil for a record that was erased since, of which a base has only an empty remainder.
    private func stateOfBase(_ record: RecordKey, at version: Version) throws -> [UInt8]? {
        let state = try base.state(of: record)
        let found = try state?.withUnsafeBytes { try RecordStateView($0, in: 0..<$0.count).version }
        guard let state, found == version else {
            throw StrataError(
                .outOfRange, "The base has another version of the record or none.",
                .init(expected: version.tag, found: found?.tag ?? "none"))
        }
        if try isErased(record, after: log.floor.offset) { return nil }
        return state
    }

    /// Returns the encoded state of a record as of a commit, provided that its zone existed; nil if the record did not
    /// exist.
    ///
    /// - Parameter trees: a state at that offset or a later one.
    func state(of record: RecordKey, asOf offset: UInt64, _ trees: Snapshot) throws -> PastState? {
        let current = try trees.withRecord(record) { bytes in
            let version = try RecordStateView(bytes, in: 0..<bytes.count).version
            return version.offset <= offset ? PastState(bytes: [UInt8](bytes), version: version) : nil
        }
        // A record that has not changed since has no later version.
        if let state = current.flatMap({ $0 }) { return state }
        let name = Array(record.name.utf8)
        let last = try log.lastTouches(record: name, in: record.zone, through: offset, limit: 1)
        guard last.count > 0 else {
            guard let state = try base.state(of: record), try !isErased(record, after: floor) else { return nil }
            return PastState(
                bytes: state, version: try state.withUnsafeBytes { try RecordStateView($0, in: 0..<$0.count).version })
        }
        let touches = try log.touches(record: name, in: record.zone, after: last.first - 1, limit: 1).touches
        guard let touch = touches.last(where: { $0.offset == last.first }), touch.kind == .recordSaved else {
            return nil
        }
        let version = Version(offset: touch.offset, eventIndex: touch.eventIndex)
        return try rebuilt(record, version).map { PastState(bytes: $0, version: version) }
    }

    struct PastState {
        var bytes: [UInt8]
        var version: Version
    }

    /// Returns nil if the commits alone are not enough.
    func changes(after first: UInt64, through last: UInt64, atMost limit: Int) throws -> ChangedRecords? {
        try ChangedRecords(log, after: first, through: last, atMost: limit)
    }

    /// Returns the states of changed records before and after the commits; nil if that takes too much memory.
    ///
    /// - Parameter checkpoint: a checkpoint at the first offset or an earlier one.
    func states(
        of changes: ChangedRecords, after first: UInt64, through last: UInt64, from checkpoint: CheckpointState?,
        atMost maximumBytes: Int
    ) throws -> ChangedStates? {
        let range = first...last
        if let checkpoint, checkpoint.offset >= floor {
            return try ChangedStates.read(changes, in: range, of: log, from: checkpoint.offset, atMost: maximumBytes) {
                try checkpoint.trees.withRecord($0) { [UInt8]($0) }
            }
        }
        return try ChangedStates.read(changes, in: range, of: log, from: floor, atMost: maximumBytes) {
            try base.state(of: $0)
        }
    }

    /// Returns true if a zone was deleted after an offset and up to another one.
    func isZoneDeleted(_ zone: UInt64, after offset: UInt64, through last: UInt64) throws -> Bool {
        var offset = offset
        while offset < last {
            let page = try log.touches(zone: zone, after: offset, limit: 1_000)
            if page.touches.contains(where: { $0.kind == .zoneDeleted && $0.offset <= last }) { return true }
            guard page.moreComing else { return false }
            offset = page.readThrough
        }
        return false
    }

    func isErased(_ record: RecordKey, after offset: UInt64) throws -> Bool {
        var offset = offset
        while true {
            let page = try log.touches(
                record: Array(record.name.utf8), in: record.zone, after: offset, limit: 1_000)
            for touch in page.touches where touch.kind == .recordDeleted {
                let commit = try log.commit(at: touch.offset)
                let events = try commit.map { try Envelope(decoding: $0.payload).events } ?? []
                let index = Int(touch.eventIndex)
                if index < events.count, events[index].kind == .recordErased { return true }
            }
            guard page.moreComing else { return false }
            offset = page.readThrough
        }
    }

    /// Releases a base that may no longer be the log's.
    func forgetBase() { base.forget() }

    private func step(of record: RecordKey, at version: Version) throws -> Step? {
        guard let commit = try log.commit(at: version.offset) else { return nil }
        return try commit.payload.withUnsafeBytes { payload in
            var walker = try EventWalker(payload)
            let header = try walker.header()
            guard version.eventIndex < walker.eventCount else { return nil }
            while walker.eventIndex < version.eventIndex { _ = try walker.next() }
            guard let event = try walker.next(), event.kind == .recordSaved else { return nil }
            let view = try RecordSavedView(payload, in: event.body)
            // The rest of the event would look like a record without values.
            if view.isErased { return nil }
            guard view.zone == record.zone, payload[view.name].elementsEqual(record.name.utf8) else { return nil }
            let place = EventPlace(version: version, time: commit.time, user: header.user, device: header.device)
            return Step(payload: commit.payload, body: event.body, place: place)
        }
    }
}
