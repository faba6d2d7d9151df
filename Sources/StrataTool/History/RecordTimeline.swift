import StrataLog
import StrataModel
import StrataTree
import StrataViews

/// What became of a record, oldest first: the events that touched it, and in front of them, where history was let go,
/// what it was then.
struct RecordTimeline {
    /// A step with the commit that made it.
    struct Entry {
        let step: RecordTimelineStep
        /// Of a base that of the last save, as the base has it.
        let time: Int64
        /// Nil for a base, which has no commits.
        let header: EnvelopeHeader?
        let user: UInt64
        let device: UInt64
    }

    let record: RecordKey
    private let past: RecordTimelinePast
    private var changes: LogFilterChanges
    /// Events of the commit that was read last.
    private var waiting: [(event: RecordTimelineEvent, header: EnvelopeHeader)] = []
    private var skipCount: Int
    private var hasBegun: Bool
    private var undecoded: StrataError?
    private let end: RecordTimelineEnd
    /// What was told last, as long as it may have gone with its zone.
    private var lastSave: RecordTimelineStep?

    init(_ record: RecordKey, in store: StoreAccess, through last: UInt64) {
        self.init(record, in: store, from: store.reader.floor.offset + 1, through: last, skipping: 0, hasBase: true)
    }

    /// - Parameters:
    ///   - skipCount: so many events at the beginning are passed over.
    ///   - hasBase: whether what stands in front of the first event is told too.
    private init(
        _ record: RecordKey, in store: StoreAccess, from first: UInt64, through last: UInt64,
        skipping skipCount: Int, hasBase: Bool
    ) {
        self.record = record
        past = RecordTimelinePast(store.reader)
        end = RecordTimelineEnd(zone: record.zone, store: store, last: last)
        changes = LogFilterChanges(
            store, .record(record.name, zones: [record.zone]), from: first, through: last)
        self.skipCount = skipCount
        hasBegun = !hasBase
    }

    /// Only the last events, found from the end of the log on; what stands in front of them only if there are fewer.
    ///
    /// - Returns: besides, how many there are up to `last`, or that many if there are more.
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

    /// How many events there are, as far as they can be read.
    private static func readableCount(of record: RecordKey, in store: StoreAccess, through last: UInt64) throws -> Int {
        var timeline = RecordTimeline(record, in: store, through: last)
        var count = 0
        while let entry = try timeline.nextOfRecord() { count += entry.header == nil ? 0 : 1 }
        return count
    }

    /// What kept all or some of it from being told; nil if nothing was met.
    var damage: StrataError? { changes.damage ?? undecoded }

    /// Nil behind the last.
    mutating func next() throws -> Entry? {
        guard let entry = try nextOfRecord() else { return try deletionOfZone() }
        lastSave = [.delete, .erase].contains(entry.step.kind) ? nil : entry.step
        return entry
    }

    private mutating func deletionOfZone() throws -> Entry? {
        guard let save = lastSave else { return nil }
        lastSave = nil
        do {
            guard let (version, commit) = try end.deletion(behind: save.version) else { return nil }
            let header = try Envelope(decoding: commit.payload).header
            return Entry(
                step: RecordTimelineStep(.zoneDeleted, version, type: save.type), time: commit.time, header: header,
                user: header.user, device: header.device)
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
        return Entry(
            step: past.step(of: event), time: event.place.time, header: header, user: event.place.user,
            device: event.place.device)
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
    ) -> [(event: RecordTimelineEvent, header: EnvelopeHeader)] {
        var found: [(event: RecordTimelineEvent, header: EnvelopeHeader)] = []
        guard let envelope = try? Envelope(decoding: commit.payload) else { return [] }
        for (index, event) in envelope.events.enumerated() where event.kind.isOfRecord {
            guard let place = try? EventDetail.Place(event), place.zone == record.zone,
                LogFilter.isSame(place.name, record.name)
            else { continue }
            do {
                let event = try RecordTimelineEvent(
                    event, at: index, in: (commit.offset, commit.time), by: envelope.header)
                if let event { found.append((event, envelope.header)) }
            } catch {
                // What can be told is told; the rest is not passed over in silence.
                undecoded = undecoded ?? (error as? StrataError)?.located(offset: commit.offset)
            }
        }
        return found
    }

    private mutating func entryOfBase(_ first: RecordTimelineEvent?) throws -> Entry? {
        hasBegun = true
        return try past.entryOfBase(record, before: first)
    }
}

/// Returns whether a record was deleted with its zone, which its own events do not show.
struct RecordTimelineEnd {
    private static let pageCount = 1_000

    let zone: UInt64
    let store: StoreAccess
    /// The last offset that counts.
    let last: UInt64

    /// The first event after a version that deleted the zone, with its commit; nil if the zone still exists.
    ///
    /// - Throws: ``StrataError`` for damage that is met on the way.
    func deletion(behind version: Version) throws -> (version: Version, commit: Commit)? {
        var offset = max(version.offset, store.reader.floor.offset)
        if let known = try knownUpTo(behind: version), known > offset { offset = known }
        while offset < last {
            let page = try store.reader.touches(zone: zone, after: offset, limit: Self.pageCount)
            let found = page.touches.first { $0.kind == .zoneDeleted && $0.offset <= last }
            if let found, let commit = try store.reader.commit(at: found.offset) {
                return (Version(offset: found.offset, eventIndex: found.eventIndex), commit)
            }
            guard page.moreComing else { return nil }
            offset = page.readThrough
        }
        return nil
    }

    /// Returns the offset up to which the page file proves that the zone was not deleted after a version, or the offset
    /// before its deletion; nil if the page file cannot prove it.
    private func knownUpTo(behind version: Version) throws -> UInt64? {
        let known = try? Views.glance(of: store.reader, in: store.path, files: ReadOnlyFiles()) { trees, checkpoint in
            guard let database = try trees.databaseOrdinal(ofZone: zone),
                let row = try trees.zoneRow(database, zone), checkpoint.position.offset <= last
            else { return nil as UInt64? }
            if row.status == .alive { return row.incarnation < version ? checkpoint.position.offset : nil }
            return row.version > version && row.incarnation < version ? row.version.offset - 1 : nil
        }
        // A page file that cannot be read only costs time.
        return known.flatMap(\.self).flatMap(\.self)
    }
}
