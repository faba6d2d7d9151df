import StrataModel
import StrataQuery
import StrataRules

/// What is asked of each state: whether a record fulfils a predicate.
///
/// ```swift
/// let overdue = try PredicateParser.parse("rank > 3")
/// var question = BisectionQuestion("Note", where: overdue, in: DatabaseID(.private), as: anna)
/// question.record = "note-1"
/// ```
public struct BisectionQuestion: Sendable {
    public var type: String
    public var predicate: PredicateTree
    public var database: DatabaseID
    public var actor: Actor
    /// Nil for all zones of the database, with those that are gone.
    public var zone: ZoneID?
    /// Only the record of this name, or in several zones those of this name; nil for any record of the type.
    public var record: String?

    public init(
        _ type: String, where predicate: PredicateTree, in database: DatabaseID, zone: ZoneID? = nil,
        record: String? = nil, as actor: Actor
    ) {
        (self.type, self.predicate, self.database, self.zone) = (type, predicate, database, zone)
        (self.record, self.actor) = (record, actor)
    }
}
