import StrataLog
import StrataModel
import StrataStore
import StrataTree
import StrataViews

/// The history of a record, oldest first: the events that touched it, preceded by its state at the horizon where
/// history was compacted.
struct RecordTimeline {
    /// A step with the commit that made it.
    struct Entry {
        var step: TimelineStep
        /// The time of the commit; for a base, the time of the last save, from the record's header.
        let time: Int64
        /// Nil for a base, which has no commits.
        let header: EnvelopeHeader?
        let user: UInt64
        let device: UInt64

        init(_ step: TimelineStep, of place: EventPlace, by header: EnvelopeHeader) {
            (self.step, self.header) = (step, header)
            (time, user, device) = (place.time, place.user, place.device)
        }

        /// The state at the horizon.
        init(_ base: TimelineStep, of record: RecordHeader) {
            (step, header) = (base, nil)
            (time, user, device) = (record.modified, record.modifiedBy, record.modifiedWith)
        }
    }

    let record: RecordKey
    private let store: StoreAccess
    private let past: ChangeTimeline
    /// The last offset to consider.
    private let last: UInt64
    private var changes: LogFilterChanges
    /// The remaining events of the commit that was read last.
    private var waiting: [(event: TimelineEvent, header: EnvelopeHeader)] = []
    private var skipCount: Int
    private var hasBegun: Bool
    private var undecoded: StrataError?
    /// The step returned last, while a deletion of its zone could still follow.
    private var lastSave: TimelineStep?
    /// The creation after a deletion of the zone that is returned first.
    private var held: Entry?

    init(_ record: RecordKey, in store: StoreAccess, through last: UInt64) {
        self.init(record, in: store, from: store.reader.floor.offset + 1, through: last, skipping: 0, hasBase: true)
    }

    /// - Parameters:
    ///   - skipCount: the number of events to skip at the beginning.
    ///   - hasBase: true if the state before the first event is included.
    private init(
        _ record: RecordKey, in store: StoreAccess, from first: UInt64, through last: UInt64,
        skipping skipCount: Int, hasBase: Bool
    ) {
        self.record = record
        (self.store, self.last) = (store, last)
        past = ChangeTimeline(of: store.reader)
        changes = LogFilterChanges(
            store, .record(record.name, zones: [record.zone]), from: first, through: last)
        self.skipCount = skipCount
        hasBegun = !hasBase
    }

    /// Returns only the last events, found from the end of the log, and the number of events up to `last`, limited to
    /// `wanted`. The state in the base is included only if there are fewer.
    static func ofLast(
        _ wanted: Int, of record: RecordKey, in store: StoreAccess, through last: UInt64
    ) throws -> (timeline: RecordTimeline, count: Int) {
        let floor = store.reader.floor.offset
        guard last > floor else { return (RecordTimeline(record, in: store, through: last), 0) }
        var found: LastTouches
        do {
            found = try store.reader.lastTouches(
                record: Array(record.name.utf8), in: record.zone, through: last, limit: max(wanted, 1))
            if found.count < wanted { found.first = floor + 1 }
        } catch let error as StrataError where error.isDamage {
            found = LastTouches(first: floor + 1, count: try readableCount(of: record, in: store, through: last))
        }
        let timeline = RecordTimeline(
            record, in: store, from: found.first, through: last, skipping: max(0, found.count - wanted),
            hasBase: found.count < wanted)
        return (timeline, found.count)
    }

    /// Returns the number of events that can be read.
    private static func readableCount(of record: RecordKey, in store: StoreAccess, through last: UInt64) throws -> Int {
        var timeline = RecordTimeline(record, in: store, through: last)
        var count = 0
        while let entry = try timeline.nextOfRecord() { count += entry.header == nil ? 0 : 1 }
        return count
    }

    /// The damage that made the history incomplete; nil if none was found.
    var damage: StrataError? { changes.damage ?? undecoded }

    /// Returns nil after the last entry.
    mutating func next() throws -> Entry? {
        guard let entry = try held ?? nextOfRecord() else { return try deletionOfZone(through: last) }
        held = nil
        // A record that exists is not created: its zone was deleted, and created again.
        if entry.step.kind == .create, lastSave != nil,
            let deletion = try deletionOfZone(through: entry.step.version.offset)
        {
            held = entry
            return deletion
        }
        lastSave = [.delete, .erase].contains(entry.step.kind) ? nil : entry.step
        return entry
    }

    private mutating func deletionOfZone(through end: UInt64) throws -> Entry? {
        guard let save = lastSave else { return nil }
        lastSave = nil
        do {
            var first = max(save.version.offset, store.reader.floor.offset)
            if end == last { first = max(first, try aliveUntil(save.version) ?? 0) }
            guard let version = try store.reader.zoneDeletion(of: record.zone, after: first, through: end),
                let commit = try store.reader.commit(at: version.offset)
            else { return nil }
            let header = try Envelope(decoding: commit.payload).header
            let place = EventPlace(version: version, time: commit.time, user: header.user, device: header.device)
            return Entry(TimelineStep(.zoneDeleted, version, type: save.type), of: place, by: header)
        } catch let error as StrataError where error.isDamage {
            undecoded = undecoded ?? error
            return nil
        }
    }

    private mutating func nextOfRecord() throws -> Entry? {
        while waiting.isEmpty {
            guard let commit = try nextCommit() else { return hasBegun ? nil : try entryOfBase(nil) }
            waiting = events(of: commit).reversed()
            while skipCount > 0, waiting.popLast() != nil { skipCount -= 1 }
        }
        if let last = waiting.last, !hasBegun, let entry = try entryOfBase(last.event) { return entry }
        guard let (event, header) = waiting.popLast() else { return nil }
        return Entry(past.step(of: event), of: event.place, by: header)
    }

    private mutating func nextCommit() throws -> Commit? {
        var rest = skipCount
        defer { skipCount = rest }
        return try changes.next { count in
            guard count <= rest else { return false }
            rest -= count
            return true
        }
    }

    private mutating func events(
        of commit: Commit
    ) -> [(event: TimelineEvent, header: EnvelopeHeader)] {
        var found: [(event: TimelineEvent, header: EnvelopeHeader)] = []
        guard let envelope = try? Envelope(decoding: commit.payload) else { return [] }
        for (index, event) in envelope.events.enumerated() where event.kind.isOfRecord {
            guard let key = try? event.record().key, key == record else { continue }
            do {
                let event = try TimelineEvent(
                    event, at: index, in: (commit.offset, commit.time), by: envelope.header)
                if let event { found.append((event, envelope.header)) }
            } catch {
                // Return what could be decoded, and report the rest as damage.
                undecoded = undecoded ?? (error as? StrataError)?.located(offset: commit.offset)
            }
        }
        return found
    }

    private mutating func entryOfBase(_ first: TimelineEvent?) throws -> Entry? {
        hasBegun = true
        return try past.base(of: record, before: first).map { Entry($0.step, of: $0.header) }
    }

    /// Returns the offset up to which the newest state on disk proves that the zone was not deleted after a version, or
    /// the offset before its deletion; nil if it cannot prove it.
    private func aliveUntil(_ version: Version) throws -> UInt64? {
        // A state that cannot be read only costs time.
        guard let newest = try? Views.newestState(of: store.reader, in: store.path, files: ReadOnlyFiles()),
            newest.state.position.offset <= last,
            let database = try? newest.trees.databaseOrdinal(ofZone: record.zone),
            let row = try? newest.trees.zoneRow(database, record.zone)
        else { return nil }
        if row.status == .alive { return row.incarnation < version ? newest.state.position.offset : nil }
        return row.version > version && row.incarnation < version ? row.version.offset - 1 : nil
    }
}
