import StrataModel

/// Events of records that are yet to be folded, in the order of their keys.
///
/// Folding them so touches each page of the records' tree once, and a record that was saved several times is written
/// once.
struct RecordSlice {
    struct Item {
        var key: Range<Int>
        var body: Range<Int>
        var kind: EventKind
        var place: EventPlace
    }

    /// The events of one record, oldest first.
    struct Events {
        fileprivate let items: [Item]
        fileprivate let order: ArraySlice<Order>

        var count: Int { order.count }
        subscript(index: Int) -> Item { items[Int(order[order.startIndex + index].index)] }
    }

    fileprivate struct Order {
        /// The key's first eight bytes, which mostly decide.
        var head: UInt64
        var index: UInt32
    }

    private var bytes: [UInt8] = []
    private var items: [Item] = []
    private var order: [Order] = []
    private var key = KeyWriter()

    var count: Int { items.count }
    var byteCount: Int { bytes.count }

    mutating func removeAll() {
        bytes.removeAll(keepingCapacity: true)
        items.removeAll(keepingCapacity: true)
        order.removeAll(keepingCapacity: true)
    }

    mutating func append(
        _ kind: EventKind, zone: UInt64, name: UnsafeRawBufferPointer, body: UnsafeRawBufferPointer,
        at place: EventPlace
    ) {
        key.removeAll()
        key.append(number: zone)
        key.append(lastText: name)
        let start = bytes.count
        bytes.append(contentsOf: key.bytes)
        let middle = bytes.count
        bytes.append(contentsOf: body)
        var head: UInt64 = 0
        for index in 0..<8 { head = head << 8 | (index < key.bytes.count ? UInt64(key.bytes[index]) : 0) }
        order.append(Order(head: head, index: UInt32(items.count)))
        items.append(Item(key: start..<middle, body: middle..<bytes.count, kind: kind, place: place))
    }

    /// Calls `body` with the events of each record, oldest first; records in the order of their keys.
    mutating func forEachRecord(
        _ body: (_ bytes: UnsafeRawBufferPointer, _ events: Events) throws -> Void
    ) throws {
        try bytes.withUnsafeBytes { bytes in
            let items = items
            func compare(_ a: Order, _ b: Order) -> Int {
                if a.head != b.head { return a.head < b.head ? -1 : 1 }
                let (left, right) = (items[Int(a.index)].key, items[Int(b.index)].key)
                return Self.compare(bytes[left], bytes[right])
            }
            order.sort { a, b in
                let order = compare(a, b)
                return order == 0 ? a.index < b.index : order < 0
            }
            var start = 0
            while start < order.count {
                var end = start + 1
                while end < order.count, compare(order[start], order[end]) == 0 { end += 1 }
                try body(bytes, Events(items: items, order: order[start..<end]))
                start = end
            }
        }
    }

    private static func compare(
        _ a: Slice<UnsafeRawBufferPointer>, _ b: Slice<UnsafeRawBufferPointer>
    ) -> Int {
        for (left, right) in zip(a, b) where left != right { return left < right ? -1 : 1 }
        return a.count - b.count
    }
}
