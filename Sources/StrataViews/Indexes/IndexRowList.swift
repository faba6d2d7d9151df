import StrataModel
import StrataTree

/// Rows of indexes, one after the other in memory.
struct IndexRowList {
    private var writer = KeyWriter()
    private var places: [Range<Int>] = []

    var count: Int { places.count }

    mutating func removeAll() {
        writer.removeAll()
        places.removeAll(keepingCapacity: true)
    }

    /// Adds the row that `write` appends to its argument.
    mutating func append(_ write: (inout KeyWriter) -> Void) {
        let start = writer.written.count
        write(&writer)
        places.append(start..<writer.written.count)
    }

    /// Sorts the rows, and removes those that occur again, as a value does that is in a list twice.
    mutating func sort() {
        if places.count < 2 { return }
        writer.bytes.withUnsafeBytes { bytes in
            func order(_ left: Range<Int>, _ right: Range<Int>) -> Int {
                RecordSlice.compare(.init(rebasing: bytes[left]), .init(rebasing: bytes[right]))
            }
            places.sort { order($0, $1) < 0 }
            var count = 1
            for index in 1..<places.count where order(places[count - 1], places[index]) != 0 {
                places[count] = places[index]
                count += 1
            }
            places.removeLast(places.count - count)
        }
    }

    /// Calls `body` with each row, in order.
    func forEachRow(_ body: (UnsafeRawBufferPointer) throws -> Void) rethrows {
        try writer.written.withUnsafeBytes { bytes in
            for place in places { try body(UnsafeRawBufferPointer(rebasing: bytes[place])) }
        }
    }

    /// Calls `body` with the rows that only one of two sorted lists has, in order.
    static func forEachChange(
        from old: IndexRowList, to new: IndexRowList,
        _ body: (_ isAddition: Bool, _ row: UnsafeRawBufferPointer) throws -> Void
    ) rethrows {
        try old.writer.written.withUnsafeBytes { oldBytes in
            try new.writer.written.withUnsafeBytes { newBytes in
                var (oldIndex, newIndex) = (0, 0)
                while true {
                    let oldRow = old.row(oldIndex, oldBytes)
                    let newRow = new.row(newIndex, newBytes)
                    if oldRow == nil, newRow == nil { return }
                    let order =
                        if let oldRow, let newRow { RecordSlice.compare(oldRow, newRow) } else {
                            oldRow == nil ? 1 : -1
                        }
                    if let oldRow, order < 0 { try body(false, oldRow) }
                    if let newRow, order > 0 { try body(true, newRow) }
                    if order <= 0 { oldIndex += 1 }
                    if order >= 0 { newIndex += 1 }
                }
            }
        }
    }

    private func row(_ index: Int, _ bytes: UnsafeRawBufferPointer) -> UnsafeRawBufferPointer? {
        index < places.count ? UnsafeRawBufferPointer(rebasing: bytes[places[index]]) : nil
    }
}
