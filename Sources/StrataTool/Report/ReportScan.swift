import StrataLog
import StrataModel

/// The data for a report, gathered in one pass over the commits in bounded memory.
struct ReportScan {
    let range: ClosedRange<UInt64>?
    private(set) var statistics: LogStatistics
    private(set) var stored: StoredBytes
    /// Nil if there are no commits.
    private(set) var timeline: ReportTimeline?
    private(set) var refusals = ReportRefusals()
    private(set) var shares = ReportShares()
    private(set) var latest: ReportLatest
    /// The records with requested names.
    private(set) var wanted: [RecordKey] = []
    /// The damage that keeps a part from being read.
    private(set) var damage: StrataError?
    /// The intact part of the store.
    private(set) var store: StoreAccess

    /// The maximum number of records with requested names to hold.
    private static let maximumWanted = 1_000
    private let wantedNames: Set<ExactName>

    init(_ store: StoreAccess, _ request: ReportRequest) throws {
        var store = store
        self.store = store
        let range = try CommitRange(request.arguments, &store, by: ReportCommand.name)
        var last = min(range.last, store.reader.end.offset)
        // Commits that arrive while the report is written are not included.
        if range.latestTime < Int64.max, let younger = try store.firstOffset(notBefore: range.latestTime + 1) {
            last = min(last, younger - 1)
        }
        self.range = range.first <= last ? range.first...last : nil
        var names = KnownNames()
        let nameDamage = try names.addAll(of: store, before: range.first)
        statistics = LogStatistics(zone: request.zone, names: names)
        stored = try StoredBytes(store)
        latest = ReportLatest(capacity: request.mostRecords)
        wantedNames = Set(request.records.map { ExactName(text: $0) })
        var source = try CommitSource(store, from: range.first)
        if let range = self.range {
            let lastTime = Self.time(of: range.upperBound, in: store)
            while source.nextOffset <= range.upperBound, let commit = try source.next() {
                add(commit, lastTime: lastTime)
            }
            stored.finish()
        }
        self.store = source.store
        damage = source.store.damage ?? nameDamage
    }

    /// Returns the time of the last commit in the range if it can be read, otherwise of the last commit in the log.
    private static func time(of offset: UInt64, in store: StoreAccess) -> Int64 {
        ((try? store.reader.commit(at: offset)) ?? nil)?.time ?? store.reader.endTime ?? 0
    }

    private mutating func add(_ commit: Commit, lastTime: Int64) {
        let countBefore = statistics.commits.count
        statistics.add(commit)
        stored.add(commit)
        guard statistics.commits.count > countBefore else { return }
        var zones: Set<UInt64> = []
        var kinds: Set<UInt64> = []
        var hasShares = false
        // Events that cannot be decoded are counted with the statistics.
        try? commit.payload.withUnsafeBytes { payload in
            var walker = try EventWalker(payload)
            while let event = try walker.next() {
                let version = Version(offset: commit.offset, eventIndex: UInt32(walker.eventIndex - 1))
                let body = UnsafeRawBufferPointer(rebasing: payload[event.body])
                hasShares = try hasShares || isOfShare(event.kind, body)
                if try add(event.kind, body, at: version, zones: &zones) {
                    kinds.insert(event.kind.rawValue)
                }
            }
            if statistics.zone == nil { try refusals.add(shape: walker.header().requestShape, at: commit.offset) }
            if hasShares { try shares.add(commit, statistics.names, zone: statistics.zone) }
        }
        var timeline = timeline ?? ReportTimeline(from: commit.time, through: lastTime)
        timeline.add(commit.time, zones: zones, kinds: kinds)
        self.timeline = timeline
    }

    /// Returns true if the event is one of those that ``ReportShares`` counts.
    private func isOfShare(_ kind: EventKind, _ body: UnsafeRawBufferPointer) throws -> Bool {
        if kind == .shareSaved || kind == .memberChanged { return true }
        guard kind == .recordSaved else { return false }
        return statistics.names.recordType(try RecordEvent(kind, body).type) == ShareState.recordType
    }

    /// Returns true if the event is part of the report.
    private mutating func add(
        _ kind: EventKind, _ body: UnsafeRawBufferPointer, at version: Version, zones: inout Set<UInt64>
    ) throws -> Bool {
        guard kind.isOfZone else {
            if statistics.zone != nil { return false }
            if kind == .requestRefused { refusals.add(requestAt: version) }
            return true
        }
        var reader = ByteReader(body)
        let zone = try reader.readEventZone()
        if let wanted = statistics.zone, statistics.names.zone(zone) != wanted { return false }
        zones.insert(zone)
        guard kind.isOfRecord else { return true }
        let record = try RecordEvent(kind, body).key
        latest.add(record)
        if wantedNames.contains(ExactName(text: record.name)), wanted.count < Self.maximumWanted,
            !wanted.contains(record)
        {
            wanted.append(record)
        }
        return true
    }
}

/// The records that changed last, up to a limit.
struct ReportLatest {
    private let capacity: Int
    private var places: [RecordKey: UInt64] = [:]
    private var count: UInt64 = 0

    init(capacity: Int) { self.capacity = capacity }

    mutating func add(_ record: RecordKey) {
        guard capacity > 0 else { return }
        count += 1
        places[record] = count
        // Dropping many records together makes this rare.
        guard places.count > capacity * 4 else { return }
        let oldest = places.values.sorted(by: >)[capacity - 1]
        places = places.filter { $0.value >= oldest }
    }

    /// The last record first.
    var records: [RecordKey] { places.sorted { $0.value > $1.value }.prefix(capacity).map(\.key) }
}
