import StrataModel

/// A matching record.
package struct QueryMatch: Sendable {
    /// The record's place from ``SortEncoder``; empty if it is not needed.
    var place: [UInt8]
    /// The record's encoded state, preceded by its key in the tree of records.
    package var record: StoredState
}

/// The first of many matches, in order.
struct TopMatches {
    private let count: Int
    /// A heap whose first element is the last match in order.
    private var heap = Heap<QueryMatch> { $1.place.lexicographicallyPrecedes($0.place) }

    init(_ count: Int) { self.count = count }

    /// Returns true if a match with that place would be among the first.
    func accepts(_ place: [UInt8]) -> Bool {
        guard heap.elements.count >= count, let last = heap.first else { return count > 0 }
        return place.lexicographicallyPrecedes(last.place)
    }

    /// Adds a match that ``accepts(_:)`` has accepted.
    mutating func add(_ match: QueryMatch) {
        if heap.elements.count < count { heap.push(match) } else { heap.replaceFirst(by: match) }
    }

    /// All kept matches, in order.
    func sorted() -> [QueryMatch] { heap.elements.sorted { $0.place.lexicographicallyPrecedes($1.place) } }
}
