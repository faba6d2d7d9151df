import StrataLog
import StrataModel
import StrataStore
import StrataTree
import StrataViews

/// Reads the commits of a range once, and tracks which records match the predicate. It keeps only the fields that
/// decide, and only of records that a commit touches.
struct BisectionFold {
    private let matcher: BisectionMatcher
    private let zones: Set<UInt64>
    private let beginning: Snapshot?
    private var records: FollowedRecords
    /// The followed records that matched after the previous commit, by their numbers.
    private var holding: Set<Int> = []
    /// The number of matching records that no commit has touched, in each zone that has been there since the beginning.
    private var untouched: [UInt64: Int] = [:]
    /// The number of records that match the predicate at the beginning.
    private(set) var countAtStart = 0
    private var change = BisectionChange(at: 0, from: 0)

    /// - Parameters:
    ///   - zones: the zones whose records are tested.
    ///   - name: the only name of records; nil for all.
    ///   - beginning: the state before the first commit; nil if it is empty, or its records are added one by one.
    init(
        _ matcher: BisectionMatcher, in zones: Set<UInt64>, named name: [UInt8]? = nil, from beginning: Snapshot? = nil
    ) {
        (self.matcher, self.zones, self.beginning) = (matcher, zones, beginning)
        records = FollowedRecords(
            FollowedRecords.Choice(zones: zones, type: matcher.context.type, name: name), keeping: matcher.fields)
    }

    /// The number of offsets read between two calls of the pulse.
    private static let pulseOffsets: UInt64 = 1_024

    /// Calls `body` with the change that each commit makes which `next` returns.
    mutating func run(
        _ pulse: StepperPulse, _ next: () throws -> Commit?, _ body: (BisectionChange) throws -> Void
    ) throws {
        try countBeginning()
        change = BisectionChange(at: 0, from: countAtStart)
        var followed = records
        // The only copy of the states.
        records = FollowedRecords()
        var asked: UInt64?
        while let commit = try next() {
            let last = asked ?? commit.offset
            asked = commit.offset - last >= Self.pulseOffsets ? commit.offset : last
            if asked != last, !pulse(commit.offset) { throw StepperInterruption() }
            change = BisectionChange(at: commit.offset, from: change.after)
            try followed.apply(commit) { zone, name, place in try start(zone, name, place) }
            for zone in followed.ended { try end(zone, followed) }
            for record in followed.touched { try judge(record, followed) }
            try body(change)
        }
    }

    // MARK: The beginning

    private mutating func countBeginning() throws {
        guard let beginning else { return }
        for (zone, row) in try beginning.zoneRows(of: matcher.context.database)
        where row.status == .alive && zones.contains(zone) {
            var count = 0
            try beginning.forEachRecord(of: zone) { name, state in
                if try matcher.holds(zone: zone, name: [UInt8](name), state) { count += 1 }
                return true
            }
            untouched[zone] = count
            countAtStart += count
        }
    }

    /// Adds a record that exists at the beginning.
    mutating func add(_ record: RecordKey, _ state: [UInt8]) throws {
        let name = Array(record.name.utf8)
        guard try state.withUnsafeBytes({ try RecordStateView($0, in: 0..<$0.count).type() }) == matcher.context.type
        else { return }
        let place = records.add(name, in: record.zone, state)
        guard try matcher.holds(zone: record.zone, name: name, state) else { return }
        holding.insert(place)
        countAtStart += 1
    }

    /// Returns the state at the beginning of a record touched for the first time; nil if it is of another type.
    private mutating func start(_ zone: UInt64, _ name: [UInt8], _ place: Int) throws -> [UInt8]? {
        guard let count = untouched[zone], let beginning else { return nil }
        let key = RecordKey(zone: zone, name: String(decoding: name, as: UTF8.self))
        let state = try beginning.withRecord(key) { state -> [UInt8]? in
            let isOfType = try RecordStateView(state, in: 0..<state.count).type() == matcher.context.type
            return isOfType ? [UInt8](state) : nil
        }
        guard let state = state.flatMap(\.self) else { return nil }
        if try matcher.holds(zone: zone, name: name, state) {
            holding.insert(place)
            untouched[zone] = count - 1
        }
        return state
    }

    // MARK: Commits

    private mutating func judge(_ record: FollowedRecords.Touched, _ followed: FollowedRecords) throws {
        let holds = try matcher.holds(zone: record.zone, name: record.name, followed.state(at: record.place))
        guard holds != holding.contains(record.place) else { return }
        let event = followed.event(at: record.place)
        if holds {
            holding.insert(record.place)
            change.add(record.zone, record.name, by: event)
        } else {
            holding.remove(record.place)
            change.remove(record.zone, record.name, by: event)
        }
    }

    /// Ends all records of a deleted zone.
    private mutating func end(_ ended: FollowedRecords.EndedZone, _ followed: FollowedRecords) throws {
        if let count = untouched.removeValue(forKey: ended.zone), count > 0,
            let name = try firstUntouched(of: ended.zone, followed)
        {
            change.remove(ended.zone, name, by: ended.event, count: count)
        }
        for record in ended.records where holding.remove(record.place) != nil {
            change.remove(ended.zone, record.name, by: ended.event)
        }
    }

    /// Returns the name of a matching record that no commit but the deletion of its zone touched.
    private func firstUntouched(of zone: UInt64, _ followed: FollowedRecords) throws -> [UInt8]? {
        var found: [UInt8]?
        try beginning?.forEachRecord(of: zone) { nameBytes, state in
            let name = [UInt8](nameBytes)
            if try !followed.isFollowed(name, in: zone) && matcher.holds(zone: zone, name: name, state) { found = name }
            return found == nil
        }
        return found
    }
}
