import StrataModel
import StrataSystem
import StrataTree

/// Puts more events of records in the order of their keys than memory should hold: sorted slices go to a file without a
/// name, from which they come back merged.
///
/// The file is this process's own and ends with it, at the latest; what comes back wrong is noticed.
final class EventSorter {
    /// Where the sorted events of one slice stand in the file.
    private var runs: [Range<Int>] = []
    private var writer: EventRunWriter?
    private let files: any FileSystem
    private let path: String
    private(set) var eventCount = 0
    private(set) var byteCount = 0
    /// Whose records have events here.
    private(set) var zones: Set<UInt64> = []

    init(files: any FileSystem, path: String) {
        self.files = files
        self.path = path
    }

    var isEmpty: Bool { runs.isEmpty }

    /// Writes the events of a slice, which keeps them.
    ///
    /// - Throws: ``StrataError`` of the file; then it is as if nothing had been added.
    func add(_ slice: inout RecordSlice) throws {
        let writer = try self.writer ?? EventRunWriter(try files.openUnnamed(path))
        self.writer = writer
        let start = runs.last?.upperBound ?? 0
        writer.start(at: start)
        try slice.forEachEvent { try writer.append($0) }
        try writer.finish()
        runs.append(start..<writer.end)
        eventCount += slice.count
        byteCount += slice.byteCount
        zones.formUnion(slice.zones)
    }

    func removeAll() throws {
        (runs, eventCount, byteCount, zones) = ([], 0, 0, [])
        try writer?.file.truncate(to: 0)
    }

    /// Calls `body` with all events in the order of their keys; those of one key oldest first.
    ///
    /// - Parameter body: what it is given is valid only until it returns.
    func forEachEvent(_ body: (SortedEvent) throws -> Void) throws {
        guard let file = writer?.file else { return }
        let readers = runs.map { EventRunReader(file, $0) }
        var merge = try RunMerge(readers)
        while let event = merge.first {
            try body(event)
            try merge.advance()
        }
    }
}

/// The smallest of the events at which runs are, found in a heap.
private struct RunMerge {
    private struct Node {
        /// The key's first bytes, which mostly decide.
        var head: UInt64
        var run: Int
    }

    private let readers: [EventRunReader]
    private var heap: [Node] = []

    init(_ readers: [EventRunReader]) throws {
        self.readers = readers
        for (run, reader) in readers.enumerated() where try reader.advance() {
            heap.append(Node(head: RecordSlice.head(of: reader.event.key), run: run))
        }
        for index in heap.indices.reversed() { sink(index) }
    }

    var first: SortedEvent? { heap.first.map { readers[$0.run].event } }

    mutating func advance() throws {
        let reader = readers[heap[0].run]
        if try reader.advance() {
            heap[0].head = RecordSlice.head(of: reader.event.key)
        } else {
            heap.swapAt(0, heap.count - 1)
            heap.removeLast()
        }
        sink(0)
    }

    private mutating func sink(_ start: Int) {
        var index = start
        while true {
            var least = index
            for child in [2 * index + 1, 2 * index + 2] where child < heap.count && isBefore(heap[child], heap[least]) {
                least = child
            }
            if least == index { return }
            heap.swapAt(index, least)
            index = least
        }
    }

    /// Slices come in the order of the log, so of one key's events those of the earlier run are the older ones.
    private func isBefore(_ a: Node, _ b: Node) -> Bool {
        if a.head != b.head { return a.head < b.head }
        let order = RecordSlice.compare(readers[a.run].event.key, readers[b.run].event.key)
        return order == 0 ? a.run < b.run : order < 0
    }
}
