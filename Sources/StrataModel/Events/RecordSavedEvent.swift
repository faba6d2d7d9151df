/// The event that saves a record, as a plain value (docs/format.md §18). ``RecordSavedView`` reads parts of an encoded
/// one.
///
/// ```swift
/// var event = RecordSavedEvent(.create, RecordKey(zone: 1, name: "note-1"), type: 2)
/// event.fields = [FieldChange(1, .string("Groceries"))]
/// envelope.events.append(try event.event())
/// ```
package struct RecordSavedEvent: Sendable, Hashable {
    package enum Change: UInt8, Sendable, CaseIterable {
        /// The record does not exist, or was deleted.
        case create
        case update
        /// A new version with the same fields, because a child was saved.
        case touch
    }

    package var change: Change
    package var record: RecordKey
    package var type: UInt64
    package var policy: SavePolicy
    /// True if fields and links are complete, false if they are only the changes.
    package var isFull: Bool
    /// True if fields and links have been erased since.
    package internal(set) var isErased = false
    /// The previous version of the record.
    package var previous: Version?
    /// The version that the client specified.
    package var base: Version?
    /// The original position of the event in the log; only in a base.
    package var original: Version?
    /// The number of log events since the last full one; only in a base.
    package var eventsSinceFull = 0
    /// The time of modification; nil for the commit's time or, in a touch, for an unchanged time.
    package var modified: Int64?
    package var modifiedBy: UInt64?
    package var modifiedWith: UInt64?
    package var created: Int64?
    package var createdBy: UInt64?
    package var parent: LinkChange
    /// True if the user who set the parent lacked write permission on it (docs/rules.md §5.12).
    package var isParentLoose = false
    package var share: LinkChange
    /// The sent fields, in the order of their ordinals.
    package var fields: [FieldChange]

    /// Creates an event that is full if it is a creation. The other kinds become full by setting ``isFull``.
    package init(
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

    /// The same event without the record's values: no fields, no links.
    package var erased: RecordSavedEvent {
        var event = self
        event.isErased = true
        (event.fields, event.parent, event.isParentLoose, event.share) = ([], .kept, false, .kept)
        return event
    }
}

/// The keys of the event's keyed fields.
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
