import StrataModel
import StrataStore

/// The event that gave each field of a record its current value.
struct RecordTimelineBlame {
    struct Line {
        let key: TimelineChange.Key
        let value: FieldValue
        let version: Version
        let time: Int64
        let user: UInt64
        let device: UInt64
        /// True if this event is known to have changed the value; otherwise an earlier one may have set it.
        let isExact: Bool

        var offset: UInt64 { version.offset }
    }

    private var found: [TimelineChange.Key: Line] = [:]
    /// Nil if the record has no steps.
    private var last: TimelineStep?
    /// True if the record may have other fields.
    private var isPartial = false

    /// True after a step with no earlier state: the record's creation or its deletion.
    private var hasBegun = false

    /// The number of events to read first; each further attempt reads ``growth`` times as many.
    private static let firstCount = 16
    private static let growth = 8

    /// Goes back no further than the oldest event that gave a field its current value.
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

    /// True if every field of the record has a line.
    private var isComplete: Bool {
        get throws {
            if hasBegun { return true }
            guard let state = try last?.after.decoded() else { return false }
            var keys = state.fields.map { TimelineChange.Key.field($0.field) }
            if state.parent != nil { keys.append(.parent) }
            if state.share != nil { keys.append(.share) }
            return keys.allSatisfy { found[$0] != nil }
        }
    }

    /// Parent and share, then fields by ordinal.
    var lines: [Line] { found.values.sorted { $0.key.rank < $1.key.rank } }

    /// Adds the next step of the record's history.
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

    /// Explains why the blame is empty or incomplete; nil if it is complete.
    func problem(_ target: RecordTimelineTarget) -> String? {
        guard let last else { return target.problem }
        switch last.kind {
        case .delete: return "the record was deleted by commit \(last.version.offset)"
        case .erase: return "the record was erased by commit \(last.version.offset)"
        case .zoneDeleted: return "the record was deleted with its zone by commit \(last.version.offset)"
        case .base, .create, .update, .touch:
            if last.isErased { return "the content of the record was erased later" }
            return isPartial ? "the record may have more fields: its earlier state is not in the log" : nil
        }
    }
}

extension TimelineChange.Key {
    fileprivate var rank: UInt64 {
        switch self {
        case .parent: 0
        case .share: 1
        case .field(let ordinal): 2 + UInt64(ordinal)
        }
    }
}
