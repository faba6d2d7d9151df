import StrataModel
import StrataStore

/// A record, or one of its fields, of which somebody wants to be told whenever it becomes another.
///
/// ```swift
/// let rank = Watch(RecordID("note-1", zone: ZoneID("Notes")), field: "rank", in: DatabaseID(.private), as: anna)
/// ```
public struct Watch: Sendable {
    public var record: RecordID
    /// Nil for the whole record: each of its versions is another.
    public var field: String?
    public var database: DatabaseID
    public var actor: Actor

    public init(_ record: RecordID, field: String? = nil, in database: DatabaseID, as actor: Actor) {
        (self.record, self.field, self.database, self.actor) = (record, field, database, actor)
    }

    /// What it is between two offsets; nil if it is the same at both.
    func change(in store: Store, from old: UInt64, to new: UInt64) throws -> RecordDifference? {
        let snapshot = store.snapshot()
        let before = try snapshot.record(record, asOf: old, in: database, as: actor)
        let after = try snapshot.record(record, asOf: new, in: database, as: actor)
        guard before?.version != after?.version else { return nil }
        if let field, FieldValue.isSame(try before?.fields[field], try after?.fields[field]) { return nil }
        return RecordDifference(record, in: database, before: before, after: after)
    }
}

/// What became of something that is watched.
public struct WatchChange: Sendable {
    /// That the stepper gave the watch.
    public let number: Int
    public let watch: Watch
    /// The whole record, before and after.
    public let difference: RecordDifference

    /// The value before, of a watched field.
    public var before: FieldValue? { get throws { try watch.field.flatMap { try difference.before?.fields[$0] } } }
    public var after: FieldValue? { get throws { try watch.field.flatMap { try difference.after?.fields[$0] } } }
}
