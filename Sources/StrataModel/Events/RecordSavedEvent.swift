/// That a record was saved, as a plain value (docs/format.md §18). ``RecordSavedView`` reads parts of an encoded one.
///
/// ```swift
/// var event = RecordSavedEvent(.create, RecordKey(zone: 1, name: "note-1"), type: 2)
/// event.fields = [FieldChange(1, .string("Groceries"))]
/// envelope.events.append(try event.event())
/// ```
public struct RecordSavedEvent: Sendable, Hashable {
    public enum Change: UInt8, Sendable, CaseIterable {
        /// There was no such record, or no longer.
        case create
        case update
        /// A new version without other fields: a child was saved.
        case touch
    }

    public var change: Change
    public var record: RecordKey
    public var type: UInt64
    public var policy: SavePolicy
    /// Whether fields and links are all that the record has, rather than what changes.
    public var isFull: Bool
    /// Whether fields and links were taken away since.
    public internal(set) var isErased = false
    /// The version of the record before this one.
    public var previous: Version?
    /// The version that the client named.
    public var base: Version?
    /// In a base, the place that the event had in the log.
    public var original: Version?
    /// In a base, how many events of the log there are since the last full one.
    public var eventsSinceFull = 0
    /// Nil: the commit's time, or unchanged by a touch.
    public var modified: Int64?
    public var modifiedBy: UInt64?
    public var modifiedWith: UInt64?
    public var created: Int64?
    public var createdBy: UInt64?
    public var parent: LinkChange
    /// True if the user who set the parent lacked write permission on it (docs/rules.md §5.12).
    public var isParentLoose = false
    public var share: LinkChange
    /// What was sent, in the order of the fields' ordinals.
    public var fields: [FieldChange]

    /// A creation is full; the other kinds are not unless they are made so.
    public init(
        _ change: Change, _ record: RecordKey, type: UInt64, policy: SavePolicy = .ifServerRecordUnchanged,
        previous: Version? = nil, base: Version? = nil, parent: LinkChange = .kept, fields: [FieldChange] = []
    ) {
        self.change = change
        self.record = record
        self.type = type
        self.policy = policy
        isFull = change == .create
        self.previous = previous
        self.base = base
        self.parent = parent
        share = .kept
        self.fields = fields
    }

    /// The same event without what the record held: no fields, no links.
    public var erased: RecordSavedEvent {
        var event = self
        event.isErased = true
        (event.fields, event.parent, event.isParentLoose, event.share) = ([], .kept, false, .kept)
        return event
    }
}

/// Keys of the event's keyed fields.
enum SavedField {
    static let original: UInt64 = 2
    static let modified: UInt64 = 4
    static let modifiedBy: UInt64 = 6
    static let modifiedWith: UInt64 = 8
    static let created: UInt64 = 10
    static let createdBy: UInt64 = 12
    static let parent: UInt64 = 14
    static let share: UInt64 = 16
    static let eventsSinceFull: UInt64 = 18
    static let looseParent: UInt64 = 20
}
