import StrataModel
import StrataStore

/// The event that gave each field of a record its current value. The state of a share counts as several fields.
struct RecordTimelineBlame {
    struct Line {
        let key: TimelineChange.Key
        /// The part of the state of a share; nil for a field or a link.
        fileprivate(set) var part: SharePart?
        var value: FieldValue
        let version: Version
        let time: Int64
        let user: UInt64
        let device: UInt64
        /// True if this event is known to have changed the value; otherwise an earlier one may have set it.
        let isExact: Bool

        var offset: UInt64 { version.offset }
    }

    private struct Key: Hashable {
        let key: TimelineChange.Key
        var part: SharePart.ID?
    }

    private var found: [Key: Line] = [:]
    /// The parts of the share's state after the last step, in order.
    private var parts: [SharePart] = []
    private let names: KnownNames
    /// Nil if the record has no steps.
    private var last: TimelineStep?
    /// True if the record may have other fields.
    private var isPartial = false

    /// True after a step with no earlier state: the record's creation or its deletion.
    private var hasBegun = false

    /// The number of events to read first; each further attempt reads ``growth`` times as many.
    private static let firstCount = 16
    private static let growth = 8

    init(_ names: KnownNames) { self.names = names }

    /// Goes back no further than the oldest event that gave a field its current value.
    static func of(
        _ record: RecordKey, in store: StoreAccess, through last: UInt64, _ names: KnownNames
    ) throws -> (blame: RecordTimelineBlame, damage: StrataError?) {
        var wanted = firstCount
        while true {
            var (timeline, count) = try RecordTimeline.ofLast(wanted, of: record, in: store, through: last)
            var blame = RecordTimelineBlame(names)
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
            return keys.allSatisfy { key in
                guard CommitPatchText.isShareState(key, names), !parts.isEmpty else {
                    return found[Key(key: key)] != nil
                }
                return parts.allSatisfy { found[Key(key: key, part: $0.id)] != nil }
            }
        }
    }

    /// Parent and share, then fields by ordinal.
    var lines: [Line] {
        var places: [SharePart.ID: Int] = [:]
        for (place, part) in parts.enumerated() { places[part.id] = place }
        func rank(_ line: Line) -> (UInt64, Int) { (line.key.rank, line.part.flatMap { places[$0.id] } ?? 0) }
        return found.values.sorted { rank($0) < rank($1) }
    }

    /// Adds the next step of the record's history.
    mutating func add(_ entry: RecordTimeline.Entry) {
        let step = entry.step
        switch step.kind {
        case .create, .delete, .erase, .zoneDeleted: (found, parts, isPartial, hasBegun) = ([:], [], false, true)
        case .base, .update, .touch: break
        }
        for change in step.changes {
            var isExact = step.kind != .base
            if case .unknown = change.before, case .known = step.after { isExact = false }
            add(change, entry, isExact: isExact)
        }
        if case .unknown = step.after { isPartial = true } else { isPartial = false }
        last = step
    }

    private mutating func add(_ change: TimelineChange, _ entry: RecordTimeline.Entry, isExact: Bool) {
        func line(_ part: SharePart?, _ value: FieldValue) -> Line {
            Line(
                key: change.key, part: part, value: value, version: entry.step.version, time: entry.time,
                user: entry.user, device: entry.device, isExact: isExact)
        }
        guard CommitPatchText.isShareState(change.key, names), let after = ShareState(change.after) else {
            found[Key(key: change.key)] = change.after.map { line(nil, $0) }
            return
        }
        var known: [SharePart.ID: String] = [:]
        if case .value(let value) = change.before, let before = ShareState(value) {
            for part in SharePart.all(of: before) { known[part.id] = part.value }
        }
        parts = SharePart.all(of: after)
        for gone in Set(known.keys).subtracting(parts.map(\.id)) { found[Key(key: change.key, part: gone)] = nil }
        for part in parts {
            let key = Key(key: change.key, part: part.id)
            if known[part.id] == part.value {
                // An address may have become a user.
                found[key]?.part = part
            } else {
                found[key] = line(part, .string(part.value))
            }
        }
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
