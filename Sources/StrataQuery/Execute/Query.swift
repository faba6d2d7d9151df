import StrataModel

/// What to look for: records of a type for which a predicate holds, in an order.
///
/// ```swift
/// let urgent = try PredicateParser.parse("priority > 3")
/// let query = Query("Task", where: urgent, order: [.key("title", isAscending: true)])
/// ```
public struct Query: Sendable, Hashable {
    public var recordType: String
    public var predicate: PredicateTree
    /// First things first; empty for no order in particular.
    public var order: [SortKey]
    /// Nil for all zones.
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

/// What records are sorted by.
public enum SortKey: Sendable, Hashable {
    /// Records without a value come first in ascending order.
    case key(String, isAscending: Bool)
    /// The nearest come first, those without a place before them (B140).
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

/// An order in which every record has a place of its own.
struct QueryOrder: Sendable, Hashable {
    /// What comes first of records that the keys do not tell apart.
    enum Ties: UInt8, Sendable {
        /// By name, then by zone, the older one first.
        case byName = 1
        /// By zone, the older one first, then by name.
        case byPlace
    }

    var keys: [SortKey]
    var ties = Ties.byName
}
