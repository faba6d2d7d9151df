import StrataModel
import StrataSystem

/// Events of records that have yet to be folded, in the order of their keys.
///
/// In this order folding touches each page of the records' tree once, and writes a record that was saved several times
/// only once.
struct RecordSlice {
    private struct Item {
        var key: Range<Int>
        var body: Range<Int>
        var kind: EventKind
        var place: EventPlace
        /// The index of the previous event whose key has the same hash, if hashes are kept.
        var older: UInt32?
        var isTaken = false
        var before: Before
    }

    /// The knowledge about the state before an event.
    private enum Before {
        case unknown
        case absent
        case state(Range<Int>)
    }

    private struct Order {
        /// The key's first eight bytes, which usually decide.
        var head: UInt64
        var index: UInt32
    }

    private var bytes: [UInt8] = []
    private var items: [Item] = []
    private var order: [Order] = []
    private var key = KeyWriter()
    /// The zones whose records have events here.
    private(set) var zones: Set<UInt64> = []
    private var lastZone: UInt64?
    /// The newest event for each hash of a key; nil until ``mayContain(_:)`` is called.
    private var newest: [Int: UInt32]?

    /// True if one of the first `linkScanned` events gives a record a parent, a share or a reference.
    private var hasLinks = false
    private var linkScanned = 0

    var count: Int { items.count }
    var byteCount: Int { bytes.count }

    mutating func removeAll() {
        bytes.removeAll(keepingCapacity: true)
        items.removeAll(keepingCapacity: true)
        order.removeAll(keepingCapacity: true)
        zones.removeAll(keepingCapacity: true)
        lastZone = nil
        newest?.removeAll(keepingCapacity: true)
        (hasLinks, linkScanned) = (false, 0)
    }

    /// Returns true if an event gives a record a parent, a share or a reference. Each event is examined only once.
    mutating func mayHaveLinks() throws -> Bool {
        try bytes.withUnsafeBytes { bytes in
            while !hasLinks, linkScanned < items.count {
                let item = items[linkScanned]
                if item.kind == .recordSaved { hasLinks = try RecordSavedView(bytes, in: item.body).hasLinks }
                // An event counts as scanned only after it could be read: an unreadable one must not pass for one
                // without links.
                linkScanned += 1
            }
        }
        return hasLinks
    }

    /// Returns true if a record may have events here; sometimes also if it has none.
    mutating func mayContain(_ record: UnsafeRawBufferPointer) -> Bool {
        if newest == nil {
            newest = [:]
            for index in items.indices { chain(index) }
        }
        return newest?[Self.hash(record)] != nil
    }

    /// Removes a record's events, and calls `body` with each, oldest first. Call ``mayContain(_:)`` first.
    ///
    /// - Parameter body: receives an event that is valid only until it returns.
    mutating func take(_ record: UnsafeRawBufferPointer, _ body: (SortedEvent) throws -> Void) rethrows {
        let hash = Self.hash(record)
        var found: [Int] = []
        var hasOthers = false
        var next = newest?[hash]
        while let place = next {
            let index = Int(place)
            next = items[index].older
            if items[index].isTaken { continue }
            let isOfRecord = bytes[items[index].key].withUnsafeBytes { Self.compare($0, record) == 0 }
            if isOfRecord { found.append(index) } else { hasOthers = true }
        }
        if !hasOthers { newest?[hash] = nil }
        for index in found.reversed() {
            items[index].isTaken = true
            let item = items[index]
            try bytes.withUnsafeBytes { try body(Self.event(item, $0)) }
        }
    }

    private mutating func chain(_ index: Int) {
        let hash = bytes[items[index].key].withUnsafeBytes(Self.hash)
        items[index].older = newest?.updateValue(UInt32(index), forKey: hash)
    }

    private static func event(_ item: Item, _ bytes: UnsafeRawBufferPointer) -> SortedEvent {
        let before: SortedEvent.Before =
            switch item.before {
            case .unknown: .unknown
            case .absent: .absent
            case .state(let range): .state(.init(rebasing: bytes[range]))
            }
        return SortedEvent(
            key: .init(rebasing: bytes[item.key]), body: .init(rebasing: bytes[item.body]), kind: item.kind,
            place: item.place, before: before)
    }

    private static func hash(_ key: UnsafeRawBufferPointer) -> Int {
        var hasher = Hasher()
        hasher.combine(bytes: key)
        return hasher.finalize()
    }

    mutating func append(
        _ kind: EventKind, zone: UInt64, name: UnsafeRawBufferPointer, body: UnsafeRawBufferPointer,
        at place: EventPlace, before found: FoundState = .unknown
    ) {
        key.removeAll()
        key.append(number: zone)
        key.append(lastRecordName: name)
        if zone != lastZone {
            zones.insert(zone)
            lastZone = zone
        }
        let start = bytes.count
        bytes.append(contentsOf: key.bytes)
        let middle = bytes.count
        bytes.append(contentsOf: body)
        let head = key.bytes.withUnsafeBytes { Self.head(of: $0) }
        order.append(Order(head: head, index: UInt32(items.count)))
        let end = bytes.count
        var before = Before.unknown
        switch found {
        case .unknown: break
        case .absent: before = .absent
        case .found(let state):
            bytes.append(contentsOf: state)
            before = .state(end..<bytes.count)
        }
        items.append(Item(key: start..<middle, body: middle..<end, kind: kind, place: place, before: before))
        if newest != nil { chain(items.count - 1) }
    }

    /// Calls `body` with all events that were not taken, in the order of their keys; those of one key oldest first.
    ///
    /// - Parameter body: receives an event that is valid only until it returns.
    mutating func forEachEvent(_ body: (SortedEvent) throws -> Void) throws {
        try bytes.withUnsafeBytes { bytes in
            try items.withUnsafeBufferPointer { items in
                order.sort { a, b in
                    if a.head != b.head { return a.head < b.head }
                    let (left, right) = (items[Int(a.index)].key, items[Int(b.index)].key)
                    let order = Self.compare(.init(rebasing: bytes[left]), .init(rebasing: bytes[right]))
                    return order == 0 ? a.index < b.index : order < 0
                }
                try order.withUnsafeBufferPointer { order in
                    for place in order.indices {
                        Self.ask(for: place, order, items, bytes)
                        let item = items[Int(order[place].index)]
                        if !item.isTaken { try body(Self.event(item, bytes)) }
                    }
                }
            }
        }
    }

    /// Returns a key's first eight bytes as a number that sorts as they do; missing bytes count as zeros.
    static func head(of key: UnsafeRawBufferPointer) -> UInt64 {
        if key.count >= 8 { return UInt64(bigEndian: key.loadUnaligned(as: UInt64.self)) }
        return key.reduce(into: UInt64(0)) { $0 = $0 << 8 | UInt64($1) } << UInt64(8 * (8 - key.count))
    }

    /// Prefetches the next events while this one is folded, because events in the order of keys are scattered in
    /// memory.
    private static func ask(
        for place: Int, _ order: UnsafeBufferPointer<Order>, _ items: UnsafeBufferPointer<Item>,
        _ bytes: UnsafeRawBufferPointer
    ) {
        if place + 8 < order.count, let start = items.baseAddress {
            Prefetch.ask(start + Int(order[place + 8].index), byteCount: MemoryLayout<Item>.stride)
        }
        if place + 4 < order.count, let start = bytes.baseAddress {
            let item = items[Int(order[place + 4].index)]
            Prefetch.ask(start + item.key.lowerBound, byteCount: item.body.upperBound - item.key.lowerBound)
        }
    }

    /// Returns a negative number if `a` comes before `b`, 0 if they are equal.
    static func compare(_ a: UnsafeRawBufferPointer, _ b: UnsafeRawBufferPointer) -> Int {
        let count = min(a.count, b.count)
        var place = 0
        while place + 8 <= count {
            let left = UInt64(bigEndian: a.loadUnaligned(fromByteOffset: place, as: UInt64.self))
            let right = UInt64(bigEndian: b.loadUnaligned(fromByteOffset: place, as: UInt64.self))
            if left != right { return left < right ? -1 : 1 }
            place += 8
        }
        while place < count {
            if a[place] != b[place] { return a[place] < b[place] ? -1 : 1 }
            place += 1
        }
        return a.count - b.count
    }
}
