extension Snapshot {
    /// The approximate number of entries from `lower` up to, but not including, `upper`, estimated from the pages on
    /// the paths to both ends, without counting. Exact within one leaf; always between 0 and the number of entries of
    /// the tree.
    package func estimatedCount(
        _ id: TreeID, from lower: UnsafeRawBufferPointer?, to upper: UnsafeRawBufferPointer?
    ) throws -> Double {
        try core.memory.estimatedCount(roots[id], from: lower, to: upper)
    }
}

extension PageMemory {
    fileprivate func estimatedCount(
        _ root: TreeRoot, from lower: UnsafeRawBufferPointer?, to upper: UnsafeRawBufferPointer?
    ) throws -> Double {
        guard root.page != 0 else { return 0 }
        return try reading {
            var (left, right) = (try page(root.page, level: root.level), try page(root.page, level: root.level))
            var level = root.level
            /// The estimated number of entries per page of a level, from the pages passed.
            var entriesPerPage = Double(root.entryCount)
            var between = 0.0
            var haveParted = false
            while level > 0 {
                let first = lower.map { left.search(branch: $0) } ?? 0
                let last = upper.map { right.search(branch: $0) } ?? right.count - 1
                entriesPerPage /= Double(left.count + right.count) / 2
                if haveParted {
                    between += Double(left.count - 1 - first + last) * entriesPerPage
                } else if first != last {
                    between += Double(max(0, last - first - 1)) * entriesPerPage
                    haveParted = true
                }
                level -= 1
                left = try page(left.child(first), level: level)
                right = try page(right.child(last), level: level)
            }
            let first = lower.map { left.search(leaf: $0).index } ?? 0
            let last = upper.map { right.search(leaf: $0).index } ?? right.count
            let edges = haveParted ? left.count - first + last : max(0, last - first)
            return min(Double(root.entryCount), between + Double(edges))
        }
    }
}
