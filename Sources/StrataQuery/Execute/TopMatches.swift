import StrataModel

/// A record that matches.
public struct QueryMatch: Sendable {
    /// Its place in the order, of ``SortEncoder``; empty where nobody needs it.
    var place: [UInt8]
    /// Its key in the tree of records.
    public var key: [UInt8]
    /// Its encoded state.
    public var state: [UInt8]
}

/// The first of many matches, in order.
struct TopMatches {
    private let count: Int
    /// Its first is the last in order.
    private var heap = Heap<QueryMatch> { $1.place.lexicographicallyPrecedes($0.place) }

    init(_ count: Int) { self.count = count }

    /// Whether a match with that place would be among the first.
    func accepts(_ place: [UInt8]) -> Bool {
        guard heap.elements.count >= count, let last = heap.first else { return count > 0 }
        return place.lexicographicallyPrecedes(last.place)
    }

    /// Takes a match that is accepted.
    mutating func add(_ match: QueryMatch) {
        if heap.elements.count < count { heap.push(match) } else { heap.replaceFirst(by: match) }
    }

    /// All that are kept, in order.
    func sorted() -> [QueryMatch] { heap.elements.sorted { $0.place.lexicographicallyPrecedes($1.place) } }
}
