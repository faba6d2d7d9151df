import StrataModel
import StrataTree

/// Rows to add to indexes and to remove from them, one after the other in memory.
package struct IndexRowChanges: Sendable {
    /// The bytes before each row: its length, and a bit that says if it is added.
    private static let markBytes = 2
    /// The number of rows by which the pages to change are asked for in advance.
    private static let askedRows = 3

    private var writer = KeyWriter()

    var byteCount: Int { writer.written.count }

    mutating func removeAll() { writer.removeAll() }

    /// Adds the change of the row that `write` appends to its argument.
    mutating func append(isAddition: Bool, _ write: (inout KeyWriter) -> Void) {
        let start = writer.written.count
        writer.append(byte: 0)
        writer.append(byte: 0)
        write(&writer)
        let mark = (writer.written.count - start - Self.markBytes) << 1 | (isAddition ? 1 : 0)
        writer.written[start] = UInt8(truncatingIfNeeded: mark)
        writer.written[start + 1] = UInt8(truncatingIfNeeded: mark >> 8)
    }

    /// Returns the change at a place, and the place of the next one; nil at the end.
    private static func change(
        at place: Int, _ bytes: UnsafeRawBufferPointer
    ) -> (isAddition: Bool, row: UnsafeRawBufferPointer, next: Int)? {
        guard place < bytes.count else { return nil }
        let mark = Int(bytes[place]) | Int(bytes[place + 1]) << 8
        let start = place + markBytes
        let end = start + mark >> 1
        return (mark & 1 == 1, UnsafeRawBufferPointer(rebasing: bytes[start..<end]), end)
    }

    /// Calls `body` with each change, in order.
    func forEachRow(_ body: (_ isAddition: Bool, _ row: UnsafeRawBufferPointer) throws -> Void) rethrows {
        try writer.written.withUnsafeBytes { bytes in
            var place = 0
            while let change = Self.change(at: place, bytes) {
                try body(change.isAddition, change.row)
                place = change.next
            }
        }
    }

    /// Returns what remains of successive changes, in the order of rows: a row that is removed and added again stays
    /// unchanged.
    static func net(_ parts: [IndexRowChanges]) -> IndexRowChanges {
        let sorted = SortSlice()
        let (none, one) = (UnsafeRawBufferPointer(start: nil, count: 0), [UInt8(1)])
        one.withUnsafeBytes { one in
            for part in parts { part.forEachRow { sorted.append($1, $0 ? one : none) } }
        }
        sorted.sort()
        var net = IndexRowChanges()
        net.writer = KeyWriter(reserving: parts.reduce(0) { $0 + $1.byteCount })
        var place = 0
        while place < sorted.count {
            let first = sorted.entry(place)
            var last = first
            place += 1
            while place < sorted.count, RecordSlice.compare(sorted.entry(place).key, first.key) == 0 {
                last = sorted.entry(place)
                place += 1
            }
            // The first change shows whether the row was there before.
            let isAddition = !last.value.isEmpty
            if isAddition == !first.value.isEmpty { net.append(isAddition: isAddition) { $0.append(row: first.key) } }
        }
        return net
    }

    /// Applies changes that are in the order of rows, beginning at a place. Returns the place of the next change; nil
    /// if all have been applied.
    ///
    /// - Parameters:
    ///   - indexes: the indexes whose rows change; nil for all.
    ///   - limit: the maximum number of rows.
    func apply(from start: Int = 0, to fork: Fork, of indexes: Set<IndexID>? = nil, limit: Int = .max) throws -> Int? {
        let none = UnsafeRawBufferPointer(start: nil, count: 0)
        return try writer.written.withUnsafeBytes { bytes in
            var (place, ahead, count) = (start, start, 0)
            while let change = Self.change(at: place, bytes) {
                if count >= limit { return place }
                if count == 0 {
                    for _ in 0..<Self.askedRows { ahead = Self.change(at: ahead, bytes)?.next ?? ahead }
                }
                if let next = Self.change(at: ahead, bytes) {
                    fork.askNear(ViewTree.index, next.row)
                    ahead = next.next
                }
                (place, count) = (change.next, count + 1)
                if let indexes, try !indexes.contains(IndexID.start(ofRow: change.row).id) { continue }
                if change.isAddition {
                    try fork.putNear(ViewTree.index, change.row, none)
                } else {
                    try fork.delete(ViewTree.index, change.row)
                }
            }
            return nil
        }
    }
}

extension KeyWriter {
    fileprivate mutating func append(row: UnsafeRawBufferPointer) { written.append(contentsOf: row) }
}
