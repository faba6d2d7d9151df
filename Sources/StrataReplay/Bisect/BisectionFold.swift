import StrataLog
import StrataModel
import StrataQuery
import StrataTree
import StrataViews

/// Goes once through the commits of a range and keeps, for its part of the records of one type, which of them fulfil
/// the predicate. Of each record that comes by it keeps the fields that decide, and of all others nothing.
struct BisectionFold {
    private struct Entry {
        /// Empty if there is no record.
        var state: [UInt8] = []
        /// After the commit before the one in work.
        var holds = false
        /// The last commit that touched it, and its last event that did.
        var offset: UInt64 = 0
        var event: UInt32 = 0
    }

    private struct Zone {
        var places: [[UInt8]: Int] = [:]
        /// Those that fulfil the predicate at the beginning, and have not come by.
        var untouchedCount = 0
        /// Whether records may be as they were at the beginning.
        var hasBeginning: Bool
    }

    /// Which of the records this one goes through.
    private let share: (index: UInt8, count: UInt8)
    private let beginning: Snapshot?
    private var matcher: BisectionMatcher
    private var merger = RecordMerger()
    private var writer = ByteWriter(reserving: 1_024)
    private var zones: [UInt64: Zone] = [:]
    private var entries: [Entry] = []
    /// Of the commit in work.
    private var touched: [(zone: UInt64, name: [UInt8], place: Int)] = []
    private var change = BisectionChange(offset: 0)
    private var part = BisectionPart()

    /// - Parameter beginning: the state in front of the first commit; nil if there is nothing.
    init(_ matcher: BisectionMatcher, from beginning: Snapshot?, share: (index: Int, count: Int)) {
        self.matcher = matcher
        self.beginning = beginning
        self.share = (UInt8(share.index), UInt8(share.count))
        merger.keptFields = matcher.fields
    }

    /// Offsets that are gone through between two questions whether to go on.
    private static let pulseOffsets: UInt64 = 1_024

    /// - Returns: what each commit behind `from` changed, up to `to`.
    mutating func run(
        _ log: any EventLog, from: UInt64, through to: UInt64, _ pulse: StepperPulse
    ) throws -> BisectionPart {
        try countBeginning()
        guard from < to else { return part }
        var cursor = try log.read(from: from + 1)
        var asked = from
        while let commit = try cursor.next(), commit.offset <= to {
            if commit.offset - asked >= Self.pulseOffsets {
                asked = commit.offset
                if !pulse(asked) { throw StepperInterruption() }
            }
            change = BisectionChange(offset: commit.offset)
            do { try commit.payload.withUnsafeBytes { try apply($0, commit) } } catch let error as StrataError {
                throw error.located(offset: commit.offset)
            }
            if !touched.isEmpty { try judgeTouched() }
            part.append(change)
            if commit.offset == to { break }
        }
        return part
    }

    /// Which share a record is in.
    private func isMine(_ name: UnsafeRawBufferPointer) -> Bool {
        if share.count == 1 { return true }
        var sum: UInt8 = 0
        for byte in name.suffix(16) { sum = sum &* 31 &+ byte }
        return (sum ^ sum >> 4) % share.count == share.index
    }

    // MARK: The beginning

    private mutating func countBeginning() throws {
        guard let beginning else { return }
        for (zone, row) in try beginning.zoneRows(of: matcher.scene.database) where row.status == .alive {
            guard try matcher.covers(zone) else { continue }
            var count = 0
            try beginning.forEachRecord(of: zone) { name, state in
                if isMine(name), try matcher.holds(zone: zone, name: [UInt8](name), state) { count += 1 }
                return true
            }
            zones[zone] = Zone(untouchedCount: count, hasBeginning: true)
            part.countAtStart += count
        }
    }

    /// Takes up a record that comes by for the first time.
    private mutating func makeEntry(_ zone: UInt64, _ name: [UInt8]) throws -> Int {
        var entry = Entry()
        if zones[zone]?.hasBeginning == true, let beginning {
            let key = RecordKey(zone: zone, name: String(decoding: name, as: UTF8.self))
            let state = try beginning.withRecord(key) { state -> [UInt8]? in
                let isOfType = try RecordStateView(state, in: 0..<state.count).type() == matcher.scene.type
                return isOfType ? [UInt8](state) : nil
            }
            if case .some(.some(let state)) = state {
                entry.state = state
                entry.holds = try matcher.holds(zone: zone, name: name, state)
                if entry.holds { zones[zone]?.untouchedCount -= 1 }
            }
        }
        entries.append(entry)
        zones[zone, default: Zone(hasBeginning: false)].places[name] = entries.count - 1
        return entries.count - 1
    }

    // MARK: Commits

    private mutating func apply(_ payload: UnsafeRawBufferPointer, _ commit: Commit) throws {
        var walker = try EventWalker(payload)
        var header: EnvelopeHeader?
        while let event = try walker.next() {
            let index = UInt32(walker.eventIndex - 1)
            let body = UnsafeRawBufferPointer(rebasing: payload[event.body])
            switch event.kind {
            case .recordSaved, .recordDeleted, .recordErased:
                let record = try RecordEvent(event.kind, body)
                guard record.type == matcher.scene.type, try matcher.covers(record.zone), isMine(record.nameBytes),
                    try record.changesRecord
                else { continue }
                let place = try touch(record.zone, [UInt8](record.nameBytes), commit.offset, index)
                guard event.kind == .recordSaved else {
                    entries[place].state.removeAll()
                    continue
                }
                let known = try header ?? walker.header()
                header = known
                try save(
                    try record.saved(), over: place,
                    at: EventPlace(
                        version: Version(offset: commit.offset, eventIndex: index), time: commit.time,
                        user: known.user, device: known.device))
            case .zoneDeleted:
                var reader = ByteReader(body)
                let zone = try reader.readEventZone()
                if try matcher.covers(zone) { try delete(zone, at: Version(offset: commit.offset, eventIndex: index)) }
            default: continue
            }
        }
    }

    private mutating func touch(_ zone: UInt64, _ name: [UInt8], _ offset: UInt64, _ event: UInt32) throws -> Int {
        let place = try zones[zone]?.places[name] ?? makeEntry(zone, name)
        if entries[place].offset != offset { touched.append((zone, name, place)) }
        entries[place].offset = offset
        entries[place].event = event
        return place
    }

    private mutating func save(_ event: RecordSavedView, over place: Int, at eventPlace: EventPlace) throws {
        writer.removeAll()
        let old = entries[place].state
        try old.withUnsafeBytes { state in
            try merger.apply(event, at: eventPlace, to: state.isEmpty ? nil : state, into: &writer)
        }
        // A copy of its own, with no room to grow.
        entries[place].state = writer.bytes.withUnsafeBytes { [UInt8]($0) }
    }

    private mutating func judgeTouched() throws {
        for (zone, name, place) in touched {
            let entry = entries[place]
            let holds = try matcher.holds(zone: zone, name: name, entry.state.isEmpty ? nil : entry.state)
            guard holds != entry.holds else { continue }
            entries[place].holds = holds
            if holds { change.gain(entry.event) } else { change.lose(entry.event) }
        }
        touched.removeAll(keepingCapacity: true)
    }

    /// All records of a zone end with it.
    private mutating func delete(_ zone: UInt64, at deletion: Version) throws {
        guard let known = zones.removeValue(forKey: zone) else { return }
        if known.untouchedCount > 0 { try noteUntouched(zone, known, deletion) }
        change.lose(deletion.eventIndex, count: known.untouchedCount)
        for (name, place) in known.places {
            let entry = entries[place]
            entries[place].state = []
            guard entry.holds else { continue }
            entries[place].holds = false
            change.lose(deletion.eventIndex)
            // What a record was in front of an event of the same commit is told by that event.
            guard !entry.state.isEmpty, entry.offset != deletion.offset else { continue }
            let version = try entry.state.withUnsafeBytes { try RecordStateView($0, in: 0..<$0.count).version }
            let key = RecordKey(zone: zone, name: String(decoding: name, as: UTF8.self))
            part.noteVictim(key, at: version, of: deletion)
        }
    }

    /// Finds a record among those that nothing but the zone's end touched.
    private mutating func noteUntouched(_ zone: UInt64, _ known: Zone, _ deletion: Version) throws {
        guard let beginning else { return }
        var found: (record: RecordKey, version: Version)?
        try beginning.forEachRecord(of: zone) { nameBytes, state in
            let name = [UInt8](nameBytes)
            guard isMine(nameBytes), known.places[name] == nil, try matcher.holds(zone: zone, name: name, state) else {
                return true
            }
            found = (
                RecordKey(zone: zone, name: String(decoding: name, as: UTF8.self)),
                try RecordStateView(state, in: 0..<state.count).version
            )
            return false
        }
        if let found { part.noteVictim(found.record, at: found.version, of: deletion) }
    }
}
