import StrataLog
import StrataModel
import StrataTree
import StrataViews

/// The states of changed records before and after a range of commits. They are read at a checkpoint or at the log's
/// floor, and from there on only the changes of these records are folded.
struct ChangedStates {
    private struct Entry {
        var current: [UInt8]?
        var before: [UInt8]?
    }

    /// The offsets of the state before the commits and of the state after them.
    private let range: ClosedRange<UInt64>
    private var entries: [RecordKey: Entry] = [:]
    private var byteCount = 0
    private let maximumBytes: Int
    private var merger = RecordMerger()
    private var writer = ByteWriter(reserving: 1_024)

    /// Reads the states of changed records; returns nil if they take too much memory.
    ///
    /// - Parameters:
    ///   - offset: the offset at which reading begins.
    ///   - start: returns the state of a record at that offset.
    static func read(
        _ changes: ChangedRecords, in range: ClosedRange<UInt64>, of log: any HistoryLog, from offset: UInt64,
        atMost maximumBytes: Int, _ start: (RecordKey) throws -> [UInt8]?
    ) throws -> ChangedStates? {
        var states = ChangedStates(range, maximumBytes)
        for change in changes.all {
            let state = try start(change.record)
            states.byteCount += state?.count ?? 0
            states.entries[change.record] = Entry(current: state)
            if states.isFull { return nil }
        }
        return try states.fold(log, after: offset) ? states : nil
    }

    private init(_ range: ClosedRange<UInt64>, _ maximumBytes: Int) {
        (self.range, self.maximumBytes) = (range, maximumBytes)
    }

    private var isFull: Bool { byteCount > maximumBytes }

    /// Returns nil if the log lacks a version of the change, for example of a record that has been erased since.
    func states(of change: ChangedRecords.Change) throws -> ChangedRecords.States? {
        let entry = entries[change.record]
        guard try entry?.before.map(RecordStateView.version(of:)) == change.before,
            try entry?.current.map(RecordStateView.version(of:)) == change.after
        else { return nil }
        return ChangedRecords.States(before: entry?.before, after: entry?.current)
    }

    // MARK: Commits

    private mutating func fold(_ log: any HistoryLog, after offset: UInt64) throws -> Bool {
        var cursor = try log.read(from: offset + 1)
        var isBehind = false
        while let commit = try cursor.next(), commit.offset <= range.upperBound {
            if commit.offset > range.lowerBound, !isBehind {
                isBehind = true
                keepBefore()
            }
            do { try commit.payload.withUnsafeBytes { try apply($0, commit) } } catch let error as StrataError {
                throw error.located(offset: commit.offset)
            }
            if isFull { return false }
            if commit.offset == range.upperBound { break }
        }
        if !isBehind { keepBefore() }
        return !isFull
    }

    private mutating func keepBefore() {
        for index in entries.values.indices { entries.values[index].before = entries.values[index].current }
        byteCount *= 2
    }

    private mutating func apply(_ payload: UnsafeRawBufferPointer, _ commit: Commit) throws {
        var walker = try EventWalker(payload)
        while let event = try walker.next() {
            switch event.kind {
            case .recordSaved, .recordDeleted, .recordErased:
                guard let record = try RecordEvent(event.kind, event.body, of: payload), try record.changesRecord,
                    let index = entries.index(forKey: try record.key)
                else { continue }
                guard event.kind == .recordSaved else {
                    set(nil, at: index)
                    continue
                }
                let header = try walker.header()
                let version = Version(offset: commit.offset, eventIndex: UInt32(walker.eventIndex - 1))
                try save(
                    try record.saved(), over: index,
                    at: EventPlace(
                        version: version, time: commit.time, user: header.user, device: header.device))
            case .zoneDeleted:
                var reader = ByteReader(UnsafeRawBufferPointer(rebasing: payload[event.body]))
                let zone = try reader.readEventZone()
                for index in entries.indices where entries[index].key.zone == zone { set(nil, at: index) }
            default: continue
            }
        }
    }

    private mutating func save(
        _ event: RecordSavedView, over index: Dictionary<RecordKey, Entry>.Index, at place: EventPlace
    ) throws {
        // The rest would look like a record without values, and so would the states up to its erasure.
        guard !event.isErased else { return set(nil, at: index) }
        writer.removeAll()
        if let state = entries.values[index].current {
            try state.withUnsafeBytes { try merger.apply(event, at: place, to: $0, into: &writer) }
        } else {
            try merger.apply(event, at: place, to: nil, startsHere: true, into: &writer)
        }
        set(writer.bytes, at: index)
    }

    private mutating func set(_ state: [UInt8]?, at index: Dictionary<RecordKey, Entry>.Index) {
        byteCount += (state?.count ?? 0) - (entries.values[index].current?.count ?? 0)
        entries.values[index].current = state
    }
}
