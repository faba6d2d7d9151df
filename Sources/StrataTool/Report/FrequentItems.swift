/// Finds what comes most often in a stream, in bounded memory: exactly as long as there are not more different items
/// than it holds, and beyond that with an error that it knows (Misra and Gries).
///
/// When it is full, as many items as half of it holds are dropped, and what they came to is taken off all counts.
struct FrequentItems<Item: Hashable & Sendable>: Sendable {
    private let capacity: Int
    private var counts: [Item: UInt64] = [:]
    /// What was taken off: a count is too low by as much at most, and so may be what is not held at all.
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

    /// How many different items it holds; all that came, if the error is 0.
    var count: Int { counts.count }

    /// The most frequent ones with their counts, which are at least so high and at most ``error`` higher; of the same
    /// counts in the order that is given.
    func top(_ limit: Int, by areInOrder: (Item, Item) -> Bool) -> [(item: Item, count: UInt64)] {
        let sorted = counts.sorted { left, right in
            left.value == right.value ? areInOrder(left.key, right.key) : left.value > right.value
        }
        return sorted.prefix(limit).map { ($0.key, $0.value) }
    }
}
