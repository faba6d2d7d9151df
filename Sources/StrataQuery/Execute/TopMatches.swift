import StrataModel
import StrataViews

/// A matching record.
package struct QueryMatch: Sendable {
    /// The record's place from ``SortEncoder``; empty if it is not needed.
    var place: [UInt8]
    /// The record's encoded state, preceded by its key in the tree of records, with the name itself.
    package var record: StoredState

    /// - Parameter key: the record's key in the tree of records.
    init(
        place: [UInt8], _ key: UnsafeRawBufferPointer, _ state: UnsafeRawBufferPointer, in batches: inout StateBatches
    ) throws {
        var reader = KeyReader(key)
        _ = try reader.readNumber()
        let zone = UnsafeRawBufferPointer(rebasing: key[..<reader.position])
        self.place = place
        record = try PackedName.withName(of: reader.readLastText()) {
            batches.append(name: zone, rest: $0, state: state)
        }
    }

    /// Copies the state into memory of its own.
    init(place: [UInt8], _ key: UnsafeRawBufferPointer, _ state: UnsafeRawBufferPointer) throws {
        var batches = StateBatches()
        try self.init(place: place, key, state, in: &batches)
    }
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
