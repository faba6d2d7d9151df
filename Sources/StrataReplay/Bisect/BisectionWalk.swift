import StrataLog
import StrataModel
import StrataStore
import StrataViews

/// Goes through the commits that touched one record, and finds when it began and ceased to fulfil the predicate.
struct BisectionWalk {
    /// Entries of a zone's change list that are read at a time.
    private static let pageCount = 4_096

    private let store: Store
    private let log: any EventLog
    private let record: RecordKey
    private let name: [UInt8]
    private let from: UInt64
    private let to: UInt64
    private let matcher: BisectionMatcher
    private var merger = RecordMerger()
    /// The encoded state; empty if there is no record.
    private var state: [UInt8] = []
    /// The last commit that the state has.
    private var offset: UInt64 = 0
    /// After the commit before the one in work.
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
        try begin(behind: last)
        holds = try judge()
        part.countAtStart = holds ? 1 : 0
        // What ended the search is the first behind the beginning.
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

    /// - Parameter last: what touched the record last, up to the beginning.
    private mutating func begin(behind last: ZoneTouch?) throws {
        if let last {
            guard last.kind == .recordSaved else { return }
            let version = Version(offset: last.offset, eventIndex: last.eventIndex)
            guard let known = try store.historicState(of: record, at: version) else {
                // Of what was erased since the log tells no version.
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
                // It begins although it is there: no event of its own says that it went with its zone.
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

    // MARK: The zone's end

    /// Ends the record with its zone, if that was deleted up to a commit.
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
        // A life that began before has lasted to the end of the log.
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
    /// Entries that are read at a time.
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
