/// The entries of several sources in one order. Of equal keys, that of the source with the lowest index comes first.
struct MergeQueue: ~Copyable {
    // A variable: for the thread sanitizer, the compiler cannot translate changes of the elements of a constant.
    private var sources: UnsafeMutableBufferPointer<RunCursor>
    /// The current entry of each source.
    private let entries: UnsafeMutableBufferPointer<RunEntry>
    /// The sources that have an entry, in the order of those, from `start` on.
    private let order: UnsafeMutableBufferPointer<Int32>
    private var start: Int

    /// - Parameter sources: each at its first entry.
    init(_ sources: [RunCursor]) {
        self.sources = .allocate(capacity: sources.count)
        _ = self.sources.initialize(from: sources)
        entries = .allocate(capacity: sources.count)
        order = .allocate(capacity: sources.count)
        start = sources.count
        for index in sources.indices.reversed() {
            if let entry = sources[index].entry {
                start -= 1
                insert(index, entry, freePlace: start)
            }
        }
    }

    deinit {
        sources.deinitialize()
        sources.deallocate()
        entries.deallocate()
        order.deallocate()
    }

    /// The first entry, valid until ``nextKey()``; nil if there is none.
    @inline(__always)
    var first: RunEntry? { start < order.count ? entries[Int(order[start])] : nil }

    /// The source of the first entry.
    @inline(__always)
    var firstSource: Int { Int(order[start]) }

    /// Moves to the next key. The first source moves last, since its key is compared until then.
    mutating func nextKey() throws {
        while start + 1 < order.count {
            let (first, second) = (entries[Int(order[start])], entries[Int(order[start + 1])])
            guard first.tree == second.tree, first.key.count == second.key.count,
                Bytes.compare(first.key, second.key) == 0
            else { break }
            try advance(at: start + 1)
        }
        try advance(at: start)
    }

    /// - Throws: ``StrataError`` if bytes that were read until now could not be read.
    func requireReadable() throws { for source in sources { try source.requireReadable() } }

    @inline(__always)
    private mutating func advance(at place: Int) throws {
        let index = Int(order[place])
        if try sources[index].next(), let entry = sources[index].entry {
            insert(index, entry, freePlace: place)
        } else {
            if place > start { order[place] = order[start] }
            start += 1
        }
    }

    /// Puts a source among those that follow a free place. Usually it remains there.
    @inline(__always)
    private mutating func insert(_ index: Int, _ entry: RunEntry, freePlace: Int) {
        entries[index] = entry
        var (low, high) = (freePlace + 1, order.count)
        if low < high, !isBefore(Int(order[low]), index) { high = low }
        while low < high {
            let middle = (low + high) / 2
            if isBefore(Int(order[middle]), index) { low = middle + 1 } else { high = middle }
        }
        for place in freePlace + 1..<low { order[place - 1] = order[place] }
        order[low - 1] = Int32(index)
    }

    @inline(__always)
    private func isBefore(_ a: Int, _ b: Int) -> Bool {
        let (left, right) = (entries[a], entries[b])
        if left.tree != right.tree { return left.tree < right.tree }
        let order = Bytes.compare(left.key, right.key)
        return order == 0 ? a < b : order < 0
    }
}
