extension TreeReading {
    /// The approximate number of entries from `lower` up to, but not including, `upper`, estimated from the paths to
    /// both ends in each layer, without counting. Entries that newer layers replace or delete count too.
    package func estimatedCount(
        _ id: TreeID, from lower: UnsafeRawBufferPointer?, to upper: UnsafeRawBufferPointer?
    ) throws -> Double {
        try withExtendedLifetime(self) {
            let layers = try readableLayers().stack
            var sum = layers.generation.estimatedCount(layers.roots[id], from: lower, to: upper)
            for layer in layers.below.frozen {
                sum += layer.generation.estimatedCount(layer.roots[id], from: lower, to: upper)
            }
            for run in layers.below.levels.runs { sum += try run.run.estimatedCount(id, from: lower, to: upper) }
            return sum
        }
    }

    /// Keys that divide the entries from `lower` up to, but not including, `upper` into about `count` equal parts, in
    /// order; fewer keys if there are few entries. Taken from the layer that has the most entries there.
    package func dividingKeys(
        _ id: TreeID, from lower: UnsafeRawBufferPointer, to upper: UnsafeRawBufferPointer, count: Int
    ) throws -> [[UInt8]] {
        guard count > 1 else { return [] }
        return try withExtendedLifetime(self) {
            let layers = try readableLayers().stack
            let newest = layers.generation.estimatedCount(layers.roots[id], from: lower, to: upper)
            var most = (count: newest, keys: { layers.generation.dividingKeys(layers.roots[id]) })
            for layer in layers.below.frozen {
                let estimate = layer.generation.estimatedCount(layer.roots[id], from: lower, to: upper)
                if estimate > most.count { most = (estimate, { layer.generation.dividingKeys(layer.roots[id]) }) }
            }
            var keys: [[UInt8]]?
            for run in layers.below.levels.runs {
                let estimate = try run.run.estimatedCount(id, from: lower, to: upper)
                guard estimate > most.count else { continue }
                most.count = estimate
                keys = try run.run.dividingKeys(id, from: lower, to: upper, count: 4 * count)
            }
            let inside = (keys ?? most.keys()).filter { key in
                key.withUnsafeBytes { Bytes.compare(lower, $0) < 0 && Bytes.compare($0, upper) < 0 }
            }
            let parts = min(count, inside.count + 1)
            return (1..<max(1, parts)).map { inside[$0 * inside.count / parts] }
        }
    }
}

extension Run {
    fileprivate func dividingKeys(
        _ id: TreeID, from lower: UnsafeRawBufferPointer, to upper: UnsafeRawBufferPointer, count: Int
    ) throws -> [[UInt8]] {
        try pieces.flatMap { piece -> [[UInt8]] in
            guard let first = piece.descriptor.first else { return [] }
            let start = first.tree == id ? [first.bytes] : []
            return start + (try piece.dividingKeys(id, from: lower, to: upper, count: max(1, count / pieces.count)))
        }
    }
}

extension Generation {
    fileprivate func estimatedCount(
        _ root: TreeRoot, from lower: UnsafeRawBufferPointer?, to upper: UnsafeRawBufferPointer?
    ) -> Double {
        guard root.page != 0 else { return 0 }
        var (left, right) = (page(root.page), page(root.page))
        // The children between the paths on the levels above, as entries of the current level.
        var between = 0.0
        var haveParted = false
        while !left.isLeaf {
            let first = lower.map { left.search(branch: $0) } ?? 0
            let last = upper.map { right.search(branch: $0) } ?? right.count - 1
            if haveParted {
                between = between * average(left, right) + Double(left.count - 1 - first + last)
            } else if first != last {
                between = Double(max(0, last - first - 1))
                haveParted = true
            }
            (left, right) = (page(left.child(first)), page(right.child(last)))
        }
        let first = lower.map { left.search(leaf: $0).index } ?? 0
        let last = upper.map { right.search(leaf: $0).index } ?? right.count
        guard haveParted else { return Double(max(0, last - first)) }
        return between * average(left, right) + Double(left.count - first + last)
    }

    private func average(_ left: Page, _ right: Page) -> Double { Double(left.count + right.count) / 2 }

    /// The keys that separate the pages of the upper levels of a tree, in order.
    fileprivate func dividingKeys(_ root: TreeRoot) -> [[UInt8]] {
        guard root.page != 0, root.level > 0 else { return [] }
        let top = page(root.page)
        let keys = KeyBuffer()
        func separators(_ branch: Page) -> [[UInt8]] {
            (1..<branch.count).map { [UInt8](branch.copyKey($0, to: keys.bytes)) }
        }
        guard root.level > 1 else { return separators(top) }
        return (0..<top.count).flatMap { index -> [[UInt8]] in
            let start = index > 0 ? [[UInt8](top.copyKey(index, to: keys.bytes))] : []
            return start + separators(page(top.child(index)))
        }
    }
}
