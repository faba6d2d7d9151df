import StrataModel

/// A query for the records of a type for which a predicate holds, in an order.
///
/// ```swift
/// let urgent = try PredicateParser.parse("priority > 3")
/// let query = Query("Task", where: urgent, order: [.key("title", isAscending: true)])
/// ```
public struct Query: Sendable, Hashable {
    public var recordType: String
    public var predicate: PredicateTree
    /// The sort keys, most significant first; empty for no particular order.
    public var order: [SortKey]
    /// The zone to search; nil for all zones.
    public var zone: ZoneID?

    public init(
        _ recordType: String, where predicate: PredicateTree = .constant(true), order: [SortKey] = [],
        zone: ZoneID? = nil
    ) {
        self.recordType = recordType
        self.predicate = predicate
        self.order = order
        self.zone = zone
    }
}

/// A criterion by which records are sorted.
public enum SortKey: Sendable, Hashable {
    /// By a field. Records without a value come first in ascending order.
    case key(String, isAscending: Bool)
    /// By distance, the nearest first. Records without a location come before all others (B140).
    case distance(key: String, latitude: Double, longitude: Double)

    public var name: String {
        switch self {
        case .key(let name, _), .distance(let name, _, _): name
        }
    }

    var isAscending: Bool {
        if case .key(_, let isAscending) = self { isAscending } else { true }
    }
}

/// A total order of records.
struct QueryOrder: Sendable, Hashable {
    /// The order of records with equal sort keys.
    enum Ties: UInt8, Sendable {
        /// By name, then by zone, the older zone first.
        case byName = 1
        /// By zone, the older zone first, then by name.
        case byPlace
    }

    var keys: [SortKey]
    var ties = Ties.byName
}
