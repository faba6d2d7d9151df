import StrataSystem

extension Snapshot {
    /// The maximum number of keys that are looked up together.
    package static let keysTogether = 32

    /// Calls `body` with the value of each key, or nil for a missing key, in order, until it returns false; then
    /// returns false. The bytes are valid only during the call.
    ///
    /// The keys may be anywhere in the tree, and most of a lookup is spent waiting for memory. The next pages are
    /// therefore prefetched while others are processed.
    @discardableResult
    package func getEach(
        _ id: TreeID, _ keys: KeyList, in range: Range<Int>,
        _ body: (_ index: Int, _ value: UnsafeRawBufferPointer?) throws -> Bool
    ) throws -> Bool {
        try core.memory.getEach(roots[id], keys, in: range, body)
    }

    /// The first entry whose key begins with some bytes, as far as a search finds it.
    package enum FirstEntry {
        case none
        case value(UnsafeRawBufferPointer)
        /// The entry, if there is one, needs a scan.
        case elsewhere
    }

    /// Calls `body` with the first entry that begins with each prefix, in order. Like ``getEach(_:_:in:_:)``, it
    /// overlaps the waits for memory.
    package func forEachFirst(
        _ id: TreeID, _ prefixes: KeyList, _ body: (_ index: Int, _ entry: FirstEntry) throws -> Void
    ) throws {
        for start in stride(from: 0, to: prefixes.count, by: Self.keysTogether) {
            let together = start..<min(prefixes.count, start + Self.keysTogether)
            try core.memory.forEachFirst(roots[id], prefixes, in: together, body)
        }
    }
}

extension Fork {
    /// Like ``Snapshot/getEach(_:_:in:_:)``; the fork must not be changed while this runs.
    @discardableResult
    package func getEach(
        _ id: TreeID, _ keys: KeyList, in range: Range<Int>,
        _ body: (_ index: Int, _ value: UnsafeRawBufferPointer?) throws -> Bool
    ) throws -> Bool {
        try requireWhole()
        return try core.memory.getEach(roots[id], keys, in: range, body)
    }
}

extension PageMemory {
    fileprivate func getEach(
        _ root: TreeRoot, _ keys: KeyList, in range: Range<Int>,
        _ body: (Int, UnsafeRawBufferPointer?) throws -> Bool
    ) throws -> Bool {
        for start in stride(from: range.lowerBound, to: range.upperBound, by: Snapshot.keysTogether) {
            let together = start..<min(range.upperBound, start + Snapshot.keysTogether)
            guard try getTogether(root, keys, in: together, body) else { return false }
        }
        return true
    }

    fileprivate func forEachFirst(
        _ root: TreeRoot, _ keys: KeyList, in range: Range<Int>, _ body: (Int, Snapshot.FirstEntry) throws -> Void
    ) throws {
        guard root.page != 0 else {
            for index in range { try body(index, .none) }
            return
        }
        try reading {
            try keys.withBytes { bytes in
                try withUnsafeTemporaryAllocation(of: Lookup.self, capacity: range.count) { lookups in
                    lookups.initialize(repeating: Lookup(leaf: root.page, slot: -1))
                    func key(_ index: Int) -> UnsafeRawBufferPointer {
                        UnsafeRawBufferPointer(rebasing: bytes[keys.range(range.lowerBound + index)])
                    }
                    try findLeaves(root, lookups, key)
                    for index in lookups.indices {
                        let leaf = try page(lookups[index].leaf, level: 0)
                        let slot = leaf.search(leaf: key(index)).index
                        lookups[index].slot = Int32(slot)
                        if slot < leaf.count { Prefetch.ask(leaf.base + leaf.place(slot), byteCount: 64) }
                    }
                    for (index, lookup) in lookups.enumerated() {
                        let leaf = try page(lookup.leaf, level: 0)
                        try body(range.lowerBound + index, firstEntry(of: leaf, at: Int(lookup.slot), key(index)))
                    }
                }
            }
        }
    }

    private func firstEntry(
        of leaf: Page, at slot: Int, _ prefix: UnsafeRawBufferPointer
    ) -> Snapshot.FirstEntry {
        guard slot < leaf.count else { return .elsewhere }
        let rest = prefix.dropping(min(leaf.prefixBytes, prefix.count))
        guard leaf.prefix.starts(with: prefix.prefix(leaf.prefixBytes)), leaf.leafSuffix(slot).starts(with: rest)
        else { return .none }
        let value = leaf.storedValue(slot)
        return value.isOverflow ? .elsewhere : .value(value.bytes)
    }

    /// A leaf and the slot of a key in it; the slot is negative while unknown.
    private struct Lookup {
        var leaf: PageNumber
        var slot: Int32
    }

    private func getTogether(
        _ root: TreeRoot, _ keys: KeyList, in range: Range<Int>,
        _ body: (Int, UnsafeRawBufferPointer?) throws -> Bool
    ) throws -> Bool {
        guard root.page != 0 else {
            for index in range where !(try body(index, nil)) { return false }
            return true
        }
        return try reading {
            return try keys.withBytes { bytes in
                try withUnsafeTemporaryAllocation(of: Lookup.self, capacity: range.count) { lookups in
                    lookups.initialize(repeating: Lookup(leaf: root.page, slot: -1))
                    func key(_ index: Int) -> UnsafeRawBufferPointer {
                        UnsafeRawBufferPointer(rebasing: bytes[keys.range(range.lowerBound + index)])
                    }
                    try findLeaves(root, lookups, key)
                    try findSlots(lookups, key)
                    for (index, lookup) in lookups.enumerated() {
                        let leaf = try page(lookup.leaf, level: 0)
                        let goesOn = try withValue(in: leaf, slot: lookup.slot, key: key(index)) {
                            try body(range.lowerBound + index, $0)
                        }
                        if !goesOn { return false }
                    }
                    return true
                }
            }
        }
    }

    /// Descends level by level for all keys together, so that their memory accesses overlap.
    private func findLeaves(
        _ root: TreeRoot, _ lookups: UnsafeMutableBufferPointer<Lookup>, _ key: (Int) -> UnsafeRawBufferPointer
    ) throws {
        for level in stride(from: root.level, to: 0, by: -1) {
            for index in lookups.indices {
                let branch = try page(lookups[index].leaf, level: level)
                let child = branch.child(branch.search(branch: key(index)))
                lookups[index].leaf = child
                ask(for: child)
            }
        }
    }

    private func findSlots(
        _ lookups: UnsafeMutableBufferPointer<Lookup>, _ key: (Int) -> UnsafeRawBufferPointer
    ) throws {
        for index in lookups.indices {
            let leaf = try page(lookups[index].leaf, level: 0)
            guard let slot = leaf.onlySlot(for: key(index)) else { continue }
            lookups[index].slot = Int32(slot)
            leaf.ask(leaf: slot)
        }
    }

    private func withValue(
        in leaf: Page, slot: Int32, key: UnsafeRawBufferPointer, _ body: (UnsafeRawBufferPointer?) throws -> Bool
    ) throws -> Bool {
        var slot = Int(slot)
        if slot < 0 {
            let (place, isFound) = leaf.search(leaf: key)
            guard isFound else { return try body(nil) }
            slot = place
        } else {
            let suffix = leaf.leafSuffix(slot)
            guard suffix.count == key.count - leaf.prefixBytes,
                Bytes.compare(suffix, key.dropping(leaf.prefixBytes)) == 0
            else { return try body(nil) }
        }
        let value = leaf.storedValue(slot)
        if value.isOverflow { return try withOverflow(OverflowReference(value.bytes)) { try body($0) } }
        return try body(value.bytes)
    }
}
