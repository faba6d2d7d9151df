import StrataModel
import StrataStore

/// A record, or one of its fields, whose changes are reported.
///
/// ```swift
/// let rank = Watch(RecordID("note-1", zone: ZoneID("Notes")), field: "rank", in: DatabaseID(.private), as: anna)
/// ```
public struct Watch: Sendable {
    public var record: RecordID
    /// Nil for the whole record, which changes with each version.
    public var field: String?
    public var database: DatabaseID
    public var actor: Actor

    public init(_ record: RecordID, field: String? = nil, in database: DatabaseID, as actor: Actor) {
        (self.record, self.field, self.database, self.actor) = (record, field, database, actor)
    }

    /// Returns the change between two offsets; nil if there is none.
    func change(in store: Store, from old: UInt64, to new: UInt64) throws -> RecordDifference? {
        let snapshot = store.snapshot()
        let before = try snapshot.record(record, asOf: old, in: database, as: actor)
        let after = try snapshot.record(record, asOf: new, in: database, as: actor)
        guard before?.version != after?.version else { return nil }
        if let field, FieldValue.isSame(try before?.fields[field], try after?.fields[field]) { return nil }
        return RecordDifference(record, in: database, before: before, after: after)
    }
}

/// A change of a watched record or field.
public struct WatchChange: Sendable {
    /// The number that the stepper gave the watch.
    public let number: Int
    public let watch: Watch
    /// The whole record, before and after.
    public let difference: RecordDifference

    /// The value of a watched field before the change.
    public var before: FieldValue? { get throws { try watch.field.flatMap { try difference.before?.fields[$0] } } }
    public var after: FieldValue? { get throws { try watch.field.flatMap { try difference.after?.fields[$0] } } }
}
