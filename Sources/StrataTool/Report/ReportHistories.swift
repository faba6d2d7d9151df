import StrataLog
import StrataModel
import StrataStore

/// The histories of some records, limited to the space on a page: the largest ones keep only their latest versions.
struct ReportHistories {
    /// The minimum number of versions that a record keeps unless it is dropped entirely.
    private static let leastVersions = 20
    /// The minimum size of an encoded version, which limits the number of versions to read.
    private static let leastVersionBytes = 48

    struct History {
        let record: RecordKey
        fileprivate(set) var type: UInt64 = 0
        /// The number of versions in the commits of the report.
        fileprivate(set) var versionCount = 0
        /// The number of versions already passed.
        fileprivate var passedCount = 0
        /// The encoded fields of the record itself.
        fileprivate(set) var head = ReportJSON()
        /// Oldest first.
        fileprivate(set) var versions: [ReportJSON] = []
        fileprivate(set) var byteCount = 0
        /// True if there was no room for the record.
        fileprivate(set) var isDropped = false

        /// True if no version was dropped. The base, which is not counted, may be one more.
        var hasAll: Bool { versions.count >= versionCount }
    }

    private(set) var histories: [History]
    private let places: [RecordKey: Int]
    private let names: KnownNames
    private let past: ChangeTimeline
    private let maximumBytes: Int
    /// The places of the records in each zone.
    private let placesByZone: [UInt64: [Int]]
    /// The types of the records that exist, by place, as far as the commits were read.
    private var living: [Int: UInt64] = [:]
    private var byteCount = 0
    /// The number of latest versions of a record to encode.
    private var mostVersions = 0

    /// - Parameters:
    ///   - records: the records, in order of priority.
    ///   - maximumBytes: the maximum size of the encoded histories.
    init(
        _ records: [RecordKey], in store: StoreAccess, _ range: ClosedRange<UInt64>, _ names: KnownNames,
        maximumBytes: Int
    ) throws {
        histories = records.map { History(record: $0) }
        places = Dictionary(uniqueKeysWithValues: records.enumerated().map { ($1, $0) })
        placesByZone = Dictionary(grouping: records.indices) { records[$0].zone }
        (self.names, self.maximumBytes) = (names, maximumBytes)
        past = ChangeTimeline(of: store.reader)
        guard !records.isEmpty else { return }
        try read(store, range) { histories, _, found in
            for event in found { histories.histories[event.place].versionCount += 1 }
        }
        mostVersions = Self.mostVersions(histories.map(\.versionCount), maximumBytes / Self.leastVersionBytes)
        try read(store, range) { histories, commit, found in histories.add(found, of: commit) }
    }

    /// Returns the number of latest versions per record that keeps their sum within a limit, or ``leastVersions`` if
    /// higher.
    private static func mostVersions(_ counts: [Int], _ limit: Int) -> Int {
        var (low, high) = (0, counts.max() ?? 0)
        while low < high {
            let middle = (low + high + 1) / 2
            if counts.reduce(0, { $0 + min($1, middle) }) <= limit { low = middle } else { high = middle - 1 }
        }
        return max(leastVersions, low)
    }

    // MARK: Reading

    /// An event of a listed record, or the deletion of its zone: the index in the commit, the record's place, and for a
    /// deletion of the zone the record's type.
    private typealias Found = (index: Int, place: Int, goneType: UInt64?)

    private mutating func read(
        _ store: StoreAccess, _ range: ClosedRange<UInt64>,
        _ visit: (inout ReportHistories, Commit, [Found]) -> Void
    ) throws {
        var source = try CommitSource(store, from: range.lowerBound)
        living = [:]
        while source.nextOffset <= range.upperBound, let commit = try source.next() {
            let found = events(of: commit)
            if !found.isEmpty { visit(&self, commit, found) }
        }
    }

    private mutating func events(of commit: Commit) -> [Found] {
        (try? commit.payload.withUnsafeBytes { payload in
            var walker = try EventWalker(payload)
            var found: [Found] = []
            while let event = try walker.next() {
                if event.kind == .zoneDeleted {
                    var reader = ByteReader(UnsafeRawBufferPointer(rebasing: payload[event.body]))
                    for place in placesByZone[try reader.readEventZone()] ?? [] {
                        guard let type = living.removeValue(forKey: place) else { continue }
                        found.append((walker.eventIndex - 1, place, type))
                    }
                }
                guard let record = try RecordEvent(event.kind, event.body, of: payload),
                    let place = places[try record.key]
                else { continue }
                living[place] = event.kind == .recordSaved ? record.type : nil
                found.append((walker.eventIndex - 1, place, nil))
            }
            return found
        }) ?? []
    }

    private mutating func add(_ found: [Found], of commit: Commit) {
        let wanted = found.filter { _, place, _ in
            histories[place].passedCount += 1
            return histories[place].versionCount - histories[place].passedCount < mostVersions
                && !histories[place].isDropped
        }
        guard !wanted.isEmpty, let envelope = try? Envelope(decoding: commit.payload) else { return }
        let header = envelope.header
        for (index, place, goneType) in wanted {
            if let goneType {
                if histories[place].head.bytes.isEmpty { name(place, goneType) }
                let version = Version(offset: commit.offset, eventIndex: UInt32(index))
                let origin = EventPlace(version: version, time: commit.time, user: header.user, device: header.device)
                hold(.init(TimelineStep(.zoneDeleted, version, type: goneType), of: origin, by: header), of: place)
            } else if let event = try? TimelineEvent(
                envelope.events[index], at: index, in: (commit.offset, commit.time), by: header)
            {
                add(event, of: place, header)
            }
        }
    }

    private mutating func add(_ event: TimelineEvent, of place: Int, _ header: EnvelopeHeader) {
        if histories[place].head.bytes.isEmpty || histories[place].type != event.type { name(place, event.type) }
        if histories[place].passedCount == 1, let base = (try? past.base(of: event.record, before: event)) ?? nil {
            hold(.init(base.step, of: base.header), of: place)
        }
        hold(.init(past.step(of: event), of: event.place, by: header), of: place)
    }

    /// Encodes the zone, its name and database, the type and the name.
    private mutating func name(_ place: Int, _ type: UInt64) {
        let record = histories[place].record
        let texts = [
            names.shownZone(record.zone), names.shownDatabase(ofZone: record.zone), names.shownType(type),
            Printable.escaped(record.name),
        ]
        let head = ReportJSON.list([.number(record.zone)] + texts.map(ReportJSON.text))
        take(head.bytes.count - histories[place].head.bytes.count, of: place)
        if histories[place].head.bytes.isEmpty { take(Self.recordBytes, of: place) }
        (histories[place].type, histories[place].head) = (type, head)
    }

    // MARK: Room

    /// The comma after each version. Other separators are counted with the record.
    private static let joinBytes = 1
    private static let recordBytes = 32

    private mutating func hold(_ entry: RecordTimeline.Entry, of place: Int) {
        let version = ReportVersion(entry, names).json
        histories[place].versions.append(version)
        take(version.bytes.count + Self.joinBytes, of: place)
        while byteCount > maximumBytes, makeRoom() {}
    }

    private mutating func take(_ count: Int, of place: Int) {
        histories[place].byteCount += count
        byteCount += count
    }

    /// Drops the older half of the largest record's versions. If all records have few, drops the last record.
    ///
    /// Returns false if there is nothing to drop.
    private mutating func makeRoom() -> Bool {
        let long = histories.indices.filter { histories[$0].versions.count > Self.leastVersions }
        if let largest = long.max(by: { histories[$0].byteCount < histories[$1].byteCount }) {
            let kept = max(Self.leastVersions, histories[largest].versions.count / 2)
            let dropped = histories[largest].versions.dropLast(kept)
            take(-dropped.reduce(0) { $0 + $1.bytes.count + Self.joinBytes }, of: largest)
            histories[largest].versions = Array(histories[largest].versions.suffix(kept))
            return true
        }
        guard let last = histories.lastIndex(where: { !$0.versions.isEmpty }) else { return false }
        histories[last].isDropped = true
        histories[last].versions = []
        take(-histories[last].byteCount, of: last)
        return true
    }
}

extension ReportHistories {
    /// The histories on the page.
    var told: [History] { histories.filter { !$0.versions.isEmpty } }

    /// Writes the page's data: for each record its zone, the zone's name and database, its type, name, number of
    /// versions and the encoded versions (``ReportVersion``), oldest first.
    func write(to output: Output) {
        output.write("[" as StaticString)
        for (index, history) in told.enumerated() {
            if index > 0 { output.write(UInt8(ascii: ",")) }
            let row: ReportJSON = .array([history.head, .number(history.versionCount), .array(history.versions)])
            row.bytes.withUnsafeBytes { output.write($0) }
            output.write(UInt8(ascii: "\n"))
        }
        output.write("]" as StaticString)
    }
}
