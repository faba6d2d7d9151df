import StrataSystem

extension PageMemory {
    /// Calls `body` with each entry from `lower` up to, but not including, `upper`, in order, until it returns false.
    /// The bytes are valid only during the call.
    func scan(
        _ root: TreeRoot, from lower: UnsafeRawBufferPointer?, to upper: UnsafeRawBufferPointer?,
        _ body: (_ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer) throws -> Bool
    ) throws {
        try withUnsafeTemporaryAllocation(byteCount: PageLayout.maximumKeyBytes, alignment: 8) { key in
            try scanLeaves(root, from: lower, to: upper) { try scanLeaf($0, in: $1, key: key, body) }
        }
    }

    /// Like ``scan(_:from:to:_:)``, without assembling keys that are not needed.
    func scanValues(
        _ root: TreeRoot, from lower: UnsafeRawBufferPointer?, to upper: UnsafeRawBufferPointer?,
        _ body: (_ value: UnsafeRawBufferPointer, _ entry: ScannedEntry) throws -> Bool
    ) throws {
        try scanLeaves(root, from: lower, to: upper) { leaf, range in
            for index in range {
                let value = leaf.storedValue(index)
                let entry = ScannedEntry(leaf: leaf, index: index)
                let goesOn =
                    value.isOverflow
                    ? try withOverflow(OverflowReference(value.bytes)) { try body($0, entry) }
                    : try body(value.bytes, entry)
                guard goesOn else { return false }
            }
            return true
        }
    }

    /// Calls `body` with each leaf and the range of its scanned entries, until it returns false.
    private func scanLeaves(
        _ root: TreeRoot, from lower: UnsafeRawBufferPointer?, to upper: UnsafeRawBufferPointer?,
        _ body: (Page, Range<Int>) throws -> Bool
    ) throws {
        guard root.page != 0 else { return }
        // The branches on the path, each with its next child.
        var path: [(number: PageNumber, next: Int)] = []
        var number = root.page
        var level = root.level
        var isFirst = true
        var goesOn = true
        while goesOn {
            // Uses a section for each leaf, so that no thread waits for the whole scan.
            goesOn = try reading {
                while level > 0 {
                    let page = try page(number, level: level)
                    let index = isFirst ? lower.map { page.search(branch: $0) } ?? 0 : 0
                    path.append((number, index + 1))
                    number = page.child(index)
                    level -= 1
                }
                try askForNextLeaves(after: path.last)
                let leaf = try page(number, level: 0)
                let first = isFirst ? lower.map { leaf.search(leaf: $0).index } ?? 0 : 0
                let end = upper.map { leaf.search(leaf: $0).index } ?? leaf.count
                if first < end, !(try body(leaf, first..<end)) { return false }
                guard end == leaf.count else { return false }
                isFirst = false
                while let last = path.last {
                    level += 1
                    let branch = try page(last.number, level: level)
                    if last.next < branch.count {
                        path[path.count - 1].next += 1
                        number = branch.child(last.next)
                        level -= 1
                        return true
                    }
                    path.removeLast()
                }
                return false
            }
        }
    }

    /// The distances, in leaves, at which the start of a leaf and all its used bytes are prefetched.
    private static let leavesAhead = (start: 4, whole: 2)

    /// Needed because the processor prefetches within a page, but not from one page to the next.
    private func askForNextLeaves(after last: (number: PageNumber, next: Int)?) throws {
        guard let last else { return }
        let branch = try page(last.number, level: 1)
        // Not validated: a page that the scan may never need must not make it fail.
        func place(ahead count: Int) -> UnsafeRawPointer? {
            let next = last.next + count - 1
            return next < branch.count ? self.place(of: branch.child(next)) : nil
        }
        if let place = place(ahead: Self.leavesAhead.start) { Prefetch.ask(place, byteCount: 1) }
        guard let place = place(ahead: Self.leavesAhead.whole) else { return }
        let leaf = Page(place)
        let heapStart = min(leaf.heapStart, PageLayout.pageBytes) & ~63
        Prefetch.ask(place, byteCount: min(heapStart, PageLayout.headerBytes + leaf.count * PageLayout.leafSlotBytes))
        Prefetch.ask(place + heapStart, byteCount: PageLayout.pageBytes - heapStart)
    }

    /// Scans the entries of a leaf; returns false if `body` has returned false.
    private func scanLeaf(
        _ leaf: Page, in range: Range<Int>, key buffer: UnsafeMutableRawBufferPointer,
        _ body: (_ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer) throws -> Bool
    ) throws -> Bool {
        let prefix = leaf.prefix
        buffer.copyMemory(from: prefix)
        // Not nil: the buffer has room for a key.
        let start = buffer.baseAddress!
        for index in range {
            let suffix = leaf.leafSuffix(index)
            // Not nil either: it points into the page.
            (start + prefix.count).copyMemory(from: suffix.baseAddress!, byteCount: suffix.count)
            let key = UnsafeRawBufferPointer(start: start, count: prefix.count + suffix.count)
            let value = leaf.storedValue(index)
            let goesOn =
                value.isOverflow
                ? try withOverflow(OverflowReference(value.bytes)) { try body(key, $0) } : try body(key, value.bytes)
            guard goesOn else { return false }
        }
        return true
    }
}
