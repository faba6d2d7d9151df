/// Finds the most frequent items of a stream in bounded memory (Misra and Gries). Counts are exact while the distinct
/// items fit; beyond that their error is known.
///
/// When it is full, the median count is subtracted from all counts, and items that reach 0 are dropped.
struct FrequentItems<Item: Hashable & Sendable>: Sendable {
    private let capacity: Int
    private var counts: [Item: UInt64] = [:]
    /// The total subtracted: a count is too low by at most this, also that of an item no longer held.
    private(set) var error: UInt64 = 0

    init(capacity: Int = 1 << 16) { self.capacity = max(2, capacity) }

    mutating func add(_ item: Item) {
        counts[item, default: 0] += 1
        if counts.count > capacity { drop() }
    }

    private mutating func drop() {
        let sorted = counts.values.sorted()
        let cut = sorted[sorted.count / 2]
        counts = counts.filter { $0.value > cut }.mapValues { $0 - cut }
        error += cut
    }

    /// The number of distinct items held; the number of all distinct items if the error is 0.
    var count: Int { counts.count }

    /// Returns the most frequent items with their counts. The true count is at least that, and at most ``error``
    /// higher. Items with equal counts are in the given order.
    func top(_ limit: Int, by areInOrder: (Item, Item) -> Bool) -> [(item: Item, count: UInt64)] {
        let sorted = counts.sorted { left, right in
            left.value == right.value ? areInOrder(left.key, right.key) : left.value > right.value
        }
        return sorted.prefix(limit).map { ($0.key, $0.value) }
    }
}
