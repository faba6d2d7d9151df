import StrataModel

/// Which event gave each field of a record the value that it has.
struct RecordTimelineBlame {
    struct Line {
        let key: RecordTimelineChange.Key
        let value: FieldValue
        let version: Version
        let time: Int64
        let user: UInt64
        let device: UInt64
        /// Whether it had another value before, or none; if not, nobody knows.
        let isExact: Bool

        var offset: UInt64 { version.offset }
    }

    private var found: [RecordTimelineChange.Key: Line] = [:]
    /// Nil if nothing was told of the record.
    private var last: RecordTimelineStep?
    /// Whether there may be fields of which nothing is told.
    private var isPartial = false

    /// There was an event in front of which the record was not, or behind which nothing of it was left.
    private var hasBegun = false

    /// So many events are looked at first, and then always so many times more.
    private static let firstCount = 16
    private static let growth = 8

    /// Goes back no further than to the oldest event that gave a field the value that it has.
    static func of(
        _ record: RecordKey, in store: StoreAccess, through last: UInt64
    ) throws -> (blame: RecordTimelineBlame, damage: StrataError?) {
        var wanted = firstCount
        while true {
            var (timeline, count) = try RecordTimeline.ofLast(wanted, of: record, in: store, through: last)
            var blame = RecordTimelineBlame()
            while let entry = try timeline.next() { blame.add(entry) }
            if try count < wanted || blame.isComplete { return (blame, timeline.damage) }
            wanted *= growth
        }
    }

    /// Whether it tells of each field that the record has.
    private var isComplete: Bool {
        get throws {
            if hasBegun { return true }
            guard let state = try last?.after.decoded() else { return false }
            var keys = state.fields.map { RecordTimelineChange.Key.field($0.field) }
            if state.parent != nil { keys.append(.parent) }
            if state.share != nil { keys.append(.share) }
            return keys.allSatisfy { found[$0] != nil }
        }
    }

    /// Parent and share, then fields in the order of their ordinals.
    var lines: [Line] { found.values.sorted { $0.key.rank < $1.key.rank } }

    /// Takes the next step of the record's history.
    mutating func add(_ entry: RecordTimeline.Entry) {
        let step = entry.step
        switch step.kind {
        case .create, .delete, .erase, .zoneDeleted: (found, isPartial, hasBegun) = ([:], false, true)
        case .base, .update, .touch: break
        }
        for change in step.changes {
            guard let value = change.after else {
                found[change.key] = nil
                continue
            }
            var isExact = step.kind != .base
            if case .unknown = change.before, case .known = step.after { isExact = false }
            found[change.key] = Line(
                key: change.key, value: value, version: step.version, time: entry.time, user: entry.user,
                device: entry.device, isExact: isExact)
        }
        if case .unknown = step.after { isPartial = true } else { isPartial = false }
        last = step
    }

    /// Why it tells nothing, or not all; nil if it does.
    func problem(_ target: RecordTimelineTarget) -> String? {
        guard let last else { return target.problem }
        switch last.kind {
        case .delete: return "the record was deleted by commit \(last.version.offset)"
        case .erase: return "the record was erased by commit \(last.version.offset)"
        case .zoneDeleted: return "the record went with its zone, which was deleted by commit \(last.version.offset)"
        case .base, .create, .update, .touch:
            if last.isErased { return "what the record held was erased since" }
            return isPartial ? "the record may have more fields: what it was before is not in the log" : nil
        }
    }
}

extension RecordTimelineChange.Key {
    fileprivate var rank: UInt64 {
        switch self {
        case .parent: 0
        case .share: 1
        case .field(let ordinal): 2 + UInt64(ordinal)
        }
    }
}
