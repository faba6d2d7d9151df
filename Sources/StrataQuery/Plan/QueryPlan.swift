import StrataModel
import StrataViews

/// How a query is answered.
///
/// ```swift
/// print(try store.query(query, in: database, as: anna).plan.text)
/// ```
public struct QueryPlan: Sendable {
    /// Where the records come from that are looked at.
    indirect enum Source: Hashable, Sendable {
        case nothing
        /// Keys of records, in order.
        case records([[UInt8]])
        case index(IndexMatch, isReversed: Bool = false)
        /// What any of them leads to.
        case union([Source])
        /// What both lead to; the first is the smaller one.
        case intersection(Source, Source)
        /// Cells around a point, the nearest first.
        case nearest(IndexID, GeoCircle)
        /// All records of zones.
        case zones([UInt64])
    }

    /// How the order comes about.
    enum Sorting: String, Sendable {
        /// The source has it.
        case none = "in order"
        /// The source has it but for records with the same first key.
        case groups = "sorted within equal values"
        /// The records' keys are put in order before any record is read.
        case keys = "keys sorted"
        /// Every record is read, and the first ones in order are kept.
        case all = "sorted"
    }

    var source: Source
    var sorting: Sorting
    var order: QueryOrder
    /// What is asked of each record that the source gives.
    var residual: PredicateTree
    /// About how many rows or records the source has.
    public internal(set) var estimatedRows: Double = 0
    /// About how many records must be looked at for a page.
    var estimatedRecords: Double = 0
    /// Indexes that would have helped, and are not there.
    public internal(set) var missingIndexes: [MissingIndex] = []
    /// Lines about the query that its asker should know.
    public internal(set) var notes: [String] = []
    /// What came of it; nil before it was carried out.
    public internal(set) var actual: Actual?
    /// Puts it into words once somebody asks; nil where nothing can match.
    var writer: PlanWriter?

    /// A field without an index that a query could have used.
    public struct MissingIndex: Hashable, Sendable {
        public var key: String
        public var indexes: SchemaField.Indexes
    }

    /// What carrying out a plan took.
    public struct Actual: Sendable, Hashable {
        /// Rows of indexes.
        public var rowsRead = 0
        public var recordsRead = 0
        public var matches = 0
    }

    /// Of a query that nothing can match.
    public static var empty: QueryPlan {
        QueryPlan(source: .nothing, sorting: .none, order: QueryOrder(keys: []), residual: .constant(false))
    }

    /// The steps in words.
    public var steps: [String] { writer?.lines(self) ?? ["nothing can match"] }

    /// The plan in words, with what it took and what its asker should know.
    public var text: String {
        var lines = steps
        if let actual {
            lines.append("read: \(actual.rowsRead) rows, \(actual.recordsRead) records; \(actual.matches) matches")
        }
        return (lines + notes.map { "note: " + $0 }).joined(separator: "\n")
    }
}
