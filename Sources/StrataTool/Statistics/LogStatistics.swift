import StrataLog
import StrataModel
import StrataRules

/// The statistics of commits, collected one by one in bounded memory.
struct LogStatistics {
    /// A record, by the ordinal of its zone.
    struct RecordName: Hashable, Sendable {
        let zone: UInt64
        let name: ExactName
    }

    /// The name of the zones to count; nil for all.
    let zone: String?
    private(set) var names: KnownNames

    private(set) var commits = CommitCounts()
    private(set) var records = RecordCounts()
    private(set) var refused = RefusalCounts()

    private(set) var kinds = TallyTable<EventKind>()
    private(set) var zones = TallyTable<UInt64>()
    private(set) var types = TallyTable<UInt64>()
    private(set) var fields = TallyTable<UInt64>()
    /// Keys that were removed, by field.
    private(set) var removals = TallyTable<UInt64>()
    /// Commits by user, with the bytes of payloads.
    private(set) var users = TallyTable<UInt64>()
    /// Commits by day since 1970, and by hour of the day, in UTC.
    private(set) var days = TallyTable<Int64>()
    private(set) var hours = Array(repeating: Tally(), count: 24)
    private(set) var timeline = Timeline()

    /// The number of versions of each record; a deletion counts as one.
    private(set) var churn: FrequentItems<RecordName>

    private var isWantedZone: [UInt64: Bool] = [:]

    init(zone: String?, names: KnownNames, churnCapacity: Int = 1 << 16) {
        self.zone = zone
        self.names = names
        churn = FrequentItems(capacity: churnCapacity)
    }

    /// True if the requested zone has a name in the log.
    var knowsZone: Bool { zone.map { name in names.zones.contains { isSameText($0.name, name) } } ?? true }

    mutating func add(_ commit: Commit) {
        let countBefore = commits.events.count
        var header = EnvelopeHeader()
        do {
            header = try commit.payload.withUnsafeBytes { payload in
                var walker = try EventWalker(payload)
                let header = try walker.header()
                while let event = try walker.next() { add(event.kind, payload, event.body) }
                return header
            }
        } catch {
            guard zone == nil else { return }
            commits.addMalformed()
        }
        if zone != nil {
            guard commits.events.count > countBefore else { return }
        } else {
            let shape = header.requestShape
            if !shape.isEmpty, let shape = try? RequestShape(decoding: shape) { refused.add(shape) }
        }
        commits.add(commit, isLazy: header.isLazy)
        users.add(header.user, bytes: commit.payload.count)
        addTime(of: commit)
    }

    private mutating func addTime(of commit: Commit) {
        let hour = Timestamp(microseconds: commit.time).parts.microseconds / Timeline.hourMicroseconds
        hours[Int(hour)].add(bytes: commit.payload.count)
        days.add(Timeline.floor(commit.time, by: Timestamp.microsecondsPerDay), bytes: commit.payload.count)
        timeline.add(commit.time)
    }
}

// MARK: Events

extension LogStatistics {
    private mutating func add(_ kind: EventKind, _ payload: UnsafeRawBufferPointer, _ body: Range<Int>) {
        if kind == .nameInterned, let name = try? InternedName(decoding: slice(payload, body)) { names.add(name) }
        guard isWanted(kind, payload, body) else { return }
        commits.addEvent(bytes: body.count)
        kinds.add(kind, bytes: body.count)
        switch kind {
        case .recordSaved: try? addSave(payload, body)
        case .recordDeleted, .recordErased: try? addEnd(kind, payload, body)
        case .requestRefused:
            if let event = try? RequestRefusedEvent(decoding: slice(payload, body)) { refused.add(event) }
        default: break
        }
    }

    private func slice(_ payload: UnsafeRawBufferPointer, _ body: Range<Int>) -> ArraySlice<UInt8> {
        ArraySlice(UnsafeRawBufferPointer(rebasing: payload[body]))
    }

    /// Returns true if an event is counted. With a zone filter, only events of matching zones are.
    private mutating func isWanted(_ kind: EventKind, _ payload: UnsafeRawBufferPointer, _ body: Range<Int>) -> Bool {
        guard let zone else { return true }
        guard kind.isOfZone else { return false }
        var reader = ByteReader(UnsafeRawBufferPointer(rebasing: payload[body]))
        guard let ordinal = try? reader.readEventZone() else { return false }
        if let known = isWantedZone[ordinal] { return known }
        let isWanted = LogFilter.isSame(names.zone(ordinal), zone)
        // A zone without a name may still get one, if the beginning of the log is missing.
        if names.zone(ordinal) != nil, isWantedZone.count < 1 << 16 { isWantedZone[ordinal] = isWanted }
        return isWanted
    }

    private mutating func addSave(_ payload: UnsafeRawBufferPointer, _ body: Range<Int>) throws {
        let view = try RecordSavedView(payload, in: body)
        records.addSave(view.change, bytes: body.count)
        addRecord(
            view.zone, view.type, UnsafeRawBufferPointer(rebasing: payload[view.name]), bytes: body.count)
        let table = try view.fields
        for index in 0..<table.count {
            let range = try table.range(at: index)
            let field = UInt64(table.ordinal(at: index))
            if range.isEmpty {
                removals.add(field, bytes: 0)
            } else {
                fields.add(field, bytes: range.count)
            }
        }
    }

    private mutating func addEnd(
        _ kind: EventKind, _ payload: UnsafeRawBufferPointer, _ body: Range<Int>
    ) throws {
        guard let event = try RecordEvent(kind, body, of: payload) else { return }
        addRecord(event.zone, event.type, event.nameBytes, bytes: body.count)
        if kind == .recordErased {
            records.addErasure()
        } else {
            records.addDeletion(try RecordDeletedEvent(decoding: slice(payload, body)))
        }
    }

    private mutating func addRecord(
        _ zone: UInt64, _ type: UInt64, _ name: UnsafeRawBufferPointer, bytes: Int
    ) {
        zones.add(zone, bytes: bytes)
        types.add(type, bytes: bytes)
        churn.add(RecordName(zone: zone, name: ExactName(text: String(decoding: name, as: UTF8.self))))
    }
}
