import StrataLog
import StrataModel
import StrataQuery
import StrataTree
import StrataViews

/// Reads the commits of a range once, and tracks which records of one type match the predicate, for one share of the
/// records. It keeps only the fields that decide, and only of records that a commit touches.
struct BisectionFold {
    /// The records that a fold covers.
    enum Share {
        case part(Int, of: Int)
        /// The records of one name.
        case named([UInt8])
    }

    private struct Entry {
        /// Empty if there is no record.
        var state: [UInt8] = []
        /// True if the record matched after the previous commit.
        var holds = false
        /// The last commit that touched the record, and the last event of that commit that did.
        var offset: UInt64 = 0
        var event: UInt32 = 0
    }

    private struct Zone {
        var places: [[UInt8]: Int] = [:]
        /// The number of records that match the predicate at the beginning and have not been touched since.
        var untouchedCount = 0
        /// True if untouched records are still as they were at the beginning.
        var hasBeginning: Bool
    }

    private let share: Share
    private let beginning: Snapshot?
    private var matcher: BisectionMatcher
    private var merger = RecordMerger()
    private var writer = ByteWriter(reserving: 1_024)
    private var zones: [UInt64: Zone] = [:]
    private var entries: [Entry] = []
    /// The records touched by the current commit.
    private var touched: [(zone: UInt64, name: [UInt8], place: Int)] = []
    private var change = BisectionChange(offset: 0)
    private var part = BisectionPart()

    /// - Parameter beginning: the state before the first commit; nil if it is empty.
    init(_ matcher: BisectionMatcher, from beginning: Snapshot? = nil, _ share: Share) {
        (self.matcher, self.beginning, self.share) = (matcher, beginning, share)
        merger.keptFields = matcher.fields
    }

    /// The number of offsets read between two calls of the pulse.
    private static let pulseOffsets: UInt64 = 1_024

    /// Returns the changes of each commit that `next` returns.
    mutating func run(_ pulse: StepperPulse, _ next: () throws -> Commit?) throws -> BisectionPart {
        try countBeginning()
        var asked: UInt64?
        while let commit = try next() {
            let last = asked ?? commit.offset
            asked = commit.offset - last >= Self.pulseOffsets ? commit.offset : last
            if asked != last, !pulse(commit.offset) { throw StepperInterruption() }
            change = BisectionChange(offset: commit.offset)
            do { try commit.payload.withUnsafeBytes { try apply($0, commit) } } catch let error as StrataError {
                throw error.located(offset: commit.offset)
            }
            if !touched.isEmpty { try judgeTouched() }
            part.append(change)
        }
        return part
    }

    /// Returns true if a record belongs to this fold's share.
    private func isMine(_ name: UnsafeRawBufferPointer) -> Bool {
        switch share {
        case .named(let wanted): return name.elementsEqual(wanted)
        case .part(_, of: 1): return true
        case .part(let index, of: let count):
            var sum: UInt8 = 0
            for byte in name.suffix(16) { sum = sum &* 31 &+ byte }
            return Int(sum ^ sum >> 4) % count == index
        }
    }

    // MARK: The beginning

    private mutating func countBeginning() throws {
        guard let beginning else { return }
        for (zone, row) in try beginning.zoneRows(of: matcher.context.database) where row.status == .alive {
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

    /// Adds a record that exists at the beginning.
    mutating func add(_ record: RecordKey, _ state: [UInt8]) throws {
        let name = Array(record.name.utf8)
        var entry = Entry()
        if try state.withUnsafeBytes({ try RecordStateView($0, in: 0..<$0.count).type() }) == matcher.context.type {
            entry.state = state
            entry.holds = try matcher.holds(zone: record.zone, name: name, state)
        }
        if entry.holds { part.countAtStart += 1 }
        zones[record.zone] = Zone(places: [name: entries.count], hasBeginning: false)
        entries.append(entry)
    }

    /// Adds an entry for a record touched for the first time, and returns its place.
    private mutating func makeEntry(_ zone: UInt64, _ name: [UInt8]) throws -> Int {
        var entry = Entry()
        if zones[zone]?.hasBeginning == true, let beginning {
            let key = RecordKey(zone: zone, name: String(decoding: name, as: UTF8.self))
            let state = try beginning.withRecord(key) { state -> [UInt8]? in
                let isOfType = try RecordStateView(state, in: 0..<state.count).type() == matcher.context.type
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
            let version = Version(offset: commit.offset, eventIndex: UInt32(walker.eventIndex - 1))
            let body = UnsafeRawBufferPointer(rebasing: payload[event.body])
            switch event.kind {
            case .recordSaved, .recordDeleted, .recordErased:
                let record = try RecordEvent(event.kind, body)
                guard record.type == matcher.context.type, try matcher.covers(record.zone), isMine(record.nameBytes),
                    try record.changesRecord
                else { continue }
                let place = try touch([UInt8](record.nameBytes), in: record.zone, at: version)
                guard event.kind == .recordSaved else {
                    entries[place].state.removeAll()
                    continue
                }
                let known = try header ?? walker.header()
                header = known
                try save(
                    try record.saved(), over: place,
                    at: EventPlace(version: version, time: commit.time, user: known.user, device: known.device))
            case .zoneDeleted:
                var reader = ByteReader(body)
                let zone = try reader.readEventZone()
                if try matcher.covers(zone) { try delete(zone, at: version) }
            default: continue
            }
        }
    }

    private mutating func touch(_ name: [UInt8], in zone: UInt64, at version: Version) throws -> Int {
        let place = try zones[zone]?.places[name] ?? makeEntry(zone, name)
        if entries[place].offset != version.offset { touched.append((zone, name, place)) }
        entries[place].offset = version.offset
        entries[place].event = version.eventIndex
        return place
    }

    private mutating func save(_ event: RecordSavedView, over place: Int, at eventPlace: EventPlace) throws {
        writer.removeAll()
        let old = entries[place].state
        try old.withUnsafeBytes { state in
            try merger.apply(event, at: eventPlace, to: state.isEmpty ? nil : state, into: &writer)
        }
        // An exact copy, without spare capacity.
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

    /// Ends all records of a deleted zone.
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
            // If an earlier event of this commit touched the record, the state before the commit is no longer here.
            guard !entry.state.isEmpty, entry.offset != deletion.offset else { continue }
            let version = try entry.state.withUnsafeBytes { try RecordStateView($0, in: 0..<$0.count).version }
            let key = RecordKey(zone: zone, name: String(decoding: name, as: UTF8.self))
            part.noteVictim(key, at: version, of: deletion)
        }
    }

    /// Notes a matching record that no commit but the deletion of its zone touched.
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
