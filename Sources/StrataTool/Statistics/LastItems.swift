/// The last items of a stream, up to a number, and the number of those before them.
struct LastItems<Item> {
    private let capacity: Int
    private var items: [Item] = []
    private var droppedCount = 0

    init(_ capacity: Int) { self.capacity = capacity }

    mutating func append(_ item: Item) {
        items.append(item)
        // Dropping many together makes this rare.
        guard items.count == 2 * capacity else { return }
        items.removeFirst(capacity)
        droppedCount += capacity
    }

    /// The last items, in order.
    var last: ArraySlice<Item> { items.suffix(capacity) }
    /// The number of items before them.
    var olderCount: Int { droppedCount + max(0, items.count - capacity) }
}
