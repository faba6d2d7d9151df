extension Snapshot {
    /// Keys that divide the entries from `lower` up to, but not including, `upper` into about `count` equal parts, in
    /// order; fewer keys if there are few entries. Reads only a few pages.
    package func dividingKeys(
        _ id: TreeID, from lower: UnsafeRawBufferPointer, to upper: UnsafeRawBufferPointer, count: Int
    ) throws -> [[UInt8]] {
        try core.memory.dividingKeys(roots[id], from: lower, to: upper, count: count)
    }
}

extension PageMemory {
    fileprivate func dividingKeys(
        _ root: TreeRoot, from lower: UnsafeRawBufferPointer, to upper: UnsafeRawBufferPointer, count: Int
    ) throws -> [[UInt8]] {
        guard root.page != 0, count > 1 else { return [] }
        return try reading {
            var number = root.page
            for level in stride(from: root.level, to: 0, by: -1) {
                let branch = try page(number, level: level)
                let (first, last) = (branch.search(branch: lower), branch.search(branch: upper))
                if first == last {
                    number = branch.child(first)
                    continue
                }
                // The keys of the children after the first and, if these are few, of their children as well.
                var keys = (first + 1...last).map { key(of: branch, $0) }
                if keys.count < 4 * count, level > 1 {
                    keys = try (first...last).flatMap { child -> [[UInt8]] in
                        let page = try page(branch.child(child), level: level - 1)
                        let start = child > first ? [key(of: branch, child)] : []
                        return start + (1..<page.count).map { key(of: page, $0) }
                    }
                }
                keys = keys.filter { key in
                    key.withUnsafeBytes { lower.lexicographicallyPrecedes($0) && $0.lexicographicallyPrecedes(upper) }
                }
                let parts = min(count, keys.count + 1)
                return (1..<max(1, parts)).map { keys[$0 * keys.count / parts] }
            }
            return []
        }
    }

    /// The key that separates a child from the previous one; not defined for the first child.
    private func key(of branch: Page, _ index: Int) -> [UInt8] {
        [UInt8](unsafeUninitializedCapacity: PageLayout.maximumKeyBytes) { buffer, count in
            count = branch.copyKey(index, to: UnsafeMutableRawBufferPointer(buffer)).count
        }
    }
}
