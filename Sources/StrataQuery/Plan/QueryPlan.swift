import StrataModel
import StrataViews

/// A plan for executing a query.
///
/// ```swift
/// print(try store.query(query, in: database, as: anna).plan.text)
/// ```
package struct QueryPlan: Sendable {
    /// The source of the records to examine.
    indirect enum Source: Hashable, Sendable {
        case nothing
        /// Keys of records, in order.
        case records([[UInt8]])
        case index(IndexMatch, isReversed: Bool = false)
        /// The records of any of the sources.
        case union([Source])
        /// The records of both sources; the first source is the smaller one.
        case intersection(Source, Source)
        /// The cells around a point, nearest first.
        case nearest(IndexID, GeoCircle)
        /// All records of the zones.
        case zones([UInt64])
    }

    /// The way in which the order is established.
    enum Sorting: String, Sendable {
        /// The source is in order.
        case none = "in order"
        /// The source is in order, except for records with the same first sort key.
        case groups = "sorted within equal values"
        /// The records' keys are sorted before any record is read.
        case keys = "keys sorted"
        /// Every record is read, and the first ones in order are kept.
        case all = "sorted"
    }

    var source: Source
    /// The zones in which rows are sought.
    var zones = SearchedZones()
    var sorting: Sorting
    var order: QueryOrder
    /// The predicate that is evaluated on each record of the source.
    var residual: PredicateTree
    /// The approximate number of rows or records of the source.
    package internal(set) var estimatedRows: Double = 0
    /// The approximate number of records to examine for a page.
    var estimatedRecords: Double = 0
    /// Missing indexes that would have helped.
    package internal(set) var missingIndexes: [MissingIndex] = []
    /// True if the figures count records that the actor may not read.
    package var countsHiddenRecords = false
    /// Notes about the query for the caller.
    package internal(set) var notes: [String] = []
    /// The actual figures; nil before execution.
    package internal(set) var actual: Actual?
    /// Describes the plan on demand; nil if nothing can match.
    var writer: PlanWriter?

    /// A field without an index that a query could have used.
    package struct MissingIndex: Hashable, Sendable {
        package var key: String
        package var indexes: SchemaField.Indexes
    }

    /// The actual figures of an execution.
    package struct Actual: Sendable, Hashable {
        /// The number of index rows.
        package var rowsRead = 0
        package var recordsRead = 0
        package var matches = 0
    }

    /// The plan of a query that nothing can match.
    package static var empty: QueryPlan {
        QueryPlan(source: .nothing, sorting: .none, order: QueryOrder(keys: []), residual: .constant(false))
    }

    /// The steps in words.
    package var steps: [String] { writer?.lines(self) ?? ["nothing can match"] }

    /// The plan in words, with the actual figures and the notes.
    package var text: String {
        var lines = steps
        if let actual {
            lines.append("read: \(actual.rowsRead) rows, \(actual.recordsRead) records; \(actual.matches) matches")
        }
        return (lines + notes.map { "note: " + $0 }).joined(separator: "\n")
    }
}
