extension Fork {
    /// Deletes all keys from `lower` up to, but not including, `upper`; nil means no bound on that side.
    ///
    /// Pages that are entirely inside the range are released without being copied.
    package func deleteRange(
        _ id: TreeID, from lower: UnsafeRawBufferPointer?, to upper: UnsafeRawBufferPointer?
    ) throws {
        try requireOpen()
        guard roots[id].page != 0 else { return }
        if let lower, let upper, Bytes.compare(lower, upper) >= 0 { return }
        try changingPages { try cut(id, lower, upper) }
    }

    private func cut(
        _ id: TreeID, _ lower: UnsafeRawBufferPointer?, _ upper: UnsafeRawBufferPointer?
    ) throws {
        var root = roots[id]
        var removed: UInt64 = 0
        if let page = try trim(root.page, level: root.level, from: lower, to: upper, removed: &removed) {
            root.page = page
        } else {
            root.page = 0
            root.level = 0
        }
        try root.discount(removed)
        // The pages on either side of the cut may have become sparse.
        for edge in [lower, upper] {
            guard removed > 0, root.page != 0, let edge else { continue }
            try descend(&root, to: edge)
            try settle(&root, everyLevel: true)
        }
        roots[id] = root
    }

    /// Trims a subtree; returns nil if nothing remains of it.
    private func trim(
        _ number: PageNumber, level: Int, from lower: UnsafeRawBufferPointer?, to upper: UnsafeRawBufferPointer?,
        removed: inout UInt64
    ) throws -> PageNumber? {
        if lower == nil, upper == nil {
            try drop(number, level: level, &removed)
            return nil
        }
        let page = try core.memory.page(number, level: level)
        if page.isLeaf { return try trimLeaf(number, page, from: lower, to: upper, removed: &removed) }
        let first = lower.map { page.search(branch: $0) } ?? 0
        let last = upper.map { page.search(branch: $0) } ?? page.count - 1
        let own = try ownCopy(number, page)
        var left: [Int] = []
        for index in first...last {
            let child = own.page.child(index)
            let kept = try trim(
                child, level: level - 1, from: index == first ? lower : nil, to: index == last ? upper : nil,
                removed: &removed)
            if let kept { own.editor.set(child: kept, at: index) } else { left.append(index) }
        }
        for index in left.reversed() {
            if index == 0, own.page.count > 1 { own.editor.removeFirstChild() } else { own.editor.remove(index) }
        }
        if own.page.count > 0 { return own.number }
        retire(own.number, birth: epoch)
        return nil
    }

    private func trimLeaf(
        _ number: PageNumber, _ page: Page, from lower: UnsafeRawBufferPointer?, to upper: UnsafeRawBufferPointer?,
        removed: inout UInt64
    ) throws -> PageNumber? {
        let first = lower.map { page.search(leaf: $0).index } ?? 0
        let end = upper.map { page.search(leaf: $0).index } ?? page.count
        guard first < end else { return number }
        if first == 0, end == page.count {
            try drop(number, level: 0, &removed)
            return nil
        }
        let own = try ownCopy(number, page)
        for index in (first..<end).reversed() {
            let value = own.page.storedValue(index)
            if value.isOverflow { try retireOverflow(OverflowReference(value.bytes)) }
            own.editor.remove(index)
        }
        removed += UInt64(end - first)
        return own.number
    }

    /// The page itself if it belongs to this fork, otherwise a copy that replaces it.
    func ownCopy(_ number: PageNumber, _ page: Page) throws -> PathStep {
        if page.birth == epoch { return PathStep(number: number, base: core.memory.slot(of: number), index: 0) }
        let own = try newPage()
        PageEditor(own.base).copy(page, number: own.number, birth: epoch)
        retire(number, birth: page.birth)
        return PathStep(number: own.number, base: own.base, index: 0)
    }

    /// Releases a page and all pages below it.
    private func drop(_ number: PageNumber, level: Int, _ removed: inout UInt64) throws {
        let page = try core.memory.page(number, level: level)
        for index in 0..<page.count {
            if !page.isLeaf {
                try drop(page.child(index), level: level - 1, &removed)
                continue
            }
            let value = page.storedValue(index)
            if value.isOverflow { try retireOverflow(OverflowReference(value.bytes)) }
        }
        if page.isLeaf { removed += UInt64(page.count) }
        retire(number, birth: page.birth)
    }
}
