import StrataModel

/// A range of keys that a layer deletes: older layers do not show them.
package struct DeletedRange: Equatable, Sendable {
    package var tree: TreeID
    package var lower: [UInt8]
    /// The first key after the range; empty if it reaches to the end of the tree.
    package var upper: [UInt8]

    package init(tree: TreeID, lower: [UInt8], upper: [UInt8]) {
        self.tree = tree
        self.lower = lower
        self.upper = upper
    }

    func contains(_ key: UnsafeRawBufferPointer) -> Bool {
        lower.withUnsafeBytes { Bytes.compare($0, key) <= 0 } && endsAfter(key)
    }

    private func endsAfter(_ key: UnsafeRawBufferPointer) -> Bool {
        upper.isEmpty || upper.withUnsafeBytes { Bytes.compare(key, $0) < 0 }
    }

    fileprivate func precedes(_ key: UnsafeRawBufferPointer, in tree: TreeID) -> Bool {
        self.tree == tree ? !endsAfter(key) : self.tree < tree
    }
}

/// Deleted ranges in order, none of which touches another of its tree.
package struct DeletedRanges: Equatable, Sendable {
    package private(set) var ranges: [DeletedRange] = []

    package init() {}

    /// Unites ranges in any order.
    package init(_ ranges: some Sequence<DeletedRange>) {
        let sorted = ranges.sorted {
            $0.tree != $1.tree ? $0.tree < $1.tree : $0.lower.lexicographicallyPrecedes($1.lower)
        }
        for range in sorted { insert(range) }
    }

    /// Unites the ranges with another one.
    mutating func insert(_ range: DeletedRange) {
        var united = range
        let first = ranges.endOfPrefix { old in
            guard old.tree == range.tree else { return old.tree < range.tree }
            return !old.upper.isEmpty && old.upper.lexicographicallyPrecedes(range.lower)
        }
        let end = ranges[first...].endOfPrefix { old in
            old.tree == range.tree && (range.upper.isEmpty || !range.upper.lexicographicallyPrecedes(old.lower))
        }
        for old in ranges[first..<end] {
            if old.lower.lexicographicallyPrecedes(united.lower) { united.lower = old.lower }
            let isLonger = old.upper.isEmpty || united.upper.lexicographicallyPrecedes(old.upper)
            if !united.upper.isEmpty, isLonger { united.upper = old.upper }
        }
        ranges.replaceSubrange(first..<end, with: CollectionOfOne(united))
    }

    package var isEmpty: Bool { ranges.isEmpty }

    /// The ranges of one tree.
    func of(_ tree: TreeID) -> DeletedRanges {
        var own = self
        own.ranges.removeAll { $0.tree != tree }
        return own
    }

    package func cover(_ tree: TreeID, _ key: UnsafeRawBufferPointer) -> Bool { range(around: key, in: tree) != nil }

    /// The range that covers a key.
    func range(around key: UnsafeRawBufferPointer, in tree: TreeID) -> DeletedRange? {
        if ranges.isEmpty { return nil }
        var (low, high) = (0, ranges.count)
        while low < high {
            let middle = (low + high) / 2
            if ranges[middle].precedes(key, in: tree) { low = middle + 1 } else { high = middle }
        }
        return low < ranges.count && ranges[low].tree == tree && ranges[low].contains(key) ? ranges[low] : nil
    }

    /// The parts of the ranges from `start` up to, but not including, `end`; nil denotes the first and the last key.
    func clipped(from start: RunKey?, to end: RunKey?) -> DeletedRanges {
        var parts = DeletedRanges()
        for var range in ranges {
            if let start {
                if range.tree < start.tree { continue }
                if range.tree == start.tree {
                    if !range.upper.isEmpty, !start.bytes.lexicographicallyPrecedes(range.upper) { continue }
                    if range.lower.lexicographicallyPrecedes(start.bytes) { range.lower = start.bytes }
                }
            }
            if let end {
                if range.tree > end.tree { continue }
                if range.tree == end.tree {
                    if !range.lower.lexicographicallyPrecedes(end.bytes) { continue }
                    if range.upper.isEmpty || end.bytes.lexicographicallyPrecedes(range.upper) {
                        range.upper = end.bytes
                    }
                }
            }
            parts.ranges.append(range)
        }
        return parts
    }
}
