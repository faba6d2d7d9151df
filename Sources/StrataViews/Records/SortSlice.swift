import StrataModel

/// Entries in memory that are sorted by key.
// Not Sendable: it owns its memory, and hands out pointers into it.
final class SortSlice {
    private struct Item {
        var start: Int
        var keyBytes: UInt32
        var valueBytes: UInt32
    }

    private struct Order {
        /// Eight bytes of the key, after those that it shares with its neighbors.
        var head: UInt64
        var index: UInt32
    }

    /// The number of entries up to which whole keys are compared.
    private static let fewEntries = 12

    private var buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 64 << 10, alignment: 16)
    private var usedBytes = 0
    private var items: [Item] = []
    private var order: [Order] = []

    deinit { buffer.deallocate() }

    var count: Int { items.count }
    /// The bytes that the entries take in memory.
    var byteCount: Int { usedBytes + items.count * (MemoryLayout<Item>.stride + MemoryLayout<Order>.stride) }

    func removeAll() {
        usedBytes = 0
        items.removeAll(keepingCapacity: true)
        order.removeAll(keepingCapacity: true)
    }

    func append(_ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer) {
        let end = usedBytes + key.count + value.count
        if end > buffer.count { grow(to: end) }
        UnsafeMutableRawBufferPointer(rebasing: buffer[usedBytes...]).copyMemory(from: key)
        UnsafeMutableRawBufferPointer(rebasing: buffer[(usedBytes + key.count)...]).copyMemory(from: value)
        order.append(Order(head: 0, index: UInt32(items.count)))
        items.append(Item(start: usedBytes, keyBytes: UInt32(key.count), valueBytes: UInt32(value.count)))
        usedBytes = end
    }

    private func grow(to end: Int) {
        let larger = UnsafeMutableRawBufferPointer.allocate(byteCount: max(end, buffer.count * 2), alignment: 16)
        larger.copyMemory(from: UnsafeRawBufferPointer(rebasing: buffer[..<usedBytes]))
        buffer.deallocate()
        buffer = larger
    }

    /// Returns an entry, in the order of keys once they are sorted; valid until the next change.
    func entry(_ place: Int) -> RunEntry {
        let item = items[Int(order[place].index)]
        let value = item.start + Int(item.keyBytes)
        return RunEntry(
            key: .init(rebasing: buffer[item.start..<value]),
            value: .init(rebasing: buffer[value..<value + Int(item.valueBytes)]))
    }

    // MARK: Sorting

    /// Sorts the entries by key; equal keys keep their order.
    func sort() {
        let bytes = UnsafeRawBufferPointer(buffer)
        items.withUnsafeBufferPointer { items in
            order.withUnsafeMutableBufferPointer { Self.sort($0, from: 0, items, bytes) }
        }
    }

    private static func key(
        _ index: UInt32, _ items: UnsafeBufferPointer<Item>, _ bytes: UnsafeRawBufferPointer
    ) -> UnsafeRawBufferPointer {
        let item = items[Int(index)]
        return .init(rebasing: bytes[item.start..<item.start + Int(item.keyBytes)])
    }

    /// Sorts by eight bytes at a time, after those that all keys share: comparing adjacent numbers is much faster than
    /// following each to its key.
    ///
    /// - Parameter depth: the number of bytes that are known to be equal.
    private static func sort(
        _ order: UnsafeMutableBufferPointer<Order>, from depth: Int, _ items: UnsafeBufferPointer<Item>,
        _ bytes: UnsafeRawBufferPointer
    ) {
        if order.count <= fewEntries { return sortWhole(order, items, bytes) }
        let start = sharedBytes(order, from: depth, items, bytes)
        var endsHere = false
        for place in order.indices {
            let key = key(order[place].index, items, bytes)
            order[place].head = RecordSlice.head(of: .init(rebasing: key[start...]))
            if key.count <= start + 8 { endsHere = true }
        }
        var order = order
        order.sort { $0.head != $1.head ? $0.head < $1.head : $0.index < $1.index }
        var first = 0
        while first < order.count {
            var end = first + 1
            while end < order.count, order[end].head == order[first].head { end += 1 }
            let group = UnsafeMutableBufferPointer(rebasing: order[first..<end])
            first = end
            if group.count < 2 { continue }
            // A key that ends within the eight bytes looks like one that continues with zeros.
            if endsHere { sortWhole(group, items, bytes) } else { sort(group, from: start + 8, items, bytes) }
        }
    }

    private static func sortWhole(
        _ order: UnsafeMutableBufferPointer<Order>, _ items: UnsafeBufferPointer<Item>, _ bytes: UnsafeRawBufferPointer
    ) {
        var order = order
        order.sort { a, b in
            let order = RecordSlice.compare(key(a.index, items, bytes), key(b.index, items, bytes))
            return order == 0 ? a.index < b.index : order < 0
        }
    }

    private static func sharedBytes(
        _ order: UnsafeMutableBufferPointer<Order>, from depth: Int, _ items: UnsafeBufferPointer<Item>,
        _ bytes: UnsafeRawBufferPointer
    ) -> Int {
        let first = key(order[0].index, items, bytes)
        var shared = first.count
        for entry in order {
            let key = key(entry.index, items, bytes)
            let limit = min(shared, key.count)
            var place = min(depth, limit)
            while place < limit, key[place] == first[place] { place += 1 }
            shared = place
            if shared <= depth { break }
        }
        return min(shared, first.count)
    }
}
