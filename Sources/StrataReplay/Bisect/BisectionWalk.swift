import StrataLog
import StrataModel
import StrataStore
import StrataViews

/// Reads the commits that touched one record, and finds when it began and ceased to match the predicate.
struct BisectionWalk {
    /// The number of change list entries read at a time.
    private static let pageCount = 4_096

    private let store: Store
    private let log: any EventLog
    private let record: RecordKey
    private let name: [UInt8]
    private let from: UInt64
    private let to: UInt64
    private let matcher: BisectionMatcher
    private var merger = RecordMerger()
    /// The encoded state; empty if the record does not exist.
    private var state: [UInt8] = []
    /// The last commit that the state includes.
    private var offset: UInt64 = 0
    /// True if the record matched after the previous commit.
    private var holds = false
    private var part = BisectionPart()

    init(_ record: RecordKey, in store: Store, _ matcher: BisectionMatcher, from: UInt64, through to: UInt64) {
        (self.store, self.record, self.matcher, self.from, self.to) = (store, record, matcher, from, to)
        log = store.log
        name = Array(record.name.utf8)
    }

    mutating func run() throws -> BisectionPart {
        var touches = BisectionTouches(name, in: record.zone, of: log)
        var last: ZoneTouch?
        while let touch = try touches.next(), touch.offset <= from { last = touch }
        try begin(after: last)
        holds = try judge()
        part.countAtStart = holds ? 1 : 0
        // The touch that ended the loop is the first one after the beginning.
        while let touch = touches.current, touch.offset <= to {
            var events: [UInt32] = []
            while let other = touches.current, other.offset == touch.offset {
                events.append(other.eventIndex)
                _ = try touches.next()
            }
            try apply(events, at: touch.offset)
        }
        if !state.isEmpty { try endWithZone(through: to) }
        return part
    }

    // MARK: The beginning

    /// - Parameter last: the last touch of the record up to the beginning.
    private mutating func begin(after last: ZoneTouch?) throws {
        if let last {
            guard last.kind == .recordSaved else { return }
            let version = Version(offset: last.offset, eventIndex: last.eventIndex)
            guard let known = try store.historicState(of: record, at: version) else {
                // The log no longer has versions of a record erased since then.
                let past = try store.asOf(from)
                defer { try? past.close() }
                state = try past.snapshot().trees.withRecord(record) { [UInt8]($0) } ?? []
                offset = from
                return
            }
            (state, offset) = (known, last.offset)
        } else if log.floor.offset > 0 {
            state = try BaseRecords(log).state(of: record) ?? []
            offset = log.floor.offset
        }
        if !state.isEmpty { try endWithZone(through: from) }
    }

    private func judge() throws -> Bool {
        try matcher.holds(zone: record.zone, name: name, state.isEmpty ? nil : state)
    }

    // MARK: Commits

    private mutating func apply(_ events: [UInt32], at offset: UInt64) throws {
        guard let commit = try log.commit(at: offset), let last = events.last else { return }
        do { try commit.payload.withUnsafeBytes { try apply(events, $0, commit) } } catch let error as StrataError {
            throw error.located(offset: offset)
        }
        self.offset = offset
        let holdsNow = try judge()
        guard holdsNow != holds else { return }
        var change = BisectionChange(offset: offset)
        if holdsNow { change.gain(last) } else { change.lose(last) }
        holds = holdsNow
        part.append(change)
    }

    private mutating func apply(_ events: [UInt32], _ payload: UnsafeRawBufferPointer, _ commit: Commit) throws {
        var walker = try EventWalker(payload)
        let header = try walker.header()
        var rest = events[...]
        while let index = rest.first, let event = try walker.next() {
            guard walker.eventIndex - 1 == Int(index) else { continue }
            rest.removeFirst()
            switch event.kind {
            case .recordSaved:
                let view = try RecordSavedView(payload, in: event.body)
                // Created although it exists: it ended with its zone, without an event of its own.
                if view.change == .create, !state.isEmpty { try endWithZone(through: commit.offset) }
                let place = EventPlace(
                    version: Version(offset: commit.offset, eventIndex: index), time: commit.time, user: header.user,
                    device: header.device)
                var writer = ByteWriter(reserving: 512)
                let old = state
                try old.withUnsafeBytes { try merger.apply(view, at: place, to: $0.isEmpty ? nil : $0, into: &writer) }
                state = writer.bytes
            case .recordErased where try RecordEvent(event.kind, event.body, of: payload)?.changesRecord == false:
                continue
            default: state = []
            }
        }
    }

    // MARK: Zone deletion

    /// Ends the record with its zone, if the zone was deleted up to a commit.
    private mutating func endWithZone(through last: UInt64) throws {
        guard let deletion = try deletionOfZone(through: last) else { return }
        if holds, deletion.offset > from {
            var change = BisectionChange(offset: deletion.offset)
            change.lose(deletion.eventIndex)
            part.append(change)
            let version = try state.withUnsafeBytes { try RecordStateView($0, in: 0..<$0.count).version }
            part.noteVictim(record, at: version, of: deletion)
        }
        (state, offset, holds) = ([], deletion.offset, false)
    }

    private func deletionOfZone(through last: UInt64) throws -> Version? {
        let scene = matcher.scene
        // A life of the zone that began earlier has lasted to the end of the log.
        if let row = try scene.trees.zoneRow(scene.database, record.zone), row.status == .alive,
            row.incarnation.offset <= offset
        {
            return nil
        }
        var readThrough = offset
        while readThrough < last {
            let page = try log.touches(zone: record.zone, after: readThrough, limit: Self.pageCount)
            if let found = page.touches.first(where: { $0.kind == .zoneDeleted }) {
                return found.offset <= last ? Version(offset: found.offset, eventIndex: found.eventIndex) : nil
            }
            guard page.moreComing else { return nil }
            readThrough = page.readThrough
        }
        return nil
    }
}

/// Iterates over the touches of one record, in order, from a log's change lists.
struct BisectionTouches {
    /// The number of entries read at a time.
    private static let pageCount = 1_024

    private let name: [UInt8]
    private let zone: UInt64
    private let log: any EventLog
    private var page: TouchPage
    private var place = 0
    /// The touch that ``next()`` returned last.
    private(set) var current: ZoneTouch?

    init(_ name: [UInt8], in zone: UInt64, of log: any EventLog) {
        (self.name, self.zone, self.log) = (name, zone, log)
        page = TouchPage(touches: [], readThrough: log.floor.offset, moreComing: true)
    }

    /// Returns the next touch; nil after the last one.
    mutating func next() throws -> ZoneTouch? {
        while place == page.touches.count, page.moreComing {
            page = try log.touches(record: name, in: zone, after: page.readThrough, limit: Self.pageCount)
            place = 0
        }
        current = place < page.touches.count ? page.touches[place] : nil
        if current != nil { place += 1 }
        return current
    }
}
