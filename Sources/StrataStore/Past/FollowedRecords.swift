import StrataLog
import StrataModel
import StrataViews

/// Records whose states are followed from commit to commit, without the rest of the store.
///
/// ```swift
/// var followed = FollowedRecords()
/// let place = followed.add(name, in: zone, beginning)
/// while let commit = try cursor.next() { try followed.apply(commit) }
/// print(followed.state(at: place)?.count ?? 0)
/// ```
package struct FollowedRecords {
    /// The records that are followed as soon as a commit touches them, in addition to those that were added.
    package struct Choice {
        let zones: Set<UInt64>
        let type: UInt64
        /// Nil for any name.
        let name: [UInt8]?

        package init(zones: Set<UInt64>, type: UInt64, name: [UInt8]? = nil) {
            (self.zones, self.type, self.name) = (zones, type, name)
        }

        func contains(_ record: RecordEvent) -> Bool {
            record.type == type && zones.contains(record.zone) && (name.map(record.nameBytes.elementsEqual) ?? true)
        }
    }

    /// A followed record that a commit touched.
    package struct Touched {
        package let zone: UInt64
        package let name: [UInt8]
        /// The number of the record, by which it is known here.
        package let place: Int
    }

    /// A zone that a commit deleted.
    package struct EndedZone {
        package let zone: UInt64
        /// The event that deleted the zone.
        package let event: UInt32
        /// The followed records that it had.
        package let records: [(name: [UInt8], place: Int)]
    }

    private struct Entry {
        /// Empty if there is no record.
        var state: [UInt8] = []
        /// The last commit that touched the record, and the last event of that commit that did.
        var offset: UInt64 = 0
        var event: UInt32 = 0
    }

    private let choice: Choice?
    private var merger = RecordMerger()
    private var writer = ByteWriter(reserving: 1_024)
    private var places: [UInt64: [[UInt8]: Int]] = [:]
    private var entries: [Entry] = []
    /// The bytes of all states.
    private(set) var byteCount = 0
    /// The records that the last commit touched, and the zones that it deleted.
    package private(set) var touched: [Touched] = []
    package private(set) var ended: [EndedZone] = []

    /// - Parameters:
    ///   - choice: the records to follow once they are touched; nil for none but those that are added.
    ///   - fields: the only fields to keep; nil for all.
    package init(_ choice: Choice? = nil, keeping fields: [UInt32]? = nil) {
        self.choice = choice
        merger.keptFields = fields
    }

    /// Adds a record that no commit has touched so far, and returns its number.
    @discardableResult
    package mutating func add(_ name: [UInt8], in zone: UInt64, _ state: [UInt8]?) -> Int {
        let place = entries.count
        entries.append(Entry(state: state ?? []))
        byteCount += state?.count ?? 0
        places[zone, default: [:]][name] = place
        return place
    }

    package func isFollowed(_ name: [UInt8], in zone: UInt64) -> Bool { places[zone]?[name] != nil }

    /// Returns the encoded state of a record; nil if there is none.
    package func state(at place: Int) -> [UInt8]? { entries[place].state.isEmpty ? nil : entries[place].state }

    /// Returns the last event that touched a record, in its commit.
    package func event(at place: Int) -> UInt32 { entries[place].event }

    /// Returns the states of all records, by their numbers.
    func states() -> [[UInt8]?] { entries.indices.map { state(at: $0) } }

    // MARK: Commits

    /// Applies the next commit.
    ///
    /// - Parameter start: returns the state of a record of the choice before the first commit that touches it; nil if
    ///   there is none.
    package mutating func apply(
        _ commit: Commit,
        adding start: (_ zone: UInt64, _ name: [UInt8], _ place: Int) throws -> [UInt8]? = {
            _, _, _ in nil
        }
    ) throws {
        touched.removeAll(keepingCapacity: true)
        ended.removeAll(keepingCapacity: true)
        do { try commit.payload.withUnsafeBytes { try apply($0, commit, start) } } catch let error as StrataError {
            throw error.located(offset: commit.offset)
        }
    }

    private mutating func apply(
        _ payload: UnsafeRawBufferPointer, _ commit: Commit,
        _ start: (_ zone: UInt64, _ name: [UInt8], _ place: Int) throws -> [UInt8]?
    ) throws {
        var walker = try EventWalker(payload)
        var header: EnvelopeHeader?
        while let event = try walker.next() {
            let version = Version(offset: commit.offset, eventIndex: UInt32(walker.eventIndex - 1))
            let body = UnsafeRawBufferPointer(rebasing: payload[event.body])
            switch event.kind {
            case .recordSaved, .recordDeleted, .recordErased:
                let record = try RecordEvent(event.kind, body)
                guard choice.map({ $0.contains(record) }) ?? true, try record.changesRecord,
                    let place = try touch([UInt8](record.nameBytes), in: record.zone, at: version, start)
                else { continue }
                guard event.kind == .recordSaved else {
                    set([], at: place)
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
                if choice.map({ $0.zones.contains(zone) }) ?? true { end(zone, by: version.eventIndex) }
            default: continue
            }
        }
    }

    /// Returns the number of a record that an event touches; nil if it is not followed.
    private mutating func touch(
        _ name: [UInt8], in zone: UInt64, at version: Version,
        _ start: (_ zone: UInt64, _ name: [UInt8], _ place: Int) throws -> [UInt8]?
    ) throws -> Int? {
        var place = places[zone]?[name]
        if place == nil, choice != nil {
            let isAnew = ended.contains { $0.zone == zone }
            place = add(name, in: zone, isAnew ? nil : try start(zone, name, entries.count))
        }
        guard let place else { return nil }
        if entries[place].offset != version.offset { touched.append(Touched(zone: zone, name: name, place: place)) }
        entries[place].offset = version.offset
        entries[place].event = version.eventIndex
        return place
    }

    private mutating func save(_ event: RecordSavedView, over place: Int, at eventPlace: EventPlace) throws {
        writer.removeAll()
        let old = entries[place].state
        try old.withUnsafeBytes { state in
            try merger.apply(
                event, at: eventPlace, to: state.isEmpty ? nil : state, startsHere: state.isEmpty, into: &writer)
        }
        // An exact copy, without spare capacity.
        set(writer.bytes.withUnsafeBytes { [UInt8]($0) }, at: place)
    }

    private mutating func set(_ state: [UInt8], at place: Int) {
        byteCount += state.count - entries[place].state.count
        entries[place].state = state
    }

    /// Ends all records of a deleted zone.
    private mutating func end(_ zone: UInt64, by event: UInt32) {
        let records = (places[zone] ?? [:]).filter { !entries[$0.value].state.isEmpty }
        for place in records.values { set([], at: place) }
        ended.append(EndedZone(zone: zone, event: event, records: records.map { (name: $0.key, place: $0.value) }))
    }
}
