import StrataLog
import StrataModel

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

    /// - Parameters:
    ///   - skipCount: so many events at the beginning are passed over.
    ///   - hasBase: whether what stands in front of the first event is told too.
    init(
        _ record: RecordKey, in store: StoreAccess, through last: UInt64, skipping skipCount: Int = 0,
        hasBase: Bool = true
    ) {
        self.record = record
        past = RecordTimelinePast(store.reader)
        changes = LogFilterChanges(
            store, .record(record.name, zones: [record.zone]), from: store.reader.floor.offset + 1, through: last)
        self.skipCount = skipCount
        hasBegun = !hasBase
    }

    /// What kept all or some of it from being told; nil if nothing was met.
    var damage: StrataError? { changes.damage ?? undecoded }

    /// Nil behind the last.
    mutating func next() throws -> Entry? {
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
        for (index, event) in envelope.events.enumerated() where RecordTimelineEvent.kinds.contains(event.kind) {
            guard let place = try? EventDetail.Place(event.body), place.zone == record.zone,
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

    /// How many events there are up to an offset, as far as they can be read.
    static func eventCount(of record: RecordKey, in store: StoreAccess, through last: UInt64) throws -> Int {
        var count = 0
        do {
            var touches = LogFilterTouches(
                .record(record.name, zones: [record.zone]), after: store.reader.floor.offset)
            while let touch = try touches.next(in: store.reader, through: last) { count += touch.count }
        } catch let error as StrataError where error.isDamage {
            count = 0
            var timeline = RecordTimeline(record, in: store, through: last)
            while let entry = try timeline.next() { count += entry.header == nil ? 0 : 1 }
        }
        return count
    }
}
