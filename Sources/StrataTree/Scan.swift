import StrataModel
import StrataSystem

extension PageMemory {
    /// Calls `body` with each entry from `lower` up to in front of `upper`, in order, until it returns false. The bytes
    /// are valid only inside it.
    func scan(
        _ root: TreeRoot, from lower: UnsafeRawBufferPointer?, to upper: UnsafeRawBufferPointer?,
        _ body: (_ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer) throws -> Bool
    ) throws {
        guard root.page != 0 else { return }
        let key = UnsafeMutableRawBufferPointer.allocate(byteCount: PageLayout.maximumKeyBytes, alignment: 8)
        defer { key.deallocate() }
        // The branches on the way, with the child that is next.
        var path: [(number: PageNumber, next: Int)] = []
        var number = root.page
        var level = root.level
        var isFirst = true
        while true {
            // A section for each leaf, so that nobody waits for the whole scan.
            let ticket = sections.enter()
            defer { sections.leave(ticket) }
            while level > 0 {
                let page = try page(number, level: level)
                let index = isFirst ? lower.map { page.search(branch: $0) } ?? 0 : 0
                path.append((number, index + 1))
                number = page.child(index)
                level -= 1
            }
            try askForNextLeaf(behind: path.last)
            guard try scanLeaf(try page(number, level: 0), from: isFirst ? lower : nil, to: upper, key, body) else {
                return
            }
            isFirst = false
            while true {
                guard let last = path.last else { return }
                level += 1
                let branch = try page(last.number, level: level)
                if last.next < branch.count {
                    path[path.count - 1].next += 1
                    number = branch.child(last.next)
                    level -= 1
                    break
                }
                path.removeLast()
            }
        }
    }

    /// The processor fetches ahead within a page, not from one to the next.
    private func askForNextLeaf(behind last: (number: PageNumber, next: Int)?) throws {
        guard let last else { return }
        let branch = try page(last.number, level: 1)
        guard last.next < branch.count else { return }
        // Not looked at: a page that the scan may never need must not make it fail.
        guard let next = place(of: branch.child(last.next)) else { return }
        Prefetch.ask(next, byteCount: PageLayout.pageBytes)
    }

    /// False if the scan is over.
    private func scanLeaf(
        _ leaf: Page, from lower: UnsafeRawBufferPointer?, to upper: UnsafeRawBufferPointer?,
        _ buffer: UnsafeMutableRawBufferPointer,
        _ body: (_ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer) throws -> Bool
    ) throws -> Bool {
        let first = lower.map { leaf.search(leaf: $0).index } ?? 0
        let end = upper.map { leaf.search(leaf: $0).index } ?? leaf.count
        guard first < end else { return end == leaf.count }
        let prefix = leaf.prefix
        buffer.copyMemory(from: prefix)
        // Not nil: the buffer has room for a key.
        let start = buffer.baseAddress!
        for index in first..<end {
            let suffix = leaf.leafSuffix(index)
            // Not nil either: it lies in the page.
            (start + prefix.count).copyMemory(from: suffix.baseAddress!, byteCount: suffix.count)
            let key = UnsafeRawBufferPointer(start: start, count: prefix.count + suffix.count)
            let value = leaf.storedValue(index)
            let goesOn =
                value.isOverflow
                ? try withOverflow(OverflowReference(value.bytes)) { try body(key, $0) } : try body(key, value.bytes)
            guard goesOn else { return false }
        }
        return end == leaf.count
    }
}

extension Snapshot {
    /// Calls `body` with each entry from `lower` up to in front of `upper`, in order, until it returns false. The bytes
    /// are valid only inside it. Faster than a cursor.
    public func scan(
        _ id: TreeID, from lower: UnsafeRawBufferPointer? = nil, to upper: UnsafeRawBufferPointer? = nil,
        _ body: (_ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer) throws -> Bool
    ) throws {
        try core.memory.scan(roots[id], from: lower, to: upper, body)
    }
}

extension Fork {
    /// As ``Snapshot/scan(_:from:to:_:)``; the fork must not be changed meanwhile.
    public func scan(
        _ id: TreeID, from lower: UnsafeRawBufferPointer? = nil, to upper: UnsafeRawBufferPointer? = nil,
        _ body: (_ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer) throws -> Bool
    ) throws {
        try requireWhole()
        try core.memory.scan(roots[id], from: lower, to: upper, body)
    }
}
