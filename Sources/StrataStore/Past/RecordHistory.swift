import StrataLog
import StrataModel
import StrataTree
import StrataViews

/// Rebuilds past states of records from a log: back along the previous versions to a full event, then forward. If
/// history was compacted, the base has the state that the first event after it changes.
package final class RecordHistory: Sendable {
    private let log: any HistoryLog & Sendable
    private let base: BaseRecords

    /// The horizon: the offset of the last compacted commit.
    package var floor: UInt64 { log.floor.offset }

    package init(_ log: any HistoryLog & Sendable) {
        self.log = log
        base = BaseRecords(log)
    }

    // MARK: Versions

    /// Returns the state that a version of a record made.
    ///
    /// - Parameters:
    ///   - known: returns a state that the caller has kept.
    ///   - event: reads the event of a version; nil if the log has no such event of the record.
    package func state(
        of record: RecordKey, at version: Version, knowing known: (Version) -> TimelineState? = { _ in nil },
        _ event: (Version) throws -> TimelineEvent?
    ) throws -> TimelineState {
        var events: [TimelineEvent] = []
        var state = TimelineState.none
        var next: Version? = version
        while let wanted = next {
            if let kept = known(wanted) {
                state = kept
                break
            }
            if wanted.offset <= floor {
                state = try stateOfBase(record, at: wanted)
                break
            }
            guard events.count <= RecordHeader.maximumEventsSinceFull, let event = try event(wanted),
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

    private func rebuilt(_ record: RecordKey, _ version: Version) throws -> [UInt8]? {
        let state = try state(of: record, at: version) { try event(of: record, at: $0) }
        if case .removed = state {
            throw StrataError(
                .outOfRange, "The record's past was removed by compaction.",
                .init(offset: version.offset, expected: "a version after \(floor)", found: version.tag))
        }
        guard case .known(let bytes) = state else { return nil }
        return bytes
    }

    /// Returns the event of a version of a record; nil if the log has no such event.
    package func event(of record: RecordKey, at version: Version) throws -> TimelineEvent? {
        try log.commit(at: version.offset).flatMap { try Self.event(of: record, at: version, in: $0) }
    }

    /// Returns the event of a version of a record; nil if the version's commit has no such event.
    static func event(of record: RecordKey, at version: Version, in commit: Commit) throws -> TimelineEvent? {
        try commit.payload.withUnsafeBytes { payload in
            var walker = try EventWalker(payload)
            let header = try walker.header()
            guard version.eventIndex < walker.eventCount else { return nil }
            while walker.eventIndex < version.eventIndex { _ = try walker.next() }
            guard let event = try walker.next() else { return nil }
            let start = commit.payload.startIndex
            let body = commit.payload[start + event.body.lowerBound..<start + event.body.upperBound]
            let found = try TimelineEvent(
                Event(event.kind, body: body), at: Int(version.eventIndex), in: (commit.offset, commit.time), by: header
            )
            return found?.record == record ? found : nil
        }
    }

    /// Returns the offset of the first commit after an offset that touched a record; nil if none did.
    func nextTouch(of record: RecordKey, after offset: UInt64) throws -> UInt64? {
        var readThrough = offset
        while true {
            let page = try log.touches(
                record: Array(record.name.utf8), in: record.zone, after: readThrough, limit: 1)
            if let touch = page.touches.first { return touch.offset }
            guard page.moreComing else { return nil }
            readThrough = page.readThrough
        }
    }

    // MARK: The base

    /// Returns the encoded state of a record at the horizon, and true if its values were erased later; nil if it did
    /// not exist, or there is no base.
    package func stateOfBase(_ record: RecordKey) throws -> (bytes: [UInt8], isErased: Bool)? {
        guard let bytes = try base.state(of: record) else { return nil }
        // Until an erasure has rewritten the base, the base still has the values.
        return (bytes, try isErased(record, after: floor))
    }

    /// Returns the encoded state of a record at the horizon, also if its values were erased later; nil if it did not
    /// exist, or there is no base.
    func stateAtFloor(_ record: RecordKey) throws -> [UInt8]? { try base.state(of: record) }

    private func stateOfBase(_ record: RecordKey, at version: Version) throws -> TimelineState {
        guard let (bytes, isErased) = try stateOfBase(record) else { return .removed }
        if isErased { return .erased }
        return try RecordStateView.version(of: bytes) == version ? .known(bytes) : .removed
    }

    // MARK: Past states

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
        return try rebuilt(record, version)
    }

    /// Like ``state(of:at:_:)``, but returns nil for a state that was removed.
    func stateIfKept(of record: RecordKey, at version: Version, _ trees: Snapshot) throws -> [UInt8]? {
        do { return try state(of: record, at: version, trees) } catch let error as StrataError
            where error.code == .outOfRange
        { return nil }
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
            guard let (state, isErased) = try stateOfBase(record), !isErased else { return nil }
            return PastState(bytes: state, version: try RecordStateView.version(of: state))
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

    // MARK: Ranges

    /// Returns true if a zone was deleted after an offset and up to another one.
    func isZoneDeleted(_ zone: UInt64, after offset: UInt64, through last: UInt64) throws -> Bool {
        try log.zoneDeletion(of: zone, after: offset, through: last) != nil
    }

    /// Returns true if a record was erased after an offset.
    func isErased(_ record: RecordKey, after offset: UInt64) throws -> Bool {
        var deletions = TouchedCommits(
            .record(record.name, zones: [record.zone]), kind: .recordDeleted, of: log, after: offset,
            through: log.end.offset)
        while let deletion = try deletions.next() {
            let events = try log.commit(at: deletion.offset).map { try Envelope(decoding: $0.payload).events } ?? []
            let erases = try events.contains { event in
                guard event.kind == .recordErased else { return false }
                return try RecordErasedEvent(decoding: event.body).record == record
            }
            if erases { return true }
        }
        return false
    }

    /// Releases a base that may no longer be the log's.
    func forgetBase() { base.forget() }
}
